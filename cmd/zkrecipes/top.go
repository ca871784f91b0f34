package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
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
	output
	limit option[int]
	sort  string
}

func (f *topFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("top", flag.ContinueOnError)
	f.connection.register(fs)
	f.output.register(fs)
	f.limit.value = 10
	fs.Func("limit", "", f.limit.set(parseNumber))
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
	if err != nil {
		return err
	}
	as, err := f.check()
	if err != nil {
		return err
	}
	return p.withSubtree(fs, &f.connection, path, func(ctx context.Context, t *subtree) error {
		found, err := t.locks(ctx)
		if err != nil {
			return err
		}
		l := newTopListing(f, found)
		if as == asJSON {
			return p.printJSON(l)
		}
		_, err = io.WriteString(p.stdout, l.text(as, p.pageOf()))
		return err
	})
}

// check returns how to print, or an error for flags that make no sense.
func (f *topFlags) check() (format, error) {
	switch {
	case f.sort != sortWaiting && f.sort != sortHeld:
		return "", usageErrorf("top: --sort %s: give %s or %s", f.sort, sortWaiting, sortHeld)
	case f.limit.value < 0:
		return "", usageErrorf("top: --limit %d: %v", f.limit.value, errNegative)
	}
	return f.format("top")
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
	if l.Locks = found.Locks; f.limit.value > 0 {
		l.Locks = l.Locks[:min(f.limit.value, len(l.Locks))]
	}
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
func (l *topListing) text(as format, on page) string {
	var text strings.Builder
	fmt.Fprintf(&text, "locks in use below %s: %d, contended: %d, clients that wait: %d\n", quote.Line(l.Below), l.InUse, l.Contended, l.Waiting)
	if len(l.Locks) > 0 {
		text.WriteString(lockTable(l.Locks, as, on, "PATH", "KIND", "HOLD", "WAIT", "WAITED", "AGE", "WHO"))
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
