package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// The orders of "top".
const (
	sortWaiting = "waiting" // those for which most clients wait
	sortHeld    = "held"    // those that have been held longest
)

// topFlags is what the command line of "top" says.
type topFlags struct {
	connection
	json  bool
	limit int
	sort  string
}

func (f *topFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("top", flag.ContinueOnError)
	f.register(fs)
	fs.BoolVar(&f.json, "json", false, "")
	fs.IntVar(&f.limit, "limit", 10, "")
	fs.StringVar(&f.sort, "sort", sortWaiting, "")
	return fs
}

// A topListing is the output of "top --json".
type topListing struct {
	Below      string      `json:"below"`
	Sort       string      `json:"sort"`
	InUse      int         `json:"in_use"`    // locks, of which the first ones are listed
	Contended  int         `json:"contended"` // those for which clients wait
	Waiting    int         `json:"waiting"`   // clients, for all locks
	Locks      []lockInUse `json:"locks"`
	Unreadable []string    `json:"unreadable"`
}

// top prints the locks for which most clients wait, or that have been held longest.
func (p *program) top(args []string) error {
	f := &topFlags{}
	fs := f.flagSet()
	path, err := p.parseWithArgument(fs, args)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return err
	}
	return p.withSubtree(fs, &f.connection, path, func(ctx context.Context, t *subtree) error {
		found, err := t.locks(ctx)
		if err != nil {
			return err
		}
		l := newTopListing(f, found)
		if f.json {
			return p.printJSON(l)
		}
		_, err = io.WriteString(p.stdout, l.text())
		return err
	})
}

func (f *topFlags) check() error {
	switch {
	case f.sort != sortWaiting && f.sort != sortHeld:
		return usageErrorf("top: --sort %s: give %s or %s", f.sort, sortWaiting, sortHeld)
	case f.limit < 1:
		return usageErrorf("top: --limit %d: give 1 or more", f.limit)
	}
	return nil
}

func newTopListing(f *topFlags, found *recursiveListing) *topListing {
	l := &topListing{Below: found.Below, Sort: f.sort, InUse: len(found.Locks), Unreadable: found.Unreadable}
	for _, of := range found.Locks {
		l.Waiting += of.Waiting
		if of.Waiting > 0 {
			l.Contended++
		}
	}
	compare := moreWait
	if f.sort == sortHeld {
		compare = heldLonger
	}
	slices.SortStableFunc(found.Locks, func(a, b lockInUse) int { return compare(&a, &b) })
	l.Locks = found.Locks[:min(f.limit, len(found.Locks))]
	return l
}

// moreWait compares by how many wait, and then by how long the first one has waited.
func moreWait(a, b *lockInUse) int {
	return cmp.Or(cmp.Compare(b.Waiting, a.Waiting), cmp.Compare(b.Waited, a.Waited), cmp.Compare(b.Held, a.Held))
}

// heldLonger compares by how long they have been held, and then by how many wait.
func heldLonger(a, b *lockInUse) int {
	return cmp.Or(cmp.Compare(b.Held, a.Held), cmp.Compare(b.Waiting, a.Waiting))
}

// text is a table for a person.
func (l *topListing) text() string {
	var text strings.Builder
	fmt.Fprintf(&text, "locks in use below %s: %d, of which %d are waited for, by %d clients\n", quote.Line(l.Below), l.InUse, l.Contended, l.Waiting)
	if len(l.Locks) > 0 {
		t := table{{"PATH", "KIND", "HOLD", "WAIT", "WAITED", "AGE", "WHO"}}
		for i := range l.Locks {
			of := &l.Locks[i]
			t = append(t, []string{
				quote.Cell(of.Lock), of.kind(), of.holders(), strconv.Itoa(of.Waiting), of.waited(), of.age(), of.who(),
			})
		}
		text.WriteString(t.String())
	}
	text.WriteString(unreadableText(l.Unreadable))
	return text.String()
}

// waited says for how long the first one that waits has waited.
func (l *lockInUse) waited() string {
	if l.Waiting == 0 {
		return quote.Cell("")
	}
	return wholeSeconds(l.Waited)
}
