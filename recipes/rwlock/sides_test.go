package rwlock_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestNoWatchesAfterManyCycles_Curator107(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLock(t, w.Client("a")), newLock(t, w.Client("b"))
		for i := range 20 {
			held := w.Acquire(a.Write())
			waiting := w.Start(b.Read(), lease.Forever)
			short := w.Start(b.Write(), 30*time.Millisecond)
			require.ErrorIs(t, w.Start(b.Read(), 0).Failed(), lease.ErrTimeout)
			require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
			reading := downgrade(t, a, held)
			require.NoError(t, waiting.Granted().Release())
			require.NoError(t, reading.Release())
			w.Settle()
			require.Zero(t, w.Server.Watches(), "after cycle %d", i)
			require.Empty(t, children(w))
		}
	})
}

// The parent is removed as often as can be, while clients read, write and downgrade.
func TestParentIsReapedAllTheTime_CuratorD502(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		referee := &conformance.Referee{Shares: shares}
		var all sync.WaitGroup
		for i := range 10 {
			c := w.Client(fmt.Sprint("client", i))
			all.Go(func() { spin(t, referee, fmt.Sprint("client", i), newLock(t, c), uint64(i), 20) })
		}
		all.Wait()
		require.Empty(t, referee.Faults())
		w.After(time.Second)
		require.Empty(t, w.Server.Children("/locks"), "the parent goes when nobody uses it")
	}, zktest.WithReapInterval(10*time.Millisecond))
}

// A failure after the reader's node was made removes it, and costs the writer nothing.
func TestFailureInADowngradeLeavesNothing_CuratorTestLockInternals(t *testing.T) {
	for code, want := range map[zktest.Code]error{
		zktest.NoAuth: framework.ErrNoAuth, zktest.BadArguments: framework.ErrInvalidArgument, zktest.RuntimeInconsistency: lease.ErrTimeout,
	} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			l := newLock(t, w.Client("a"))
			writing := w.Acquire(l.Write())
			rule := w.Server.On(zktest.OpGetChildren2, path).Client("a").Always().Fail(code)
			require.ErrorIs(t, w.StartWith(writing.Context(), l.Read(), 5*time.Second).Failed(), want)
			w.After(time.Second)
			require.Len(t, children(w), 1)
			require.NoError(t, writing.Err())
			rule.Remove()
			require.NoError(t, downgrade(t, l, writing).Release())
		})
	}
}
