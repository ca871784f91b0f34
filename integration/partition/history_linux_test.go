package partition

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// A stay is a time in which a contender certainly held a valid lease, from its first to
// its last check.
type stay struct {
	Who     string
	Token   int64
	Session int64
	Timeout time.Duration
	From    time.Time
	Until   time.Time
	Trusted time.Time // by the last report: how long it is valid without further answers
	Ended   string    // evLost, evReleased, or "" while it lasts
	Why     string    // why it ended
}

func (s stay) String() string {
	const clock = "15:04:05.000"
	return fmt.Sprintf("%s: token %d, session %#x of %v, valid from %s to %s (then trusted until %s) %s %s", s.Who, s.Token, uint64(s.Session), //nolint:gosec // an id may use all 64 bits
		s.Timeout, s.From.Format(clock), s.Until.Format(clock), s.Trusted.Format(clock), s.Ended, s.Why)
}

// A history is what all contenders have reported.
type history struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next report
	stays   []*stay
	last    map[string]*stay // by contender
	attach  map[string][]time.Time
	missed  map[string]int
	broken  error // why the test cannot go on
}

func newHistory() *history {
	return &history{
		changed: make(chan struct{}), last: map[string]*stay{}, attach: map[string][]time.Time{}, missed: map[string]int{},
	}
}

// add adds a contender's line.
func (h *history) add(who string, line []byte) {
	var r report
	err := json.Unmarshal(line, &r)
	h.change(func() {
		s := h.last[who]
		switch {
		case err != nil:
			h.broken = fmt.Errorf("%s wrote %q: %w", who, line, err)
		case r.Event == evAttached:
			h.attach[who] = append(h.attach[who], r.At)
		case r.Event == evGranted:
			s = &stay{Who: who, Token: r.Token, Session: r.Session, Timeout: r.Timeout, From: r.At, Until: r.At, Trusted: r.Trusted}
			h.stays = append(h.stays, s)
			h.last[who] = s
		case r.Event == evValid:
			s.Until, s.Trusted = r.At, r.Trusted
		case r.Event == evLost, r.Event == evReleased:
			s.Ended, s.Why = r.Event, r.Text
		case r.Event == evMissed:
			h.missed[who+": "+r.Text]++
		}
	})
}

// gone records the end of a contender that has ended by itself.
func (h *history) gone(who string, err error) {
	h.change(func() { h.broken = fmt.Errorf("%s has ended: %w", who, err) })
}

func (h *history) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	close(h.changed)
	h.changed = make(chan struct{})
}

// await waits until a condition is true. It must depend on the history alone.
func (h *history) await(ctx context.Context, what string, so func(*history) bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		h.mu.Lock()
		done, broken, changed := so(h), h.broken, h.changed
		h.mu.Unlock()
		switch {
		case broken != nil:
			return broken
		case done:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
}

// latest returns the last stay of a contender.
func (h *history) latest(who string) stay {
	h.mu.Lock()
	defer h.mu.Unlock()
	return *h.last[who]
}

// all returns all stays in the order in which they began.
func (h *history) all() []stay {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []stay
	for _, s := range h.stays {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b stay) int { return a.From.Compare(b.From) })
	return all
}

// attached tells whether a contender's client has attached to a server between two
// times.
func (h *history) attached(who string, from, until time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.attach[who], func(at time.Time) bool { return at.After(from) && at.Before(until) })
}

// misses counts what was reported instead of a lease.
func (h *history) misses() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.missed)
}
