package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A lockDelay is that of one queue in JSON.
type lockDelay struct {
	Stripe  *int         `json:"stripe"` // nil if the queue is not that of one
	Run     *string      `json:"run"`    // its key or tick; nil if the queue is not that of one
	Seconds float64      `json:"seconds"`
	Ended   []endedEntry `json:"ended"` // without a release
}

// An endedEntry is a holder that has ended without a release in JSON.
type endedEntry struct {
	Kind    string     `json:"kind"` // a lease.KindMutex, or another of these
	Who     string     `json:"who"`
	Host    string     `json:"host"`
	PID     int        `json:"pid"`
	Granted time.Time  `json:"granted"` // by the server's clock, as Seen
	Seen    *time.Time `json:"seen"`    // a waiting client first saw its end; nil if none has
	Node    string     `json:"node"`
}

// lockDelaysOf returns the lock-delays of all queues.
func lockDelaysOf(s *inspect.Survey) []lockDelay {
	all := []lockDelay{} // in JSON an array, also when it is empty
	for _, d := range s.LockDelays {
		one := lockDelay{Seconds: d.Delay.Seconds(), Ended: []endedEntry{}}
		one.Stripe, one.Run = queueOf(d.Recipe, d.Stripe, d.Run)
		for _, e := range d.Ended {
			entry := endedEntry{Kind: e.Kind, Who: e.Holder.Who, Host: e.Holder.Host, PID: e.Holder.PID, Granted: e.Granted.UTC(), Node: e.Node}
			if seen := e.Seen.UTC(); !seen.IsZero() {
				entry.Seen = &seen
			}
			one.Ended = append(one.Ended, entry)
		}
		all = append(all, one)
	}
	return all
}

// queueOf says in JSON which stripe or run a queue is of.
func queueOf(recipe inspect.Recipe, stripe int, run string) (*int, *string) {
	switch recipe {
	case inspect.Stripe:
		return &stripe, nil
	case inspect.Run:
		return nil, &run
	}
	return nil, nil
}

// mayBeClosed reports whether a client that comes now may have to wait because a holder
// of one of the queues has ended without a release.
func mayBeClosed(delays []inspect.LockDelay, now time.Time) bool {
	return slices.ContainsFunc(delays, func(d inspect.LockDelay) bool {
		return slices.ContainsFunc(d.Ended, func(e inspect.Ended) bool {
			over, seen := overFrom(d.Delay, e)
			return !seen || now.Before(over)
		})
	})
}

// printLockDelays writes why a lock that nobody holds may not be granted.
func printLockDelays(out io.Writer, delays []inspect.LockDelay) {
	var values []string
	for _, d := range delays {
		if value := d.Delay.String(); !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	if len(values) > 0 {
		fmt.Fprintf(out, "lock-delay: %s (all who use it have to give the same)\n", strings.Join(values, ", "))
	}
	for _, d := range delays {
		for _, e := range d.Ended {
			fmt.Fprintf(out, "%s has ended without a release (%s): %s\n", describeEnded(e), describeSlot(d, e), describeDelay(d.Delay, e))
		}
	}
}

// describeEnded says who has ended.
func describeEnded(e inspect.Ended) string {
	who := e.Holder.String()
	if who == "" {
		who = "a client that says nothing about itself"
	}
	return quote.Line(who)
}

// describeSlot says what it has held.
func describeSlot(d inspect.LockDelay, e inspect.Ended) string {
	held := "node " + quote.Cell(e.Node)
	switch d.Recipe {
	case inspect.Stripe:
		held = fmt.Sprintf("stripe %d, %s", d.Stripe, held)
	case inspect.Run:
		held = "run " + quote.Brief(d.Run) + ", " + held
	}
	if e.Kind != "" {
		held = e.Kind + ", " + held
	}
	return held
}

// describeDelay says for how long its end keeps others out.
func describeDelay(d time.Duration, e inspect.Ended) string {
	text := fmt.Sprintf("closed until a client has waited for %v", d)
	if over, seen := overFrom(d, e); seen {
		text += " or comes after " + over.Format(time.RFC3339)
	}
	return text
}

// overFrom returns from which moment on newcomers need not wait, if that is known. It
// is a full second.
func overFrom(d time.Duration, e inspect.Ended) (at time.Time, known bool) {
	at = e.Seen.Add(2*d + time.Second - time.Nanosecond).UTC().Truncate(time.Second)
	return at, !e.Seen.IsZero()
}
