package main

import (
	"flag"
	"strings"
)

// completion prints the script for a shell, or the paths that such a script offers.
// The scripts are made from the verbs, their flags and their help: there FILE, DIR,
// PATH and VERB say what a value or an argument is, and choices are written as
// "wide|json".
func (p *program) completion(args []string) error {
	if len(args) > 1 && args[0] == "paths" {
		return p.completePath(args[1], args[2:])
	}
	fs := noFlags("completion")()
	if err := p.parse(fs, args); err != nil {
		return err
	}
	var script string
	switch shell := strings.Join(fs.Args(), " "); shell {
	case "bash":
		script = bashCompletion()
	case "zsh":
		script = zshCompletion()
	case "fish":
		script = fishCompletion()
	case "":
		return usageErrorf("completion: no shell: give bash, zsh or fish")
	default:
		return usageErrorf("completion: there is no shell %q: give bash, zsh or fish", shell)
	}
	_, err := p.stdout.WriteString(script)
	return err
}

// A completedFlag is a flag as the scripts offer it.
type completedFlag struct {
	name     string // with its dashes, or its letter with one
	value    string // what the help calls its value, "" if it has none
	text     string // what it is for, "" if no line of the help says so
	repeated bool
}

// completedFlags are those of a verb, with --help, which all have.
func (v verb) completedFlags() (all []completedFlag) {
	v.flags().VisitAll(func(f *flag.Flag) {
		c := completedFlag{name: dashed(f.Name)}
		c.value, c.text = v.flagHelp(f)
		_, c.repeated = f.Value.(*pathList)
		all = append(all, c)
		for _, short := range shortFlags {
			if c.name = "-" + string(short.letter); short.name == f.Name && v.flags().Lookup(c.name[1:]) == nil {
				all = append(all, c)
			}
		}
	})
	return append(all, completedFlag{name: "--help", text: "print the help of " + v.name})
}

// choices are the words for a value or argument of which the help lists all, nil if it
// does not.
func choices(value string) []string {
	switch {
	case value == "VERB":
		return verbNames()
	case strings.Contains(value, "|"):
		return strings.Split(value, "|")
	}
	return nil
}
