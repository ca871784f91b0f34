package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The timeout is one for the line, the door and all that happens there.
func TestTimeoutIsOneForAll_Kazoo9(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 3), make(w.Client("b"), 3)
		held := []*lease.Lease{w.Acquire(a), w.Acquire(a), w.Acquire(a)}
		ahead := []*conformance.Attempt{ask(w, a, 1), ask(w, a, 1)}
		at := w.Start(several{b, 3}, 2500*time.Millisecond)
		for i, other := range ahead { // it comes nearer, and at last to the door
			w.After(time.Second)
			release(w, held[i])
			held = append(held, other.Granted())
		}
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.InDelta(t, 2500*time.Millisecond, at.Took, float64(60*time.Millisecond))
		release(w, held[2:]...)
	})
}

func TestTimeoutIsNotRestartedByLoss_Kazoo9(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		b := w.Client("b")
		held := w.Acquire(make(w.Client("a"), 1))
		at := w.Start(make(b, 1), 5*time.Second)
		for range 3 {
			w.After(time.Second)
			w.Expire(b)
		}
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.InDelta(t, 5*time.Second, at.Took, float64(110*time.Millisecond))
		release(w, held)
	})
}

// An attempt that does not wait keeps no place in line when it fails, or all others
// would wait behind it.
func TestFailedTryLeavesTheLine_Kazoo10(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 1), make(w.Client("b"), 1)
		warm(w, a)
		// The permit is taken by another between the look and the place in line.
		late := w.Server.On(zktest.OpCreate, path).Client("b").Before().Delay(time.Second)
		try := w.Start(b, 0)
		<-late.Fired()
		held := w.Acquire(a)
		require.ErrorIs(t, try.Failed(), lease.ErrTimeout)
		w.Settle()
		require.Len(t, places(w), 1)
		release(w, held)
		release(w, w.Start(a, 0).Granted())
	})
}

// Nor does it leave anything that takes a permit later.
func TestFailedTryNeverTakesAPermit_Kazoo11(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 2), make(w.Client("b"), 2)
		held := take(w, a, 2)
		require.ErrorIs(t, w.Start(b, 0).Failed(), lease.ErrTimeout)
		require.ErrorIs(t, w.Start(b, time.Second).Failed(), lease.ErrTimeout)
		require.ErrorIs(t, w.Start(several{b, 2}, time.Second).Failed(), lease.ErrTimeout)
		release(w, held)
		w.After(10 * time.Second)
		require.Empty(t, places(w))
	})
}

// What other clients write into their nodes, or nothing.
func TestContendersWithoutData_Kazoo12(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		s := newSemaphore(t, c, 20)
		warm(w, s)
		for i, data := range [][]byte{nil, {}, {10, 0, 0, 1}, []byte("null"), []byte(`"x"`), []byte(`{"pid":"x"}`), {0xff, '{'}} {
			for _, kind := range []string{"/leases/lease-", "/locks/lock-"} {
				_, err := c.Create(t.Context(), path+kind+"000000000"+string(rune('0'+i)), data, framework.Ephemeral)
				require.NoError(t, err)
			}
		}
		list, err := s.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 14)
		for i, contender := range list {
			require.Zero(t, contender.Holder, "nothing is made up from %s", contender.Node)
			require.Equal(t, i < 7, contender.Holding)
			require.NotEmpty(t, contender.String())
		}
		var timeout *lease.TimeoutError
		require.ErrorAs(t, w.Start(s, time.Second).Failed(), &timeout)
		require.Equal(t, 14, timeout.Ahead)
		require.Equal(t, list[0].Node, timeout.Node)
		require.Zero(t, timeout.Holder)
	})
}

// A connection that breaks and comes back loses no wake-up.
func TestReturnWhileWaiterIsDisconnected_Kazoo0937(t *testing.T) {
	for name, strike := range map[string]func(w *conformance.World){
		"refused":   func(w *conformance.World) { w.Server.RefuseConnections("b", true); w.Server.DropConnections("b") },
		"partition": func(w *conformance.World) { w.Server.Partition("b", true) },
		"stall":     func(w *conformance.World) { w.Server.Stall("b", true) },
	} {
		t.Run(name, func(t *testing.T) {
			inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
				a, b := make(w.Client("a"), 2), make(w.Client("b"), 2)
				held := w.Acquire(a)
				head, next := ask(w, b, 2), ask(w, b, 1)
				w.After(time.Second)
				strike(w)
				w.After(time.Second)
				release(w, held)
				w.After(time.Second)
				require.True(t, head.Waiting())
				w.Heal()
				got := head.Granted()
				require.Less(t, head.Took, conformance.SessionTimeout)
				release(w, got)
				release(w, next.Granted())
			})
		})
	}
}

// Processes that do not agree on the size are told, as kazoo's are.
func TestInconsistentSizes_KazooInconsistentMaxLeases(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		held := w.Acquire(make(w.Client("a"), 1))
		require.ErrorIs(t, w.Start(make(w.Client("b"), 2), lease.Forever).Failed(), semaphore.ErrSizeMismatch)
		release(w, held)
	})
}

func TestAcquireAgainAfterCancel_Kazoo87(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := make(w.Client("a"), 1)
		held := w.Acquire(make(w.Client("b"), 1))
		for range 3 {
			at := ask(w, a, 1)
			at.Cancel(errStopped)
			require.ErrorIs(t, at.Failed(), errStopped)
		}
		at := ask(w, a, 1)
		release(w, held)
		release(w, at.Granted())
	})
}

// Whatever the server refuses, the first error is told and nothing stays.
func TestFailuresLeaveNothing_Curator41(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData, zktest.OpMulti, zktest.OpSetData} {
		inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
			a, b := make(w.Client("a"), 1), make(w.Client("b"), 1)
			var held *lease.Lease
			if op != zktest.OpSetData { // which is for the first to come, to store the size
				held = w.Acquire(b)
			}
			refusal := w.Server.On(op, path).Client("a").Always().Fail(zktest.NoAuth)
			at := w.Start(a, time.Minute)
			w.After(conformance.SessionTimeout) // so that a single queue needs a transaction when it grants
			if at.Waiting() {                   // it has not come so far
				release(w, held)
				w.Settle()
				held = nil
			}
			require.ErrorIs(t, at.Failed(), framework.ErrNoAuth, "%v", op)
			refusal.Remove()
			if held != nil {
				release(w, held)
			}
			require.Empty(t, places(w))
			release(w, w.Start(a, 0).Granted())
		})
	}
}
