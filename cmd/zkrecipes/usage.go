package main

import (
	"cmp"
	"flag"
	"regexp"
	"strings"
)

// What completions and manual pages say about a verb and its flags is taken from the
// texts of its help, so that there is one source of it.

// summary is what a verb does, from its line in the overview.
func (v verb) summary() string {
	for line := range strings.Lines(helpOverview) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && name == v.name {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// usage are the forms of the command line: the first paragraph of the help, in which
// each line that begins with the program's name begins a form.
func usage(help string) (forms []string) {
	paragraph, _, _ := strings.Cut(strings.TrimPrefix(help, "usage: "), "\n\n")
	for line := range strings.Lines(paragraph) {
		line = strings.TrimSpace(line)
		if len(forms) == 0 || strings.HasPrefix(line, "zkrecipes ") {
			forms = append(forms, line)
		} else {
			forms[len(forms)-1] += " " + line
		}
	}
	return forms
}

// brackets group the words of a usage.
var brackets = strings.NewReplacer("[", " ", "]", " ", "(", " ", ")", " ", "...", " ")

// argument is what the help calls the word that the verb itself takes, not one of its
// flags: "PATH", "VERB", or choices as "wide|json"; "" if it takes none.
func (v verb) argument() string {
	flags := v.flags()
	for _, form := range usage(v.help) {
		words := strings.Fields(brackets.Replace(form))
		if len(words) < 2 || words[1] != v.name {
			continue // a form of all verbs
		}
		for i := 2; i < len(words) && words[i] != "--"; i++ {
			switch f := flags.Lookup(strings.TrimLeft(words[i], "-")); {
			case words[i] == "|" || words[i] == "flags":
			case words[i][0] != '-':
				return words[i]
			case f != nil && !isSwitch(f) && i+1 < len(words) && words[i+1][0] != '-':
				i++ // its value
			}
		}
	}
	return ""
}

// runsCommand reports whether a command follows the flags.
func (v verb) runsCommand() bool { return strings.Contains(usage(v.help)[0], " -- COMMAND") }

// isSwitch reports whether a flag stands without a value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// flagHelp returns what the help calls the value of a flag, as argument does, and what
// the flag is for, in one line. It is "" if no line of the help begins with the flag,
// which then is found in the usage.
func (v verb) flagHelp(f *flag.Flag) (value, text string) {
	help := v.help + helpConnection // what all verbs share stands in the help of one
	const valueName = `(?:[ =]([A-Z][A-Z:-]*|[a-z]+(?:\|[a-z]+)+))`
	names := `(?:-\S, )?` + regexp.QuoteMeta(dashed(f.Name)) + `(?:, --?[a-z-]+)?`
	line := regexp.MustCompile(`(?m)^ {0,2}` + names + `(?:` + valueName + `\S*)?(?: +|\n {6,})(.+(?:\n {6,}.+)*)`).FindStringSubmatch(help)
	if line != nil {
		value, text = line[1], firstClause(strings.Join(strings.Fields(line[2]), " "))
	}
	if isSwitch(f) {
		return "", text
	}
	if anywhere := regexp.MustCompile(`[\s\[(|]` + names + valueName).FindStringSubmatch(help); value == "" && anywhere != nil {
		value = anywhere[1]
	}
	return cmp.Or(value, "VALUE"), text
}

// dashed is a flag as the help writes it.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// firstClause returns the beginning of a text.
func firstClause(text string) string {
	const enough = 72
	for _, end := range []string{". ", "; ", " (", ": ", ", "} {
		if i := strings.Index(text, end); i > 0 && (len(text) > enough || end != ": " && end != ", ") {
			text = text[:i]
		}
	}
	return strings.TrimSuffix(text, ".")
}
