package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// text describes it for a person.
func (s *showing) text(as format, on page) string {
	var text strings.Builder
	if s.State != stateInUse {
		return s.listing.text(as, on)
	}
	fmt.Fprintf(&text, "%s: %s, %d waiting\n", quote.Line(s.Lock), on.paint(s.colour(), s.held()), len(s.Waiting)+s.WaitingLeftOut)
	for i := range s.Holders {
		s.Holders[i].describeHolder(&text, on)
	}
	printLeftOut(&text, s.HoldersLeftOut, "more that hold")
	s.printWaiting(&text, as, on)
	var rest strings.Builder
	s.listing.printRest(&rest)
	if rest.Len() > 0 {
		text.WriteString("\n" + rest.String())
	}
	s.printNext(&text)
	return text.String()
}

// held says how many hold it.
func (s *showing) held() string {
	switch n := len(s.Holders) + s.HoldersLeftOut; n {
	case 0:
		return "no holder is known"
	case 1:
		return "held"
	default:
		return fmt.Sprintf("held by %d", n)
	}
}

func (s *showing) colour() colour {
	if len(s.Holders) == 0 {
		return yellow
	}
	return green
}

// describeHolder writes one fact a line.
func (s *standing) describeHolder(out io.Writer, on page) {
	_, _ = fmt.Fprintf(out, "\n%s: %s\n", s.title(), s.name())
	fact := func(name, format string, args ...any) {
		_, _ = fmt.Fprintf(out, "  %-10s %s\n", name, fmt.Sprintf(format, args...))
	}
	if !s.isPermit() {
		fact("joined", "%s", moment(s.Since))
	}
	switch {
	case s.Granted != nil:
		fact("granted", "%s", moment(*s.Granted))
	case s.isPermit():
		fact("granted", "after %s: Java clients do not say when", moment(s.Since))
	default:
		fact("granted", "not known: it is stored only with a lock-delay, and for permits")
	}
	fact("token", "%v", s.Token)
	fact("session", "%s", s.Session)
	fact("node", "%s", quote.Line(s.Node))
	for _, node := range s.Holds {
		fact("holds also", "%s", quote.Line(node))
	}
	for _, session := range s.Within {
		fact("within", "the zkrecipes with session %s, whose command has started it", session)
	}
	if s.Revoked != nil {
		fact("revocation", "%s", on.paint(red, "requested "+moment(*s.Revoked)))
	}
}

// title says what it holds.
func (s *standing) title() string {
	switch {
	case s.Stripe != nil:
		return fmt.Sprintf("holder of stripe %d", *s.Stripe)
	case s.Run != nil:
		return "holder of run " + quote.Brief(*s.Run)
	case s.Kind == lease.KindLeader:
		return "leader"
	case s.Kind == lease.KindSemaphore:
		return "holder of a permit"
	}
	return "holder (" + s.Kind + ")"
}

// name says who it is.
func (s *standing) name() string {
	var parts []string
	if s.Host != "" {
		parts = append(parts, "on "+s.Host)
	}
	if s.PID != 0 {
		parts = append(parts, fmt.Sprintf("process %d", s.PID))
	}
	who := cmp.Or(s.Who, "a client without a name")
	return quote.Line(strings.Join(append([]string{who}, parts...), ", "))
}

// moment writes a time, and how long ago it is.
func moment(at time.Time) string {
	return fmt.Sprintf("%s (%s ago)", at.UTC().Format(time.RFC3339), shortAge(age(at).Seconds()))
}

// printWaiting writes those that wait, and below what else is known about some.
func (s *showing) printWaiting(out io.Writer, as format, on page) {
	if len(s.Waiting) == 0 {
		return
	}
	l := *s.listing
	l.Queue = nil
	for _, w := range s.Waiting {
		l.Queue = append(l.Queue, w.queueEntry)
	}
	_, _ = fmt.Fprintf(out, "\n%s", l.printed(as, on))
	printLeftOut(out, s.WaitingLeftOut, "more")
	for i := range s.Waiting {
		s.Waiting[i].describeWaiting(out, on)
	}
}

// describeWaiting writes what the table does not say.
func (s *standing) describeWaiting(out io.Writer, on page) {
	say := func(format string, args ...any) {
		fmt.Fprintf(out, "%d, %s: %s\n", s.Position, s.name(), fmt.Sprintf(format, args...))
	}
	if s.State == inspect.Unknown {
		say("it is not known whether it holds")
	}
	for _, node := range s.Holds {
		say("holds %s while it waits", quote.Line(node))
	}
	for _, session := range s.Within {
		say("the command of the zkrecipes with session %s has started it", session)
	}
	if s.GivesUp {
		say("may leave the queue: another lock or stripe may do")
	}
	if s.Revoked != nil {
		say("%s", on.paint(red, "revocation requested "+moment(*s.Revoked)))
	}
}

func printLeftOut(out io.Writer, n int, what string) {
	if n > 0 {
		fmt.Fprintf(out, "and %d %s (--all)\n", n, what)
	}
}

// printNext names commands for what one may want to do then.
func (s *showing) printNext(out io.Writer) {
	path := quote.Line(shellWord(s.Lock))
	fmt.Fprintf(out, "\nnext:\n  see it change:        zkrecipes ls --watch %s\n", path)
	if len(s.Holders) > 0 {
		fmt.Fprintf(out, "  request its release:  zkrecipes revoke %s\n", path)
	}
	if len(s.Waiting) > 0 {
		fmt.Fprintln(out, "  look for deadlocks:   zkrecipes ls --cycles")
	}
}
