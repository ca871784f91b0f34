package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A Recipe is what the suite is run on.
type Recipe struct {
	// Name names the recipe in the output.
	Name string
	// New returns the recipe for a path, through a client. It panics with an error.
	New func(c *framework.Client, path string) lease.Acquirer
	// Zero is a pointer to the zero value of the recipe's type.
	Zero any
	// Slots is how many leases may be valid at once on a path: 1 for a mutex, 0 for any
	// number, as for readers.
	Slots int
	// Shares tells which leases may be valid together: see Referee. It is required if
	// Slots is 0.
	Shares func(*lease.Lease) bool
	// LockOf tells on which of several locks a lease is: see Referee. It may be nil.
	LockOf func(*lease.Lease) string
	// Block returns the recipe that keeps this one from being acquired, such as the
	// write lock for a read lock. nil means this recipe itself, with all Slots taken.
	// It is required if Slots is 0.
	Block func(c *framework.Client, path string) lease.Acquirer
	// Readers returns the read side of a read-write lock, to which holders of New may
	// downgrade. It may be nil.
	Readers func(c *framework.Client, path string) lease.Acquirer
	// Weight tells how many of the Slots a lease takes; nil means 1 for each.
	Weight func(l *lease.Lease) int
	// Nodes is how many nodes a lease has, made and removed by one Multi. 0 means one
	// node, made by a create.
	Nodes int
	// Recorded is true if holders are recorded, for a lock-delay. A record is removed
	// together with the node.
	Recorded bool
	// Locks is how many locks a lease is on, each with one node; 0 is one. For several,
	// rows about the node of one lock, its session and its events are left out.
	Locks int
	// Below is the path of the queue below that of the recipe, "" if it is the same.
	Below string
	// Spread is true if each slot has a queue of its own, and a contender joins one of
	// them. Rows about the one queue of a path are left out, and contenders need not be
	// in the session in which others of their client contend.
	Spread bool
	// HandsOver is true if a released slot is granted to the next waiter of the same
	// session before its node is known to be deleted. Such a recipe has one slot.
	HandsOver bool
	// Async is set by Async.
	Async bool
	// Foreign lists node names of other recipes that this one must ignore, by their
	// parent below the recipe's path.
	Foreign map[string][]string
	// Keeps are the children of the path that stay when it is not used, sorted. If
	// there are none, the path is removed.
	Keeps []string
	// Known is half of how many watches on known nodes all clients keep; 0 is 1.
	Known int
	// NotReentrant is true if an Acquire with a lease's context does not re-enter the
	// lease.
	NotReentrant bool
}

// GoString is the recipe's name, which stands for the recipe where a plan is printed as
// Go.
func (r Recipe) GoString() string { return r.Name }

// removal is the request that removes the nodes of a lease which is released.
func (r Recipe) removal() zktest.Op {
	if r.Nodes > 1 || r.Recorded {
		return zktest.OpMulti
	}
	return zktest.OpDelete
}

// Referee returns one for the recipe.
func (r Recipe) Referee() *Referee {
	if r.Shares != nil {
		return &Referee{Shares: r.Shares}
	}
	return &Referee{Slots: r.Slots, Weight: r.Weight, LockOf: r.LockOf}
}

// path is the path on which the suite runs the recipe.
const path = "/conformance/recipe"

// A row is a test of the suite.
type row = func(t *testing.T, w *World, r Recipe)

// rows are tests by their names: each says what happens, and is unique in the suite.
type rows = map[string]row

// suite returns all rows for a recipe.
func suite(r Recipe) []rows {
	all := []rows{slots, creates, queues, oldLeaders, outages, refusals, ends, timeouts, vouched, closings, sessionOrder, unansweredWrites, stepsBack, owned}
	if !r.NotReentrant {
		all = append(all, entries, forks)
	}
	if r.Locks > 1 {
		return append(all, confirmedOnly)
	}
	all = append(all, zeros, costs, lookups, nodes, missedEvents, credentials, observers, asyncReleases, severalSessions, sessionEnds)
	if r.HandsOver {
		return append(all, handovers, handoverEnds, handoverBreaks, handoverWrites, handoverCrowds, sessionOrderOfHandovers)
	}
	return append(all, confirmedOnly)
}

// Run runs the suite, each test in a World of its own.
func Run(t *testing.T, r Recipe) {
	for _, set := range suite(r) {
		for name, test := range set {
			if r.Spread && r.Slots > 1 && slices.Contains(ofOneQueue, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				InWorld(t, func(t *testing.T, w *World) { test(t, w, r) })
			})
		}
	}
	t.Run("the parents are reaped all the time", func(t *testing.T) {
		InWorld(t, func(t *testing.T, w *World) { parentsAreReaped(t, w, r) }, zktest.WithReapInterval(10*time.Millisecond))
	})
}

// ofOneQueue are rows about one queue for several slots.
var ofOneQueue = []string{
	"many cycles leave no watches", "a slot becomes free during any request", "the node of a waiter is deleted", "the listing is too large",
	"a try that fails only reads", "a hand-over costs the same with more waiters", "the node ahead is deleted without an event",
}

// fill takes all slots through new clients, and returns the leases.
func fill(w *World, r Recipe) []*lease.Lease {
	w.T.Helper()
	return grantedAll(startFilling(w, r, "holder"))
}

// startFilling begins to acquire all slots, or what blocks the recipe, through new
// clients.
func startFilling(w *World, r Recipe, name string) []*Attempt {
	w.T.Helper()
	all := make([]*Attempt, 1)
	if r.Block == nil {
		require.Positive(w.T, r.Slots, "a recipe without a number of slots needs Block and Shares")
		all = make([]*Attempt, r.Slots)
	}
	for i := range all {
		all[i] = w.Start(r.blocker()(w.Named(fmt.Sprint(name, i)), path), lease.Forever)
	}
	return all
}

// blocker returns the constructor of what keeps the recipe from being acquired.
func (r Recipe) blocker() func(c *framework.Client, path string) lease.Acquirer {
	if r.Block != nil {
		return r.Block
	}
	return r.New
}

// grantedAll waits until all attempts are granted.
func grantedAll(all []*Attempt) []*lease.Lease {
	held := make([]*lease.Lease, len(all))
	for i, at := range all {
		held[i] = at.Granted()
	}
	return held
}

func release(t *testing.T, held ...*lease.Lease) {
	t.Helper()
	for _, l := range held {
		require.NoError(t, l.Release())
	}
}

// leavesNothing runs f and compares the ephemeral nodes before and after.
func leavesNothing(t *testing.T, w *World, f func()) {
	t.Helper()
	before := w.Ephemerals("/")
	f()
	w.After(SessionTimeout)
	require.Equal(t, before, w.Ephemerals("/"), "nodes left")
}
