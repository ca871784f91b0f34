package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A delete of the node ahead that is refused, or whose outcome is unknown, admits no
// waiter of the client that has sent it.
func TestOnlyADeleteThatWasAnsweredAdmits(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(mutexOf(t, w.Client("b")))
		at := w.Start(mutexOf(t, a), lease.Forever)
		w.After(time.Second)

		require.ErrorIs(t, a.Delete(t.Context(), held.Path(), 7), framework.ErrBadVersion)
		w.After(time.Second)
		require.True(t, at.Waiting())

		w.Server.On(zktest.OpDelete, held.Path()).Client("a").DropReply()
		require.ErrorIs(t, a.Delete(t.Context(), held.Path(), framework.AnyVersion), framework.ErrUnknownOutcome)
		w.After(time.Second)
		require.True(t, at.Waiting())
		require.NoError(t, held.Confirm(t.Context()))
		require.NoError(t, held.Release())
		require.NoError(t, at.Granted().Release())
	})
}

// A name without a random id is deleted and used again, all while a listing is under
// way: the listing counts, not the deletion.
func TestANameThatIsUsedAgainCounts(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		require.NoError(t, operator.CreateParents(t.Context(), path+"/x"))
		plain, err := operator.Create(t.Context(), path+"/"+znode.Mutex, nil, framework.EphemeralSequential)
		require.NoError(t, err)
		foreign, err := operator.Create(t.Context(), path+"/"+znode.Mutex, nil, framework.EphemeralSequential)
		require.NoError(t, err)
		first := w.Start(mutexOf(t, a), lease.Forever)
		w.After(time.Second)

		w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(500 * time.Millisecond)
		second := w.Start(mutexOf(t, a), lease.Forever)
		w.Settle()
		w.Remove(operator, plain.Path) // the first has a watch there
		w.Settle()
		_, err = operator.Create(t.Context(), plain.Path, nil, framework.Ephemeral)
		require.NoError(t, err)
		w.After(time.Second)

		w.Remove(operator, foreign.Path)
		w.After(time.Second)
		require.True(t, first.Waiting(), "the name is in the queue again")
		w.Remove(operator, plain.Path)
		for _, at := range []*conformance.Attempt{first, second} {
			require.NoError(t, at.Granted().Release())
		}
	})
}

// The watch on the own node has fired because its data was set. It is set again before
// a deletion ahead may admit.
func TestOwnWatchIsSetAgain(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		held := w.Acquire(mutexOf(t, w.Client("b")))
		before := w.Ephemerals("/")
		at := w.Start(mutexOf(t, a), lease.Forever)
		w.After(time.Second)
		own := ""
		for _, node := range w.Ephemerals("/") {
			if node != before[0] {
				own = node
			}
		}
		_, err := operator.Set(t.Context(), own, []byte("x"), framework.AnyVersion)
		require.NoError(t, err)
		w.Settle()
		_, err = operator.Multi(t.Context(), framework.DeleteOp(own, framework.AnyVersion), framework.DeleteOp(held.Path(), framework.AnyVersion))
		require.NoError(t, err)
		got := at.Granted()
		require.NotEqual(t, own, got.Path())
		require.NoError(t, got.Confirm(t.Context()))
		require.NoError(t, got.Release())
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

// The own node is deleted before the watch on it is set, and the node ahead after that:
// the event of the latter does not admit.
func TestADeletionAheadWaitsForTheWatchOnTheOwnNode(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, operator := w.Client("a"), w.Client("operator")
		held := w.Acquire(mutexOf(t, w.Client("b")))
		before := w.Ephemerals("/")
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && c.Op == zktest.OpGetData && c.Phase == zktest.PhaseBeforeApply && c.Path != held.Path() {
				return zktest.Fail(zktest.ThrottledOp) // it is read again later
			}
			return zktest.Pass
		})
		at := w.Start(mutexOf(t, a), lease.Forever)
		own := slices.DeleteFunc(w.Ephemerals("/"), func(node string) bool { return slices.Contains(before, node) })
		require.Len(t, own, 1)
		w.Remove(operator, own[0])
		require.NoError(t, held.Release())
		w.Settle()
		require.True(t, at.Waiting())
		w.Server.SetFaults(nil)
		got := at.Granted()
		require.NotEqual(t, own[0], got.Path())
		require.NoError(t, got.Confirm(t.Context()))
		require.NoError(t, got.Release())
	})
}

// A listing that was sent before the create says nothing about its node.
func TestAnEarlierListingEvictsNoOne(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(mutexOf(t, w.Client("b")))
		first := w.Start(mutexOf(t, a), lease.Forever)
		w.After(time.Second)
		w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(500 * time.Millisecond)
		var second *conformance.Attempt
		joining := w.Requests(func() {
			second = w.Start(mutexOf(t, a), lease.Forever)
			w.After(time.Second)
		})
		require.Equal(t, 1, joining[zktest.OpCreate])
		require.Zero(t, joining[zktest.OpDelete])
		require.NoError(t, held.Release())
		for _, at := range []*conformance.Attempt{first, second} {
			require.NoError(t, at.Granted().Release())
		}
	})
}

// Waiters of one client share one look: a crowd joins with a create and a read each,
// and few listings, and each hand-over is one delete.
func TestCrowdSharesItsLooks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const crowd = 200
		a := w.Client("a")
		queue.SetFront(a, crowd)
		held := w.Acquire(mutexOf(t, w.Client("b")))
		var attempts []*conformance.Attempt
		w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(100 * time.Millisecond)
		joining := w.Requests(func() {
			for range crowd {
				attempts = append(attempts, w.Begin(t.Context(), mutexOf(t, a), lease.Forever))
			}
			w.After(time.Second)
		})
		require.Equal(t, crowd, joining[zktest.OpCreate])
		require.LessOrEqual(t, joining[zktest.OpGetChildren2], 3)
		require.LessOrEqual(t, joining[zktest.OpGetData], crowd+2, "their own nodes, and that of the holder, twice")
		draining := w.Requests(func() {
			require.NoError(t, held.Release())
			w.Settle() // else the first turn may find no lease, and there are only as many as leases
			for range attempts {
				for _, at := range attempts {
					if !at.Waiting() && at.Lease != nil {
						require.NoError(t, at.Lease.Release())
						at.Lease = nil
					}
				}
				w.Settle()
			}
		})
		require.Equal(t, crowd+1, draining[zktest.OpDelete])
		require.Zero(t, draining[zktest.OpGetChildren2]+draining[zktest.OpGetData]+draining[zktest.OpExists], "%v", draining)
	})
}
