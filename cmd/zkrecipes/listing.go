package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A listing is the output of "ls --json".
type listing struct {
	Lock      string       `json:"lock"`
	Exists    bool         `json:"exists"`    // the lock's node; servers remove it when it is not used
	Queue     []queueEntry `json:"queue"`     // the head first
	LeftOut   int          `json:"left_out"`  // of the queue
	Semaphore *permits     `json:"semaphore"` // nil if there is none
	Stripes   *stripes     `json:"stripes"`   // nil if there are none
	Job       *records     `json:"job"`       // nil if there is none
	Delays    []lockDelay  `json:"lock_delays"`
	Others    []string     `json:"others"`

	delays  []inspect.LockDelay
	holders int // that are left out
}

// newListing describes what was found at a path, which is given without the chroot.
func newListing(path string, s *inspect.Survey) *listing {
	l := &listing{
		Lock: path, Exists: s.Exists, Queue: queueEntries(s), Semaphore: permitsOf(s), Stripes: stripesOf(s), Job: recordsOf(s),
		Delays: lockDelaysOf(s), Others: append([]string{}, s.Others...), delays: s.LockDelays,
	}
	for _, q := range s.Queues {
		for state, n := range q.LeftOut {
			l.leaveOut(state, n)
		}
	}
	return l
}

// cut leaves all but the first n contenders out. None of these is missing if the survey
// has the first n holders and the first n others.
func (l *listing) cut(n int) {
	for n < len(l.Queue) {
		last := len(l.Queue) - 1
		l.leaveOut(l.Queue[last].State, 1)
		l.Queue = l.Queue[:last]
	}
}

// leaveOut counts contenders that are left out.
func (l *listing) leaveOut(state inspect.State, n int) {
	l.LeftOut += n
	if state == inspect.Held {
		l.holders += n
	}
}

// A lockState says whether a client that comes now may have to wait.
type lockState string

const (
	stateInUse  lockState = "in use" // at least one client holds it, or waits
	stateClosed lockState = "closed" // no client holds it, but a lock-delay may keep it closed
	stateFree   lockState = "free"
)

// state returns that of all queues together.
func (l *listing) state() lockState {
	switch {
	case len(l.Queue)+l.LeftOut > 0:
		return stateInUse
	case mayBeClosed(l.delays, time.Now()):
		return stateClosed
	}
	return stateFree
}

// text describes it for a person.
func (l *listing) text(as format, on page) string {
	var text strings.Builder
	switch lock := quote.Line(l.Lock); l.state() {
	case stateInUse:
		text.WriteString(l.printed(as, on))
	case stateClosed:
		fmt.Fprintf(&text, "%s %s: no client holds it or waits for it, but holders have ended without a release\n", lock, on.paint(red, "may be closed"))
	case stateFree:
		why := "no client holds it or waits for it"
		if !l.Exists {
			why = "there is no such node (servers remove it some time after its last use)"
		}
		fmt.Fprintf(&text, "%s is free: %s\n", lock, why)
	}
	if l.LeftOut > 0 {
		fmt.Fprintf(&text, "and %d more%s (--limit 0 lists all)\n", l.LeftOut, l.holdersLeftOut())
	}
	l.printRest(&text)
	if l.state() == stateFree && len(l.Others) > 0 {
		fmt.Fprintf(&text, "what is in use below it: zkrecipes ls --recursive %s\n", quote.Line(shellWord(l.Lock)))
	}
	return text.String()
}

// printRest writes what is known besides the queues.
func (l *listing) printRest(out io.Writer) {
	l.printNumbers(out)
	printLockDelays(out, l.delays)
	if n := len(l.Others); n > 0 {
		fmt.Fprintf(out, "%s has children that belong to no lock, semaphore or election (%d): %s\n", quote.Line(l.Lock), n, firstFew(l.Others))
	}
}

func (l *listing) holdersLeftOut() string {
	if l.holders == 0 {
		return ""
	}
	return fmt.Sprintf(", of which %d hold", l.holders)
}

// printNumbers writes those of a semaphore, of stripes and of a job.
func (l *listing) printNumbers(out io.Writer) {
	switch s := l.Semaphore; {
	case s == nil:
	case s.Known:
		fmt.Fprintf(out, "%d of %d permits are free\n", s.Free, s.Size)
	default:
		fmt.Fprintf(out, "how many permits there are is not stored at %s\n", quote.Line(l.Lock))
	}
	switch s := l.Stripes; {
	case s == nil:
	case s.Size > 0:
		fmt.Fprintf(out, "%d of %d stripes are free\n", s.Free, s.Size)
	default:
		fmt.Fprintf(out, "how many stripes there are is not stored at %s\n", quote.Line(l.Lock))
	}
	if l.Job != nil {
		fmt.Fprintf(out, "runs that are recorded as finished: %d%s\n", l.Job.Records, l.Job.sweptText())
	}
}

// sweptText says which records were removed.
func (r *records) sweptText() string {
	if r.Swept == nil {
		return ""
	}
	return "; older records than " + r.Swept.Format(time.RFC3339) + " were removed"
}

// printed is the table, as it fits the page.
func (l *listing) printed(as format, on page) string {
	t := l.table(as)
	if as == asTable && on.columns > 0 {
		t.fit(on.columns, "WHO", "HOST", "RUN")
	}
	return t.layOut(func(head, cell string) string {
		if head != "STATE" {
			return cell
		}
		return on.paint(colourOf(inspect.State(cell)), cell)
	})
}

// table has one line for each contender. Text of other clients is quoted as a cell, and
// so are our fields that may be empty. Stripes and runs have a column of their own.
func (l *listing) table(as format) table {
	heads := []string{"POS", "STATE", "KIND", "WHO", "HOST", "PID", "AGE", "TOKEN"}
	if as == asWide {
		heads = []string{"POS", "KIND", "STATE", "TOKEN", "SESSION", "WHO", "HOST", "PID", "SINCE", "AGE"}
	}
	if l.Stripes != nil {
		heads = append([]string{"STRIPE"}, heads...)
	}
	if l.Job != nil {
		heads = append([]string{"RUN"}, heads...)
	}
	t := table{heads}
	for i := range l.Queue {
		line := make([]string, len(heads))
		for k, head := range heads {
			line[k] = l.Queue[i].cell(head, as)
		}
		t = append(t, line)
	}
	return t
}

// cell returns the text of one column.
func (e *queueEntry) cell(head string, as format) string {
	switch head {
	case "STRIPE":
		if e.Stripe != nil {
			return strconv.Itoa(*e.Stripe)
		}
	case "RUN":
		if e.Run != nil {
			return quote.Cell(*e.Run)
		}
	case "POS":
		return strconv.Itoa(e.Position)
	case "KIND":
		return e.Kind
	case "STATE":
		return string(e.State)
	case "TOKEN":
		if e.Token != 0 {
			return e.Token.String()
		}
	case "SESSION":
		return e.Session
	case "WHO":
		return quote.Cell(e.Who)
	case "HOST":
		return quote.Cell(e.Host)
	case "PID":
		if e.PID != 0 {
			return strconv.Itoa(e.PID)
		}
	case "SINCE":
		return e.Since.Format(time.RFC3339)
	case "AGE":
		if as == asWide {
			return wholeSeconds(e.Age)
		}
		return shortAge(e.Age)
	}
	return quote.Cell("")
}

// shortAge writes an age with its two largest units, such as 45s, 2h13m or 3d4h.
func shortAge(age float64) string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	switch s := int64(age); {
	case s < minute:
		return fmt.Sprintf("%ds", s)
	case s < hour:
		return fmt.Sprintf("%dm%ds", s/minute, s%minute)
	case s < day:
		return fmt.Sprintf("%dh%dm", s/hour, s%hour/minute)
	default:
		return fmt.Sprintf("%dd%dh", s/day, s%day/hour)
	}
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
