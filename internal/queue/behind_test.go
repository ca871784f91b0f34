package queue_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// exclusive are the acquirers whose crowds have a front.
var exclusive = map[string]func(t *testing.T, c *framework.Client) lease.Acquirer{
	"mutex": func(t *testing.T, c *framework.Client) lease.Acquirer { return mutexOf(t, c) },
	"write lock": func(t *testing.T, c *framework.Client) lease.Acquirer {
		l, err := rwlock.New(c, path)
		require.NoError(t, err)
		return l.Write()
	},
	"election": func(t *testing.T, c *framework.Client) lease.Acquirer {
		e, err := leader.New(c, path)
		require.NoError(t, err)
		return e
	},
}

// A rank is a holder of one client, and those of another that wait behind it, one of
// which belongs to the front.
type rank struct {
	t       *testing.T
	w       *conformance.World
	a       *framework.Client
	of      lease.Acquirer
	held    *lease.Lease
	waiting []*conformance.Attempt
	nodes   []string // of these
}

func newRank(t *testing.T, w *conformance.World, kind string, waiters int, change ...func(*framework.Config)) *rank {
	t.Helper()
	r := &rank{t: t, w: w, a: w.Client("a", change...)}
	queue.SetFront(r.a, 1)
	r.of = exclusive[kind](t, r.a)
	r.held = w.Acquire(exclusive[kind](t, w.Client("b")))
	for range waiters {
		r.join(lease.Forever)
	}
	return r
}

func (r *rank) join(timeout time.Duration) *conformance.Attempt {
	r.t.Helper()
	at := r.w.Start(r.of, timeout)
	r.waiting = append(r.waiting, at)
	r.nodes = append(r.nodes, r.last())
	r.w.After(20 * time.Millisecond)
	return at
}

// cancel cancels one that waits, and forgets it.
func (r *rank) cancel(i int) {
	r.t.Helper()
	gone := errors.New("gone")
	r.waiting[i].Cancel(gone)
	require.ErrorIs(r.t, r.waiting[i].Failed(), gone)
	r.waiting, r.nodes = slices.Delete(r.waiting, i, i+1), slices.Delete(r.nodes, i, i+1)
}

// base returns the name of a lease's node.
func base(l *lease.Lease) string { return strings.TrimPrefix(l.Path(), path+"/") }

// last returns the last node of the queue.
func (r *rank) last() string {
	last := ""
	for _, name := range r.w.Server.Children(path) {
		if last == "" || number(name) > number(last) {
			last = name
		}
	}
	return last
}

// drain releases, and has all that wait granted in turn, each on the node that it had.
func (r *rank) drain(waiting ...int) {
	r.t.Helper()
	require.NoError(r.t, r.held.Release())
	token := r.held.Token()
	for _, i := range waiting {
		got := r.waiting[i].Granted()
		require.Equal(r.t, r.nodes[i], base(got))
		require.Greater(r.t, got.Token(), token)
		token = got.Token()
		for _, later := range waiting[i+1:] {
			require.True(r.t, r.waiting[later].Waiting())
		}
		require.NoError(r.t, got.Release())
		r.w.Settle()
	}
}

// Those behind the front have a node, and send nothing else, however long they wait.
func TestOnlyTheFrontTakesPart(t *testing.T) {
	for kind := range exclusive {
		t.Run(kind, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				r := newRank(t, w, kind, 1)
				for range 4 {
					require.Equal(t, map[zktest.Op]int{zktest.OpCreate: 1}, w.Requests(func() { r.join(lease.Forever) }))
				}
				idle := w.Requests(func() { w.After(5 * conformance.SessionTimeout) })
				looks := 2 * conformance.LooksAgain(5*conformance.SessionTimeout) // of the holder, and the one at the front
				require.LessOrEqual(t, idle[zktest.OpGetChildren2]+idle[zktest.OpExists]+idle[zktest.OpGetData], looks, "%v", idle)
				r.drain(0, 1, 2, 3, 4)
			})
		})
	}
}

// Each way in which a wait behind the front ends early. Then the others go on.
func TestWaitsBehindTheFrontThatEndEarly(t *testing.T) {
	for name, end := range map[string]func(r *rank){
		"one is cancelled":               func(r *rank) { r.cancel(2) },
		"the first of them is cancelled": func(r *rank) { r.cancel(1) },
		"the front is":                   func(r *rank) { r.cancel(0) },
		"the time of one is up": func(r *rank) {
			r.cancel(2)
			late := r.join(time.Second)
			var timeout *lease.TimeoutError
			require.ErrorAs(r.t, late.Failed(), &timeout)
			assert.Equal(r.t, 3, timeout.Ahead)
			assert.Equal(r.t, base(r.held), timeout.Node)
			assert.NotEmpty(r.t, timeout.Holder)
			assert.Equal(r.t, time.Second, timeout.Waited.Truncate(time.Second))
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				r := newRank(t, w, "mutex", 3)
				end(r)
				w.Settle()
				require.Len(t, w.Server.Children(path), 3)
				r.drain(0, 1)
			})
		})
	}
}

// Close ends them at once.
func TestCloseEndsWaitsBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "mutex", 5, func(cfg *framework.Config) { cfg.CloseGrace = time.Minute })
		other, err := rwlock.New(r.a, "/other")
		require.NoError(t, err)
		kept := w.Acquire(other.Write())
		for _, i := range []int{0, 4, 1} { // the order in which they are known is not that in which they came
			r.waiting[i].Cancel(nil)
			require.Error(t, r.waiting[i].Failed())
		}
		closing := time.Now()
		go func() { _ = r.a.Close() }()
		for _, at := range r.waiting[2:4] {
			require.ErrorIs(t, at.Failed(), framework.ErrClosed)
		}
		require.Less(t, time.Since(closing), time.Second, "although the close waits for a lease")
		_ = kept.Release()
		require.NoError(t, r.held.Release())
	})
}

// When the session ends they join again, in the next one, in any order.
func TestSessionThatEndsBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "mutex", 4)
		w.Expire(r.a)
		w.After(time.Second)
		require.Len(t, w.Server.Children(path), 5)
		for _, node := range r.nodes {
			require.NotContains(t, w.Server.Children(path), node)
		}
		require.NoError(t, r.held.Release())
		for range r.waiting {
			w.Settle()
			for _, at := range r.waiting {
				if !at.Waiting() && at.Lease != nil {
					require.NoError(t, at.Lease.Release())
					at.Lease = nil
				}
			}
		}
		w.Settle()
		require.Empty(t, w.Server.Children(path))
	})
}

// One whose node another client deletes finds that out when it comes to the front, and
// joins again.
func TestNodeThatIsDeletedBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		r := newRank(t, w, "mutex", 3)
		w.Remove(w.Client("operator"), path+"/"+r.nodes[1])
		w.After(time.Second)
		require.NoError(t, r.held.Release())
		first := r.waiting[0].Granted()
		w.Settle()
		r.nodes[1] = r.last()
		require.Greater(t, number(r.nodes[1]), number(r.nodes[2]), "it has joined again")
		r.held, r.waiting, r.nodes = first, []*conformance.Attempt{r.waiting[2], r.waiting[1]}, []string{r.nodes[2], r.nodes[1]}
		r.drain(0, 1)
	})
}

// The connection breaks, also while one joins behind the front, whose node then stands
// or not. All are granted, in the order of their nodes.
func TestConnectionThatBreaksBehindTheFront(t *testing.T) {
	for name, strike := range map[string]func(r *zktest.Rule){
		"the create is dropped": func(r *zktest.Rule) { r.Cut() },
		"its answer is":         func(r *zktest.Rule) { r.After().Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				r := newRank(t, w, "mutex", 2)
				strike(w.Server.On(zktest.OpCreate, path).Client("a"))
				r.join(lease.Forever)
				w.After(time.Second)
				r.nodes[2] = r.last()
				w.Server.DropConnections("a")
				w.After(time.Second)
				require.Len(t, w.Server.Children(path), 4)
				r.join(lease.Forever)
				r.drain(0, 1, 2, 3)
			})
		})
	}
}
