package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// exitLitter means that "litter" has found some.
const exitLitter = 1

// litterFlags is what the command line of "litter" says.
type litterFlags struct {
	connection
	output
}

func (f *litterFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("litter", flag.ContinueOnError)
	f.connection.register(fs)
	f.output.register(fs)
	return fs
}

// A litterListing is the output of "litter --json".
type litterListing struct {
	Below      string   `json:"below"`
	Nodes      int      `json:"nodes"` // that were looked at
	Litter     []litter `json:"litter"`
	Unreadable []string `json:"unreadable"`
}

// A litter is something that is left behind.
type litter struct {
	Path    string             `json:"path"`
	Kind    inspect.LitterKind `json:"kind"`
	Certain bool               `json:"certain"` // false if the servers may remove it
	Since   *time.Time         `json:"since"`   // nil if it is not known
	Age     float64            `json:"age_seconds"`
	Used    int64              `json:"used"`
	Max     int64              `json:"max"`
}

// litter prints what is left behind below a path.
func (p *program) litter(args []string) (exitCode int) {
	f := &litterFlags{}
	fs := f.flagSet()
	path, err := p.parseWithArgument(fs, args)
	if err != nil {
		return p.failed(err)
	}
	as, err := f.format("litter")
	if err != nil {
		return p.failed(err)
	}
	err = p.withSubtree(fs, &f.connection, path, func(ctx context.Context, t *subtree) error {
		l, err := t.litter(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(l.Litter, func(of litter) bool { return of.Certain }) {
			exitCode = exitLitter
		}
		if as == asJSON {
			return p.printJSON(l)
		}
		_, err = io.WriteString(p.stdout, l.text(as))
		return err
	})
	if err != nil {
		return p.failed(err)
	}
	return exitCode
}

// litter finds what is left behind.
func (t *subtree) litter(ctx context.Context) (*litterListing, error) {
	found, err := inspect.FindLitter(ctx, t.client, t.full)
	if err != nil {
		return nil, err
	}
	l := &litterListing{Below: t.path, Nodes: found.Nodes, Litter: []litter{}, Unreadable: t.given(found.Unreadable)}
	given := givenPaths(t.path, t.full)
	for _, of := range found.Litter {
		one := litter{Path: given(of.Path), Kind: of.Kind, Certain: of.Certain, Used: of.Used, Max: of.Max}
		if since := of.Since.UTC(); !since.IsZero() {
			one.Since, one.Age = &since, seconds(age(since))
		}
		l.Litter = append(l.Litter, one)
	}
	return l, nil
}

// text is a table for a person, and what to do about each kind.
func (l *litterListing) text(as format) string {
	var text strings.Builder
	if len(l.Litter) == 0 {
		fmt.Fprintf(&text, "nothing is left behind below %s; nodes that were looked at: %d\n", quote.Line(l.Below), l.Nodes)
	} else {
		t := table{{"KIND", "AGE", "USED", "PATH"}}
		if as == asWide {
			t = table{{"KIND", "SINCE", "AGE", "USED", "PATH"}}
		}
		for i := range l.Litter {
			t = append(t, l.Litter[i].line(as))
		}
		text.WriteString(t.String())
	}
	for _, a := range advice {
		if slices.ContainsFunc(l.Litter, func(of litter) bool { return of.Kind == a.kind }) {
			fmt.Fprintf(&text, "%s: %s\n", a.kind, a.text)
		}
	}
	if slices.ContainsFunc(l.Litter, func(of litter) bool { return !of.Certain }) {
		text.WriteString("?: the servers may still remove it; what is here after two minutes stays\n")
	}
	text.WriteString(unreadableText(l.Unreadable))
	return text.String()
}

// line is that of the table.
func (of *litter) line(as format) []string {
	kind, since, age, used := string(of.Kind), "", "", ""
	if !of.Certain {
		kind += "?"
	}
	if of.Since != nil {
		since, age = of.Since.Format(time.RFC3339), wholeSeconds(of.Age)
	}
	switch {
	case of.Max > 0:
		if used = fmt.Sprintf("%d%%", of.Used*100/of.Max); as == asWide {
			used = fmt.Sprintf("%d/%d", of.Used, of.Max)
		}
	case of.Used > 0:
		used = fmt.Sprint(of.Used)
	}
	line := []string{kind, quote.Cell(age), quote.Cell(used), quote.Cell(of.Path)}
	if as == asWide {
		line = slices.Insert(line, 1, quote.Cell(since))
	}
	return line
}

// advice is what to do about each kind.
var advice = []struct {
	kind inspect.LitterKind
	text string
}{
	{inspect.LitterNotEphemeral, "blocks its lock for ever: delete it, if no program needs it"},
	{inspect.LitterNumbers, "delete PATH while no client uses it: at 2147483647 locks fail"},
	{inspect.LitterEnded, "the next client waits for the lock-delay, and removes the records"},
	{inspect.LitterRecords, "the job fails at 100000: choose a shorter retention, or more paths"},
	{inspect.LitterBadName, "no recipe counts it: delete it, if no program needs it"},
	{inspect.LitterEmpty, "nobody uses it; \"zkCli.sh delete PATH\" fails if it is used again"},
	{inspect.LitterNeverUsed, "nobody has used it: delete it, if no program needs it"},
}
