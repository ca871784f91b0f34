package lockorder

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
)

// maxEdges and maxCycles bound what a Checker remembers.
const (
	maxEdges  = 1 << 16
	maxCycles = 1 << 10
)

// A Checker compares the orders in which the locks of a process are acquired. Make it
// with New. It is safe for concurrent use.
type Checker struct {
	report     func(Cycle)
	goroutines bool          // counts what the goroutine has acquired
	clients    atomic.Uint64 // number of the last one
	holds      atomic.Int64  // len(held)

	mu     sync.Mutex // guards what follows
	held   map[string]*record
	on     map[uint64][]*record // by goroutine
	graph  graph
	cycles []Cycle
}

// An Option changes what a Checker counts.
type Option func(*Checker)

// WithContextsOnly has only that count as held which the context of an Acquire owns,
// and not what was acquired on the same goroutine: for programs with a goroutine that
// acquires on behalf of others, to whom it hands over the leases.
func WithContextsOnly() Option { return func(c *Checker) { c.goroutines = false } }

// New returns a Checker, which calls report for each cycle when it is closed, on the
// goroutine that calls Acquire, before that waits. A cycle is closed once, unless its
// steps are forgotten. report may use the Checker; it must be safe for concurrent use,
// and is otherwise bound like the functions of an observer: see framework.Observer.
// With nil a cycle is logged as a warning by slog.Default.
func New(report func(Cycle), opts ...Option) *Checker {
	c := &Checker{
		report: report, goroutines: true,
		held: map[string]*record{}, on: map[uint64][]*record{}, graph: graph{limit: maxEdges, from: map[string][]*edge{}},
	}
	if report == nil {
		c.report = func(c Cycle) { slog.Default().Warn("locks are acquired in inconsistent order", "cycle", c.String()) }
	}
	for _, opt := range opts {
		opt(c)
	}
	return c
}

// Observer returns the observer for framework.Config.Observers of one client. Call it
// for each client, all of one ensemble: an Acquire by one client does not re-enter what
// the same context owns by another one.
func (c *Checker) Observer() framework.Observer {
	client := c.clients.Add(1)
	return framework.Observer{
		AcquireStarted: func(ctx context.Context, a framework.AcquireInfo) context.Context {
			c.acquires(ctx, client, a)
			return nil
		},
		HoldStarted: func(ctx context.Context, h framework.HoldInfo) context.Context {
			return c.holdStarted(ctx, client, h)
		},
		HoldEnded: func(_ context.Context, e framework.HoldEnd) { c.holdEnded(e.Node) },
	}
}

// Cycles returns those that were found so far, in that order: for the end of a test.
// After 1024 no more are looked for.
func (c *Checker) Cycles() []Cycle {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.cycles)
}

// acquires compares an Acquire that starts with those before.
func (c *Checker) acquires(ctx context.Context, client uint64, a framework.AcquireInfo) {
	if c.holds.Load() == 0 || a.Timeout <= 0 || ctx.Err() != nil { // it does not wait, or holds nothing
		return
	}
	for _, cycle := range c.add(c.edges(ctx, client, a)) {
		c.report(cycle)
	}
}

// add adds edges, and returns the cycles that they close.
func (c *Checker) add(edges []*edge) (found []Cycle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var by stack
	for _, e := range edges {
		if c.graph.knows(e.held, e.wanted) {
			continue
		}
		if by == nil {
			by = recordStack()
		}
		e.wantedBy = by
		c.graph.add(e)
		if len(c.cycles) == maxCycles {
			continue
		}
		if back, closed := c.graph.path(e.wanted, e.held); closed {
			cycle := newCycle(append(back, e))
			c.cycles, found = append(c.cycles, cycle), append(found, cycle)
		}
	}
	return found
}

func (c *Checker) holdStarted(ctx context.Context, client uint64, h framework.HoldInfo) context.Context {
	r := &record{HoldInfo: h, client: client, by: recordStack(), tentative: hold.TentativeOf(ctx)}
	if c.goroutines {
		r.goroutine = goroutine()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[h.Node], c.on[r.goroutine] = r, append(c.on[r.goroutine], r) // if goroutines do not count, all on none
	c.holds.Store(int64(len(c.held)))
	return hold.Following(ctx, func(h *hold.Hold) {
		if r.hold == nil { // else an observer has returned a context of another hold
			r.hold = h
		}
	})
}

func (c *Checker) holdEnded(node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.held[node]
	if r == nil {
		return
	}
	delete(c.held, node)
	c.holds.Store(int64(len(c.held)))
	rest := slices.DeleteFunc(c.on[r.goroutine], func(other *record) bool { return other == r })
	if c.on[r.goroutine] = rest; len(rest) == 0 {
		delete(c.on, r.goroutine)
	}
}
