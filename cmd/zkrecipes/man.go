package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manFlags is what the command line of "man" says.
type manFlags struct{ dir option[string] }

func (f *manFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("man", flag.ContinueOnError)
	fs.Func("dir", "", f.dir.set(parseText))
	return fs
}

// man prints a manual page, or writes all of them.
func (p *program) man(args []string) error {
	f := &manFlags{}
	fs := f.flagSet()
	if err := p.parse(fs, args); err != nil {
		return err
	}
	if f.dir.given {
		if fs.NArg() > 0 {
			return usageErrorf("man: --dir writes all pages: what is %q?", fs.Arg(0))
		}
		return writeManPages(f.dir.value)
	}
	topic := "help"
	if fs.NArg() > 0 {
		topic = strings.Join(fs.Args(), " ")
	}
	v, ok := findVerb(topic)
	if !ok {
		return unknownVerb("there is no manual page on %q", topic)
	}
	_, err := p.stdout.WriteString(v.manPage(thisBuild()))
	return err
}

// writeManPages writes the page of each verb into a folder.
func writeManPages(dir string) error {
	if dir == "" { // perhaps an unset "$DIR"
		return usageErrorf("man: --dir is empty: give the name of a folder")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("man: %w", err)
	}
	for _, v := range verbs() {
		if err := os.WriteFile(filepath.Join(dir, v.pageName()+".1"), []byte(v.manPage(thisBuild())), 0o644); err != nil {
			return fmt.Errorf("man: %w", err)
		}
	}
	return nil
}

// pageName is the name of a verb's page. That of "help" is the overview.
func (v verb) pageName() string {
	if v.name == "help" {
		return "zkrecipes"
	}
	return "zkrecipes-" + v.name
}

// manPage is the help of a verb as a manual page, in the macros of man(7). They are
// those that groff and mandoc both have.
func (v verb) manPage(b build) string {
	date, _, _ := strings.Cut(b.CommitTime, "T")
	summary := v.summary()
	_, body, _ := strings.Cut(v.help, "\n\n")
	if v.name == "help" {
		first, _, _ := strings.Cut(body, ".\n")
		summary = strings.TrimPrefix(first, "zkrecipes ")
	}
	r := &roff{}
	// No word is broken at the end of a line, and no line is stretched: many words are
	// commands. What follows .EE is broken by the register HY of groff.
	r.macro(`.TH "%s" 1 "%s" "%s" "User Commands"`, strings.ToUpper(v.pageName()), date, strings.TrimSpace("zkrecipes "+b.Version))
	r.macro(".nr HY 0\n.nh\n.ad l\n.SH NAME")
	r.text(v.pageName() + " - " + summary)
	r.macro(".SH SYNOPSIS")
	for _, form := range usage(v.help) {
		r.macro(".HP 4")
		r.text(form)
	}
	r.macro(".SH DESCRIPTION")
	r.body(strings.Split(strings.TrimSpace(body), "\n"))
	r.macro(".SH SEE ALSO")
	var others []string
	for _, other := range verbs() {
		if other.name != v.name {
			others = append(others, other.pageName()+"(1)")
		}
	}
	r.text(strings.Join(others, ",\n"))
	return r.out.String()
}
