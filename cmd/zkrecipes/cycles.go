package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A cycleListing is the output of "ls --cycles --json".
type cycleListing struct {
	Below      string   `json:"below"`
	Locks      int      `json:"locks"` // in use
	Cycles     []cycle  `json:"cycles"`
	Unreadable []string `json:"unreadable"`
}

// A cycle is one in JSON.
type cycle struct {
	Certain bool      `json:"certain"`
	Since   time.Time `json:"since"` // by the server's clock
	Age     float64   `json:"age_seconds"`
	Links   []link    `json:"links"`
}

// A link is one that waits for the next one, in JSON.
type link struct {
	Holds    *string    `json:"holds"` // nil if it only waits, ahead of the one before
	Held     *contender `json:"held"`
	WaitsFor string     `json:"waits_for"`
	Waiting  contender  `json:"waiting"`
}

// A contender is a node in JSON.
type contender struct {
	Kind    string      `json:"kind"`
	Token   lease.Token `json:"token"`
	Session string      `json:"session"`
	Who     string      `json:"who"`
	Host    string      `json:"host"`
	PID     int         `json:"pid"`
	Since   time.Time   `json:"since"`
	Age     float64     `json:"age_seconds"`
	Node    string      `json:"node"`
}

// wholeSeconds writes an age in seconds for a person.
func wholeSeconds(age float64) string {
	return time.Duration(age * float64(time.Second)).Round(time.Second).String()
}

// age returns how long ago something was.
func age(since time.Time) time.Duration { return max(time.Since(since), 0) }

func newContender(c inspect.Contender) contender {
	return contender{
		Kind: c.Kind, Token: c.Token, Session: hexSession(c.Session), Who: c.Holder.Who, Host: c.Holder.Host, PID: c.Holder.PID,
		Since: c.Enqueued.UTC(), Age: seconds(age(c.Enqueued)), Node: c.Node,
	}
}

// lsCycles prints which clients wait for each other, below a path or, without one,
// anywhere.
func (p *program) lsCycles(fs *flag.FlagSet, conn *connection, path string, as format) error {
	path = cmp.Or(path, "/")
	if err := framework.ValidatePath(path); err != nil {
		return usageErrorf("ls: %v", err)
	}
	return p.withClient(fs, conn, path, func(ctx context.Context, client *framework.Client, full string) error {
		found, err := inspect.Cycles(ctx, client, full)
		if err != nil {
			return err
		}
		l := newCycleListing(path, full, found)
		if as == asJSON {
			return p.printJSON(l)
		}
		_, err = io.WriteString(p.stdout, l.text())
		return err
	})
}

// newCycleListing describes what was found below a path, of which full is the full
// path.
func newCycleListing(path, full string, found *inspect.CycleSurvey) *cycleListing {
	given := givenPaths(path, full)
	l := &cycleListing{Below: path, Locks: found.Locks, Cycles: []cycle{}, Unreadable: []string{}}
	for _, of := range found.Cycles {
		c := cycle{Certain: of.Certain, Since: of.Since.UTC(), Age: seconds(age(of.Since))}
		for _, each := range of.Links {
			one := link{WaitsFor: given(each.WaitsFor), Waiting: newContender(each.Waiting)}
			if each.Held.State == inspect.Held {
				holds, held := given(each.Holds), newContender(each.Held)
				one.Holds, one.Held = &holds, &held
			}
			c.Links = append(c.Links, one)
		}
		l.Cycles = append(l.Cycles, c)
	}
	for _, path := range found.Unreadable {
		l.Unreadable = append(l.Unreadable, given(path))
	}
	return l
}

// text describes the cycles for a person.
func (l *cycleListing) text() string {
	var text strings.Builder
	for _, c := range l.Cycles {
		c.describe(&text)
	}
	if len(l.Cycles) > 0 {
		text.WriteString("a deadlock ends when one of them releases what it holds: \"zkrecipes revoke PATH\" requests that of those that hold PATH\n")
	} else {
		fmt.Fprintf(&text, "no cycles; locks in use below %s: %d\n", quote.Line(l.Below), l.Locks)
	}
	text.WriteString(unreadableText(l.Unreadable))
	return text.String()
}

// describe writes one cycle.
func (c *cycle) describe(out io.Writer) {
	kind, how := "deadlock", fmt.Sprintf("%d wait for each other", len(c.Links))
	if len(c.Links) == 1 {
		how = "one waits for itself"
	}
	if !c.Certain {
		kind, how = "possible deadlock", how+", if the same process holds the one and waits for the other for the same work"
	}
	fmt.Fprintf(out, "%s since %s (%s): %s\n", kind, c.Since.Format(time.RFC3339), wholeSeconds(c.Age), how)
	for _, each := range c.Links {
		who := each.who()
		if each.Holds == nil {
			fmt.Fprintf(out, "  %s waits for %s as well, ahead of the one before\n", who, quote.Cell(each.WaitsFor))
			continue
		}
		fmt.Fprintf(out, "  %s holds %s and waits for %s\n", who, quote.Cell(*each.Holds), quote.Cell(each.WaitsFor))
	}
}

// who names a client.
func (l *link) who() string {
	holder := lease.Holder{Who: l.Waiting.Who, Host: l.Waiting.Host, PID: l.Waiting.PID}
	return quote.Line(cmp.Or(holder.String(), "session "+l.Waiting.Session))
}
