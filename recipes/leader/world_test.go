package leader_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The names of tests that end in "_Curator45" are those of bugs that Apache Curator had
// under that number of its tracker, or that were found by reading its source
// ("_CuratorR8"); "_Users20" are complaints of users of elections.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/services/billing/leader"

func newElection(tb testing.TB, c *framework.Client, id string, opts ...leader.Option) *leader.Election {
	tb.Helper()
	e, err := leader.New(c, path, append(opts, leader.WithID(id))...)
	require.NoError(tb, err)
	return e
}

// children returns the candidates' nodes.
func children(w *conformance.World) []string { return w.Server.Children(path) }

// An office is what the functions given to Lead enter and leave. It checks that none
// enters while another with a valid term is in it.
type office struct {
	referee conformance.Referee

	mu     sync.Mutex
	in     map[*lease.Lease]string
	log    []string
	faults []string
	terms  chan *lease.Lease // gets each term that begins
}

func newOffice() *office {
	o := &office{in: map[*lease.Lease]string{}, terms: make(chan *lease.Lease, 10_000)}
	o.referee.Slots = 1
	return o
}

// newForcedOffice is for tests that end sessions by force, or delete nodes by hand, of
// which a leader learns only when the event arrives.
func newForcedOffice(w *conformance.World) *office {
	o := newOffice()
	o.referee.Excuse = func(term *lease.Lease) bool {
		_, stands := w.Server.Node(term.Path())
		return !stands
	}
	return o
}

func (o *office) enter(who string, term *lease.Lease) {
	o.mu.Lock()
	defer o.mu.Unlock()
	over := o.referee.Excuse
	if over == nil {
		over = func(*lease.Lease) bool { return false }
	}
	if !over(term) { // since the grant
		o.referee.Grant(who, term)
	}
	for other, name := range o.in {
		if other.Err() == nil && !over(other) && !over(term) {
			o.faults = append(o.faults, fmt.Sprintf("%s entered while %s was in", who, name))
		}
		if name == who {
			o.faults = append(o.faults, who+" entered twice")
		}
	}
	o.in[term] = who
	o.log = append(o.log, who)
	o.terms <- term
}

func (o *office) leave(term *lease.Lease) {
	o.referee.Look()
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.in, term)
}

// until returns a function for Lead that stays in office until its context ends, and
// then takes windDown to leave.
func (o *office) until(who string, windDown time.Duration) func(context.Context, *lease.Lease) error {
	return func(ctx context.Context, term *lease.Lease) error {
		o.enter(who, term)
		defer o.leave(term)
		<-ctx.Done()
		time.Sleep(windDown)
		return ctx.Err()
	}
}

// during returns a function for Lead that stays in office for d, or until its context
// ends.
func (o *office) during(who string, d time.Duration) func(context.Context, *lease.Lease) error {
	return func(ctx context.Context, term *lease.Lease) error {
		o.enter(who, term)
		defer o.leave(term)
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return nil
	}
}

// leaders returns the ids of all that were in office, in order.
func (o *office) leaders() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.log)
}

// next waits for the next term to begin.
func (o *office) next(t *testing.T) *lease.Lease {
	t.Helper()
	select {
	case term := <-o.terms:
		return term
	case <-time.After(10 * time.Minute):
		t.Fatal("no leader for 10 minutes of virtual time")
		return nil
	}
}

// check fails the test if there was anything wrong.
func (o *office) check(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	require.Empty(t, o.faults)
	require.Empty(t, o.referee.Faults())
	require.IsIncreasing(t, append([]lease.Token{0}, o.referee.Tokens()...))
}

// A campaign is a Lead in its own goroutine.
type campaign struct {
	t      *testing.T
	err    error
	done   chan struct{}
	cancel context.CancelCauseFunc
}

// lead starts Lead. It ends with the test at the latest.
func lead(w *conformance.World, e *leader.Election, fn func(context.Context, *lease.Lease) error) *campaign {
	ctx, cancel := context.WithCancelCause(w.T.Context())
	c := &campaign{t: w.T, done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(c.done)
		c.err = e.Lead(ctx, fn)
	}()
	w.T.Cleanup(func() {
		cancel(nil)
		<-c.done
	})
	w.Settle()
	return c
}

// running tells whether Lead has not returned.
func (c *campaign) running() bool { return !conformance.Closed(c.done) }

// result waits for Lead to return.
func (c *campaign) result() error {
	c.t.Helper()
	select {
	case <-c.done:
		return c.err
	case <-time.After(10 * time.Minute):
		c.t.Fatal("Lead has not returned for 10 minutes of virtual time")
		return nil
	}
}

// stop ends the context of Lead and waits for it.
func (c *campaign) stop() error {
	c.t.Helper()
	c.cancel(nil)
	return c.result()
}
