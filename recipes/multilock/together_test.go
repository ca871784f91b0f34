package multilock_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Free locks of one client are acquired with one transaction, and a listing of each.
func TestFreeLocksTakeOneTransaction(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		many := []lease.Acquirer{newMutex(t, c, cart), newMutex(t, c, stock), must(rwlock.New(c, "/locks/read")).Read(), must(rwlock.New(c, "/locks/write")).Write()}
		l := lockOn(t, many)
		require.NoError(t, w.Acquire(l).Release()) // which makes the parents
		w.Settle()
		var held *lease.Lease
		counts := w.Requests(func() { held = w.Acquire(l) })
		maps.DeleteFunc(counts, func(op zktest.Op, n int) bool { return n == 0 })
		require.Equal(t, map[zktest.Op]int{zktest.OpMulti: 1, zktest.OpGetChildren2: 4}, counts)
		for _, token := range held.Tokens() {
			require.Equal(t, held.Tokens()[0], token)
		}
		require.NoError(t, held.Release())
	})
}

// Of the locks of which one is taken, none is held while that is waited for, but for
// those before it. Then a few calls do not try to acquire all at once.
func TestNotAllLocksAreFree(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		l := both(t, c, unlimited)
		require.NoError(t, w.Acquire(l).Release())
		for path, nodes := range map[string][]int{cart: {2, 0}, stock: {1, 2}} {
			blocking := w.Acquire(newMutex(t, other, path))
			at := w.Start(l, lease.Forever)
			require.Len(t, w.Ephemerals(cart), nodes[0], path)
			require.Len(t, w.Ephemerals(stock), nodes[1], path)
			require.NoError(t, blocking.Release())
			require.NoError(t, at.Granted().Release())
		}
		for i := range 10 {
			counts := w.Requests(func() { require.NoError(t, w.Acquire(l).Release()) })
			require.Equal(t, i >= 7, counts[zktest.OpMulti] == 1, "call %d: %v", i, counts)
		}
	})
}

// Where others of the client wait already no transaction is tried.
func TestOthersOfTheClientWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		require.NoError(t, w.Acquire(both(t, c)).Release())
		for _, path := range []string{cart, stock} {
			blocking := w.Acquire(newMutex(t, other, path))
			waiting := w.Start(newMutex(t, c, path), lease.Forever)
			w.After(time.Second)
			w.Server.ResetCounts()
			require.ErrorIs(t, w.Start(both(t, c), 100*time.Millisecond).Failed(), lease.ErrTimeout)
			require.Zero(t, w.Server.CountOf("a", zktest.OpMulti), path)
			require.NoError(t, blocking.Release())
			require.NoError(t, waiting.Granted().Release())
		}
	})
}

// The answer to the transaction is dropped: what it has made is found and deleted, and
// the locks are acquired one by one.
func TestTransactionWithoutAnAnswer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		require.NoError(t, w.Acquire(both(t, c)).Release())
		for _, strike := range []func(*zktest.Rule){
			func(r *zktest.Rule) { r.After().Cut() }, func(r *zktest.Rule) { r.Before().Cut() },
			func(r *zktest.Rule) { r.After().Mute() }, func(r *zktest.Rule) { r.After().DropReply() },
			func(r *zktest.Rule) { r.Before().Fail(zktest.NoAuth) }, func(r *zktest.Rule) { r.After().Expire() },
		} {
			rule := w.Server.On(zktest.OpMulti, cart).Client("a")
			strike(rule)
			held := w.Start(both(t, c), time.Minute).Granted()
			require.True(t, conformance.Closed(rule.Fired()))
			w.After(conformance.SessionTimeout)
			require.NoError(t, held.Confirm(t.Context()))
			require.Len(t, w.Ephemerals("/"), 2)
			require.NoError(t, held.Release())
			w.After(conformance.SessionTimeout)
			require.Empty(t, w.Ephemerals("/"))
		}
	})
}

// A node that is deleted while another queue is still to be listed, and whose slot
// another client has got by then, makes no lease, not even for a moment.
func TestNodeIsDeletedBeforeAllAreListed(t *testing.T) {
	for _, path := range []string{cart, stock} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c, operator, other := w.Client("a"), w.Client("operator"), w.Client("other")
			l := both(t, c)
			require.NoError(t, w.Acquire(l).Release())
			slow := w.Server.On(zktest.OpGetChildren2, stock).Client("a").After().Delay(500 * time.Millisecond)
			overlap := make(chan bool, 1)
			at := w.Begin(t.Context(), l, time.Minute)
			<-slow.Fired()
			w.Remove(operator, w.Ephemerals(path)[0])
			next := w.Start(newMutex(t, other, path), time.Minute).Granted()
			go func() {
				<-at.Done()
				overlap <- at.Lease.Err() == nil && next.Err() == nil
			}()
			w.After(2 * time.Second)
			require.True(t, at.Waiting())
			require.NoError(t, next.Release())
			require.False(t, <-overlap)
			require.NoError(t, at.Granted().Release())
		})
	}
}

// A parent that is missing is made by the call that finds it missing.
func TestParentsOfSomeLocksAreMissing(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		_, err := c.Create(t.Context(), "/locks", nil, framework.Persistent)
		require.NoError(t, err)
		_, err = c.Create(t.Context(), cart, nil, framework.Persistent)
		require.NoError(t, err)
		l := both(t, c)
		require.NoError(t, w.Acquire(l).Release())
		require.Equal(t, 1, w.Requests(func() { require.NoError(t, w.Acquire(l).Release()) })[zktest.OpMulti])
	})
}
