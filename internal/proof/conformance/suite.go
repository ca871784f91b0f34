package conformance

import (
	"fmt"
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
	// New returns the recipe for a path, through a client.
	New func(c *framework.Client, path string) lease.Acquirer
	// Places is how many leases may be valid at once on a path: 1 for a mutex, 0 for
	// any number, as with readers.
	Places int
	// Shares tells the leases that may be valid together from those of Block or New
	// that may not: see Referee. It is needed where Places is 0.
	Shares func(*lease.Lease) bool
	// Block returns what keeps the recipe from being acquired, such as the write lock
	// for a read lock. nil means that the recipe itself does, once all Places are
	// taken. It is needed where Places is 0.
	Block func(c *framework.Client, path string) lease.Acquirer
	// Readers returns the recipe's other side, for a sweep of both: what shares, and
	// what holders of New may become by acquiring it under their leases. It may be nil.
	Readers func(c *framework.Client, path string) lease.Acquirer
	// Weight tells how many of the Places a lease takes; nil is 1 for each.
	Weight func(l *lease.Lease) int
	// Nodes is how many nodes a lease has, which are made and removed by one Multi. 0
	// is one node, made by a create.
	Nodes int
	// Foreign are names that are none of the recipe's although other recipes have such,
	// by the parent below the recipe's path.
	Foreign map[string][]string
	// NotReentrant is true if a lease's context does not enter its place again.
	NotReentrant bool
}

// GoString is the recipe's name, so that what has a recipe can be printed as Go.
func (r Recipe) GoString() string { return r.Name }

// Referee returns one for the recipe.
func (r Recipe) Referee() *Referee {
	if r.Shares != nil {
		return &Referee{Shares: r.Shares}
	}
	return &Referee{Places: r.Places, Weight: r.Weight}
}

// path is where the suite has its recipe.
const path = "/conformance/place"

// A row is one test of the suite.
type row = func(t *testing.T, w *World, r Recipe)

// rows are tests by what happens in them, which nothing else in the suite is called.
type rows = map[string]row

// suite returns all of it.
func suite(r Recipe) []rows {
	all := []rows{places, costs, creates, lookups, lines, losses, outages, refusals, ends, patient, vouched, nodes, untolds, strangers, closes}
	if !r.NotReentrant {
		all = append(all, entries, forks)
	}
	return all
}

// Run runs the suite, each test in a World of its own.
func Run(t *testing.T, r Recipe) {
	for _, set := range suite(r) {
		for name, test := range set {
			t.Run(name, func(t *testing.T) {
				InWorld(t, func(t *testing.T, w *World) { test(t, w, r) })
			})
		}
	}
	t.Run("the parents are reaped all the time", func(t *testing.T) {
		InWorld(t, func(t *testing.T, w *World) { parentsAreReaped(t, w, r) }, zktest.WithReapInterval(10*time.Millisecond))
	})
}

// fill takes all places, through clients of its own, and returns what to release.
func fill(w *World, r Recipe) []*lease.Lease {
	w.T.Helper()
	return grantedAll(startFilling(w, r, "holder"))
}

// startFilling begins to acquire what keeps everybody else out, through clients of its
// own.
func startFilling(w *World, r Recipe, name string) []*Attempt {
	w.T.Helper()
	all := make([]*Attempt, 1)
	if r.Block == nil {
		require.Positive(w.T, r.Places, "a recipe without a number of places needs Block and Shares")
		all = make([]*Attempt, r.Places)
	}
	for i := range all {
		all[i] = w.Start(r.blocker()(w.Named(fmt.Sprint(name, i)), path), lease.Forever)
	}
	return all
}

// blocker makes what keeps the recipe from being acquired.
func (r Recipe) blocker() func(c *framework.Client, path string) lease.Acquirer {
	if r.Block != nil {
		return r.Block
	}
	return r.New
}

// grantedAll waits for all to be granted.
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
