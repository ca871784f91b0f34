package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// A note is a line of output of a contest's process. At, Asked and Trust are readings
// of the clock.
type note struct {
	Event   string // "begin", "end", "miss" or, when all contenders have stopped, "idle"
	Who     string
	Hold    int64  // of "begin" and "end": its number in the process
	Kind    string // of "begin", like all that follow
	Under   int64
	Permits int
	Node    string
	Token   int64
	Locks   []string // of a multi-lock, and of its locks alone
	Tokens  []int64  // of these
	Asked   int64    // when it was requested
	At      int64    // also of "end": when it was held for the last time
	Trust   int64    // until when it is held without further answers
	Lost    bool     // of "end"
	Why     string   // of "miss": why nothing was held
}

// A history is the record of all processes of a contest.
type history struct {
	mu      sync.Mutex
	changed chan struct{} // closed at the next note
	stays   []*stay
	open    map[string]map[int64]*open // by process and number
	idle    map[string]bool            // processes
	last    map[string]int64           // start of the last hold of a contender in a process
	misses  map[string]int             // by side, and why
	broken  error                      // why the contest cannot go on
}

// An open stay has not ended yet.
type open struct {
	*stay
	trust int64
}

func newHistory() *history {
	return &history{
		changed: make(chan struct{}), open: map[string]map[int64]*open{}, idle: map[string]bool{},
		last: map[string]int64{}, misses: map[string]int{},
	}
}

// add adds a line from a process.
func (h *history) add(side, process string, line []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.tell()
	var n note
	if err := json.Unmarshal(line, &n); err != nil {
		h.fail(fmt.Errorf("%s wrote %q: %w", process, line, err))
		return
	}
	switch n.Event {
	case "idle":
		h.idle[process] = true
	case "miss":
		h.misses[side+" "+n.Why]++
	case "begin":
		s := &stay{
			Process: process, Who: n.Who, Kind: n.Kind, Hold: n.Hold, Under: n.Under, Permits: n.Permits,
			Node: n.Node, Token: n.Token, Locks: n.Locks, Tokens: n.Tokens, Asked: n.Asked, From: n.At, Until: n.At,
		}
		h.stays = append(h.stays, s)
		if h.open[process] == nil {
			h.open[process] = map[int64]*open{}
		}
		h.open[process][n.Hold] = &open{s, n.Trust}
		h.last[process+" "+n.Who] = n.At
	case "end":
		s := h.open[process][n.Hold]
		if s == nil {
			h.fail(fmt.Errorf("%s wrote the end of a hold that did not begin: %s", process, line))
			return
		}
		s.Until, s.Lost = n.At, n.Lost
		delete(h.open[process], n.Hold)
	default:
		h.fail(fmt.Errorf("%s wrote %q", process, line))
	}
}

// gone records the end of a process. Its holds lasted until it was killed, at that
// time, or until their trust ended, if that was earlier.
func (h *history) gone(process string, killed int64, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.tell()
	if err != nil {
		h.fail(fmt.Errorf("%s has ended: %w", process, err))
	}
	for _, s := range h.open[process] {
		s.Until, s.Killed = max(s.From, min(killed, s.trust)), true
	}
	delete(h.open, process)
}

func (h *history) fail(err error) {
	if h.broken == nil {
		h.broken = err
	}
}

func (h *history) tell() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// await waits until a condition is true. It must depend on the history alone.
func (h *history) await(ctx context.Context, what string, so func(*history) bool) error {
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

// holds reports whether the process holds something.
func (h *history) holds(process string) bool { return len(h.open[process]) > 0 }

// kind returns the side that held something, and what it held.
func (s stay) kind() (side, kind string) {
	side, _, _ = strings.Cut(s.Who, "-")
	kind = side + " " + s.Kind
	if s.Under != 0 {
		kind += " after write"
	}
	if s.Permits > 1 {
		kind += fmt.Sprintf(" of %d", s.Permits)
	}
	return side, kind
}

// counts counts stays by kind, for await.
func (h *history) counts() map[string]int {
	counts := map[string]int{}
	for _, s := range h.stays {
		side, kind := s.kind()
		counts[side]++
		counts[kind]++
	}
	return counts
}

// all returns the stays of all processes, which have ended.
func (h *history) all() []stay {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]stay, len(h.stays))
	for i, s := range h.stays {
		all[i] = *s
	}
	return all
}
