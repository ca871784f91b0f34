package main

import (
	"flag"
	"slices"
	"strings"
)

// A verb is one of the things that zkrecipes does.
type verb struct {
	name  string
	help  string // of "zkrecipes help NAME" and "zkrecipes NAME --help"
	flags func() *flag.FlagSet
	run   func(p *program, args []string) (exitCode int)
}

// verbs are all of them, in the order in which messages list them. It is a function
// because help is one of the verbs and lists them.
func verbs() []verb {
	return []verb{
		{"run", helpRun, new(runFlags).flagSet, (*program).run},
		{"elect", helpElect, new(electFlags).flagSet, (*program).elect},
		{"hold", helpHold, new(holdVerbFlags).flagSet, (*program).hold},
		{"ls", helpLs, new(lsFlags).flagSet, failing((*program).ls)},
		{"show", helpShow, new(showFlags).flagSet, failing((*program).show)},
		{"top", helpTop, new(topFlags).flagSet, failing((*program).top)},
		{"litter", helpLitter, new(litterFlags).flagSet, (*program).litter},
		{"exporter", helpExporter, new(exporterFlags).flagSet, failing((*program).exporter)},
		{"revoke", helpRevoke, new(revokeFlags).flagSet, failing((*program).revoke)},
		{"resize", helpResize, new(resizeFlags).flagSet, failing((*program).resize)},
		{"testserver", helpTestserver, new(testserverFlags).flagSet, failing((*program).testserver)},
		{"completion", helpCompletion, noFlags("completion"), failing((*program).completion)},
		{"man", helpMan, new(manFlags).flagSet, failing((*program).man)},
		{"version", helpVersion, new(versionFlags).flagSet, failing((*program).version)},
		{"help", helpOverview, noFlags("help"), failing((*program).help)},
	}
}

// failing makes a verb of a function that prints what it does, but not why it fails.
func failing(do func(p *program, args []string) error) func(p *program, args []string) int {
	return func(p *program, args []string) int { return p.failed(do(p, args)) }
}

func noFlags(name string) func() *flag.FlagSet {
	return func() *flag.FlagSet { return flag.NewFlagSet(name, flag.ContinueOnError) }
}

// findVerb returns the verb that is called so.
func findVerb(name string) (verb, bool) {
	switch name {
	case "--version", "-version", "-V":
		name = "version"
	case "--help", "-help", "-h":
		name = "help"
	}
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{}, false
	}
	return all[i], true
}

// unknownVerb is the mistake that there is no such verb.
func unknownVerb(format, typed string) error {
	if nearest := similar(typed, verbNames()); nearest != "" {
		return usageErrorf(format+"; did you mean %q?", typed, nearest)
	}
	return usageErrorf(format+"; there are %s", typed, enumerate(verbNames(), "and"))
}

// verbNames are the names of all verbs.
func verbNames() (names []string) {
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return names
}

// similar returns the name that may be what is meant by a mistyped one, "" if there is
// none: the nearest, by the letters to add, to leave out and to change. At most half of
// the letters may be wrong, and two.
func similar(typed string, names []string) (nearest string) {
	least := min(2, len(typed)/2) + 1
	for _, name := range names {
		if d := editDistance(typed, name); d < least {
			nearest, least = name, d
		}
	}
	return nearest
}

// editDistance is the Levenshtein distance of two words, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1) // distances of the beginning of a so far to those of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal, row[j+1] = row[j+1], min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// help prints the overview or the page about one verb.
func (p *program) help(args []string) error {
	topic := "help"
	if len(args) > 0 {
		topic = args[0]
	}
	v, ok := findVerb(topic)
	if !ok || len(args) > 1 {
		return unknownVerb("there is no help on %q", strings.Join(args, " "))
	}
	_, err := p.stdout.WriteString(v.help)
	return err
}
