package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A recursiveListing is the output of "ls --recursive --json".
type recursiveListing struct {
	Below      string      `json:"below"`
	Locks      []lockInUse `json:"locks"` // by path
	Unreadable []string    `json:"unreadable"`
}

// A lockInUse is one in JSON, and one line of "ls --recursive" and of "top".
type lockInUse struct {
	Lock    string         `json:"lock"`
	Recipe  inspect.Recipe `json:"recipe"`
	Kind    string         `json:"kind"` // of the head
	Queues  int            `json:"queues"`
	Size    int            `json:"size"` // 0 if it is not stored
	Holding int            `json:"holding"`
	Waiting int            `json:"waiting"`
	Unknown int            `json:"unknown"` // of so many it is not known whether they hold
	Holder  *contender     `json:"holder"`  // nil if nobody holds, or that is not known
	Granted *time.Time     `json:"granted"` // to the holder; nil if it is not known
	Held    float64        `json:"held_seconds"`
	Waited  float64        `json:"waited_seconds"` // by the first one that waits
}

func newLockInUse(l *inspect.LockInUse, given func(path string) string) lockInUse {
	of := lockInUse{
		Lock: given(l.Path), Recipe: l.Recipe, Kind: l.Head.Kind, Queues: l.Queues, Size: l.Size,
		Holding: l.Holding, Waiting: l.Waiting, Unknown: l.Unknown,
	}
	if since := l.HeldSince(); !since.IsZero() {
		holder := newContender(l.Head)
		of.Holder, of.Held = &holder, seconds(age(since))
	}
	if granted := l.Granted.UTC(); !granted.IsZero() {
		of.Granted = &granted
	}
	if !l.WaitingSince.IsZero() {
		of.Waited = seconds(age(l.WaitingSince))
	}
	return of
}

// lsRecursive prints what is in use below a path or, without one, anywhere.
func (p *program) lsRecursive(fs *flag.FlagSet, conn *connection, path string, as format) error {
	return p.withSubtree(fs, conn, path, func(ctx context.Context, t *subtree) error {
		found, err := t.locks(ctx)
		if err != nil {
			return err
		}
		if as == asJSON {
			return p.printJSON(found)
		}
		_, err = io.WriteString(p.stdout, found.text(as, p.pageOf()))
		return err
	})
}

// A subtree is what is below a path.
type subtree struct {
	client *framework.Client
	path   string // as given
	full   string // with the chroot
}

// withSubtree calls do with what is below a path or, without one, with all that there
// is.
func (p *program) withSubtree(fs *flag.FlagSet, conn *connection, path string, do func(ctx context.Context, t *subtree) error) error {
	path = cmp.Or(path, "/")
	if err := framework.ValidatePath(path); err != nil {
		return usageErrorf("%s: %v", fs.Name(), err)
	}
	return p.withClient(fs, conn, path, func(ctx context.Context, client *framework.Client, full string) error {
		return do(ctx, &subtree{client, path, full})
	})
}

// locks finds all locks that are in use.
func (t *subtree) locks(ctx context.Context) (*recursiveListing, error) {
	found, err := inspect.Locks(ctx, t.client, t.full)
	if err != nil {
		return nil, err
	}
	given := givenPaths(t.path, t.full)
	l := &recursiveListing{Below: t.path, Locks: []lockInUse{}, Unreadable: t.given(found.Unreadable)}
	for i := range found.Locks {
		l.Locks = append(l.Locks, newLockInUse(&found.Locks[i], given))
	}
	return l, nil
}

// given leaves the chroot out of some paths.
func (t *subtree) given(full []string) []string {
	all, given := []string{}, givenPaths(t.path, t.full)
	for _, path := range full {
		all = append(all, given(path))
	}
	return all
}

// givenPaths returns the function that leaves the chroot out of a full path. full is
// that of a path of the command line.
func givenPaths(path, full string) func(string) string {
	chroot := strings.TrimSuffix(strings.TrimSuffix(full, strings.TrimSuffix(path, "/")), "/")
	return func(path string) string { return cmp.Or(strings.TrimPrefix(path, chroot), "/") }
}

// text is a table for a person.
func (l *recursiveListing) text(as format, on page) string {
	text := "no locks in use below " + quote.Line(l.Below) + "\n"
	if len(l.Locks) > 0 {
		text = lockTable(l.Locks, as, on, "PATH", "KIND", "HOLD", "WAIT", "AGE", "WHO")
	}
	return text + unreadableText(l.Unreadable)
}

// lockTable has one line for each lock, with these columns, and if it is wide with more
// about the holder.
func lockTable(locks []lockInUse, as format, on page, heads ...string) string {
	if as == asWide {
		heads = append(heads, "HOST", "PID", "TOKEN", "SESSION")
	}
	t := table{heads}
	for i := range locks {
		line := make([]string, len(heads))
		for k, head := range heads {
			line[k] = locks[i].cell(head)
		}
		t = append(t, line)
	}
	if as == asTable && on.columns > 0 {
		t.fit(on.columns, "PATH", "WHO")
	}
	return t.String()
}

// cell returns the text of one column.
func (l *lockInUse) cell(head string) string {
	switch head {
	case "PATH":
		return quote.Cell(l.Lock)
	case "KIND":
		return l.kind()
	case "HOLD":
		return l.holders()
	case "WAIT":
		return strconv.Itoa(l.Waiting)
	case "WAITED":
		return l.waited()
	case "AGE":
		return l.age()
	case "WHO":
		return l.who()
	}
	if l.Holder == nil {
		return quote.Cell("")
	}
	holder := queueEntry{Host: l.Holder.Host, PID: l.Holder.PID, Token: l.Holder.Token, Session: l.Holder.Session}
	return holder.cell(head, asWide)
}

// kind says what it is: by what its clients contend for, or by what the path is for.
func (l *lockInUse) kind() string {
	switch l.Recipe {
	case inspect.Stripe:
		return "stripes"
	case inspect.Run:
		return "job"
	}
	return l.Kind
}

// holders says how many hold, if that is known.
func (l *lockInUse) holders() string {
	if l.Unknown > 0 {
		return "?"
	}
	return strconv.Itoa(l.Holding)
}

// age says for how long the holder has held, at most.
func (l *lockInUse) age() string {
	if l.Holder == nil {
		return quote.Cell("")
	}
	return wholeSeconds(l.Held)
}

// who names the holder by its label, its host or its session.
func (l *lockInUse) who() string {
	c := l.Holder
	if c == nil {
		return quote.Cell("")
	}
	return quote.Cell(cmp.Or(c.Who, c.Host, c.Session))
}

// unreadableText names what may not be read, "" if that is nothing.
func unreadableText(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf("not permitted to read, and left out (%d): %s\n", len(paths), firstFew(paths))
}
