package main

import (
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

// A listing is the output of "ls --json".
type listing struct {
	Lock      string       `json:"lock"`
	Exists    bool         `json:"exists"`    // the lock's node; servers remove it when it is not used
	Queue     []queueEntry `json:"queue"`     // the head first
	Semaphore *permits     `json:"semaphore"` // nil if there is none
	Stripes   *stripes     `json:"stripes"`   // nil if there are none
	Job       *records     `json:"job"`       // nil if there is none
	Delays    []lockDelay  `json:"lock_delays"`
	Others    []string     `json:"others"`

	delays []inspect.LockDelay
}

// lsFlags is what the command line of "ls" says.
type lsFlags struct {
	connection
	json, cycles bool
}

func (f *lsFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("ls", flag.ContinueOnError)
	f.register(fs)
	fs.BoolVar(&f.json, "json", false, "")
	fs.BoolVar(&f.cycles, "cycles", false, "")
	return fs
}

// ls prints the holders and the waiting clients below a path.
func (p *program) ls(args []string) error {
	f := &lsFlags{}
	fs := f.flagSet()
	path, err := p.parseWithArgument(fs, args)
	if err == nil && f.cycles {
		return p.lsCycles(fs, &f.connection, path, f.json)
	}
	if err == nil {
		err = checkLockPath("ls", path)
	}
	if err != nil {
		return err
	}
	return p.withClient(fs, &f.connection, path, func(ctx context.Context, client *framework.Client, full string) error {
		s, err := inspect.Path(ctx, client, full)
		if err != nil {
			return err
		}
		l := &listing{
			Lock: path, Exists: s.Exists, Queue: queueEntries(s), Semaphore: permitsOf(s), Stripes: stripesOf(s), Job: recordsOf(s),
			Delays: lockDelaysOf(s), Others: append([]string{}, s.Others...), delays: s.LockDelays,
		}
		if f.json {
			return p.printJSON(l)
		}
		return l.print(p.stdout)
	})
}

// print writes the listing as a table.
func (l *listing) print(out io.Writer) error {
	var text strings.Builder
	switch {
	case !l.Exists && len(l.Queue) == 0:
		fmt.Fprintf(&text, "%s is free: there is no such node (servers remove it some time after its last use)\n", quote.Line(l.Lock))
	case len(l.Queue) == 0 && hasEnded(l.delays):
		fmt.Fprintf(&text, "%s may be closed: no client holds it or waits for it, but holders have ended without a release\n", quote.Line(l.Lock))
	case len(l.Queue) == 0:
		fmt.Fprintf(&text, "%s is free: no client holds it or waits for it\n", quote.Line(l.Lock))
	default:
		text.WriteString(l.table().String())
	}
	switch s := l.Semaphore; {
	case s == nil:
	case s.Known:
		fmt.Fprintf(&text, "%d of %d permits are free\n", s.Free, s.Size)
	default:
		fmt.Fprintf(&text, "how many permits there are is not stored at %s\n", quote.Line(l.Lock))
	}
	switch s := l.Stripes; {
	case s == nil:
	case s.Size > 0:
		fmt.Fprintf(&text, "%d of %d stripes are free\n", s.Free, s.Size)
	default:
		fmt.Fprintf(&text, "how many stripes there are is not stored at %s\n", quote.Line(l.Lock))
	}
	if l.Job != nil {
		fmt.Fprintf(&text, "runs that are recorded as finished: %d%s\n", l.Job.Records, l.Job.sweptText())
	}
	printLockDelays(&text, l.delays)
	if n := len(l.Others); n > 0 {
		fmt.Fprintf(&text, "%s has children that belong to no lock, semaphore or election (%d): %s\n", quote.Line(l.Lock), n, firstFew(l.Others))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// table has one line for each contender. Text of other clients is quoted as a cell, and
// so are our fields that may be empty. Stripes and runs have a column of their own.
func (l *listing) table() table {
	t := table{{"POS", "KIND", "STATE", "TOKEN", "SESSION", "WHO", "HOST", "PID", "SINCE", "AGE"}}
	for _, c := range l.Queue {
		token, pid := "", ""
		if c.Token != 0 {
			token = c.Token.String()
		}
		if c.PID != 0 {
			pid = strconv.Itoa(c.PID)
		}
		t = append(t, []string{
			strconv.Itoa(c.Position), c.Kind, string(c.State), quote.Cell(token), c.Session,
			quote.Cell(c.Who), quote.Cell(c.Host), quote.Cell(pid), c.Since.Format(time.RFC3339), wholeSeconds(c.Age),
		})
	}
	if l.Stripes != nil {
		t.prepend("STRIPE", func(i int) string {
			if number := l.Queue[i].Stripe; number != nil {
				return strconv.Itoa(*number)
			}
			return ""
		})
	}
	if l.Job != nil {
		t.prepend("RUN", func(i int) string {
			if run := l.Queue[i].Run; run != nil {
				return *run
			}
			return ""
		})
	}
	return t
}

// prepend adds a column in front of the others. Its texts are quoted.
func (t table) prepend(head string, text func(line int) string) {
	t[0] = append([]string{head}, t[0]...)
	for i := range t[1:] {
		t[i+1] = append([]string{quote.Cell(text(i))}, t[i+1]...)
	}
}

// sweptText says which records were removed.
func (r *records) sweptText() string {
	if r.Swept == nil {
		return ""
	}
	return "; older records than " + r.Swept.Format(time.RFC3339) + " were removed"
}

// firstFew joins the first names.
func firstFew(names []string) string {
	const few = 5
	more := ""
	if len(names) > few {
		more = fmt.Sprintf(" and %d more", len(names)-few)
		names = names[:few]
	}
	cells := make([]string, len(names))
	for i, name := range names {
		cells[i] = quote.Cell(name)
	}
	return strings.Join(cells, ", ") + more
}
