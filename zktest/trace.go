package zktest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Event is one event of [Server.Trace].
type Event struct {
	N       int       // numbered from 1
	Time    time.Time // on the server's clock
	Client  string    // as in Call
	Session int64     // 0 for none
	Op      Op        // OpClose at PhaseExpire is an expiry
	Path    string    // as in Call
	Watch   bool      // as in Call
	Phase   Phase     // PhaseAfterApply for a request that was applied
	Code    Code      // the result
	Zxid    int64     // as in the header of the reply
	Action  Action    // what a fault did, if the event is a fault

	// Minority means that it happened on a [Minority]. A request that is never answered
	// there is an event of PhaseConnect or PhaseBeforeApply.
	Minority bool
}

// String describes the event, without what differs from run to run.
func (e Event) String() string {
	text := fmt.Sprintf("%d %s %s %s %s", e.N, e.Client, e.Phase, e.Op, e.Path)
	if e.Watch {
		text += " watch"
	}
	if e.Action != Pass {
		return text + ": fault: " + e.Action.String()
	}
	switch {
	case e.Minority && e.Phase != PhaseAfterApply:
		return text + ": hangs, there is no quorum"
	case e.Minority:
		text += " by the minority"
	}
	return fmt.Sprintf("%s: %s zxid %d", text, e.Code, e.Zxid)
}

// trace keeps the latest events.
type trace struct {
	limit  int
	n      int
	events []Event // a ring once it has limit elements
}

// recordLocked adds an event to the trace.
func (s *Server) recordLocked(e Event) {
	t := &s.trace
	t.n++
	if t.limit <= 0 {
		return
	}
	e.N, e.Time = t.n, time.Now()
	if len(t.events) < t.limit {
		t.events = append(t.events, e)
		return
	}
	t.events[(t.n-1)%t.limit] = e
}

// Trace returns the latest events, oldest first, at most as many as [WithTraceLimit]
// says. Requests are in the order in which they were applied.
func (s *Server) Trace() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.trace.events)
	slices.SortFunc(out, func(a, b Event) int { return a.N - b.N })
	return out
}

type countKey struct {
	client string // "" for all
	op     Op
}

// Count returns how many requests of a kind were answered since the start or the last
// ResetCounts. Requests that failed count. Requests that a fault dropped before they
// were applied do not, nor do the parts of a multi.
func (s *Server) Count(op Op) int { return s.CountOf("", op) }

// CountOf is like Count, for one client.
func (s *Server) CountOf(client string, op Op) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[countKey{client, op}]
}

// Counts returns how many requests of each kind were answered, except pings.
func (s *Server) Counts() map[Op]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[Op]int{}
	for key, n := range s.counts {
		if key.client == "" && key.op != OpPing {
			out[key.op] = n
		}
	}
	return out
}

// ResetCounts makes Count, CountOf and Counts start again at 0.
func (s *Server) ResetCounts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.counts, func(countKey, int) bool { return true })
}
