package mutex_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// queueUp starts n waiters of one client, in order.
func queueUp(w *conformance.World, c *framework.Client, n int) []*conformance.Attempt {
	w.T.Helper()
	attempts := make([]*conformance.Attempt, n)
	for i := range attempts {
		attempts[i] = w.Start(newMutex(w.T, c), lease.Forever)
	}
	return attempts
}

// Those behind do not matter, whatever their names look like.
func TestOnlyThoseAheadCount_Kazoo649(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, a), lease.Forever)
		for _, name := range []string{"0-lock-0000000007", "_c_00000000-0000-4000-8000-000000000000-lock-0000000008"} {
			_, err := a.Create(t.Context(), path+"/"+name, nil, framework.Ephemeral)
			require.NoError(t, err)
		}
		require.NoError(t, held.Release())
		require.NoError(t, attempt.Granted().Release())
	})
}

// Everybody watches the nearest one ahead, so that one release wakes one waiter.
func TestOneReleaseWakesOneWaiter_Kazoo7DD4(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempts := queueUp(w, b, 5)
		for _, at := range attempts {
			events := 0
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Phase == zktest.PhaseEvent && c.Client == "b" {
					events++
				}
				return zktest.Pass
			})
			require.NoError(t, held.Release())
			held = at.Granted()
			w.Settle()
			require.LessOrEqual(t, events, 1, "the release wakes its successor alone")
			w.Server.SetFaults(nil)
		}
		require.NoError(t, held.Release())
	})
}

// The connection breaks and comes back while somebody waits, and what it waits
// for has happened meanwhile.
func TestReleaseWhileWaiterIsDisconnected_Kazoo0937(t *testing.T) {
	for name, strike := range map[string]func(w *conformance.World){
		"refused":   func(w *conformance.World) { w.Server.RefuseConnections("b", true); w.Server.DropConnections("b") },
		"partition": func(w *conformance.World) { w.Server.Partition("b", true) },
		"stall":     func(w *conformance.World) { w.Server.Stall("b", true) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				held := w.Acquire(newMutex(t, a))
				attempt := w.Start(newMutex(t, b), lease.Forever)
				session := b.Session().ID()
				strike(w)
				w.After(time.Second)
				require.NoError(t, held.Release())
				w.After(time.Second)
				require.True(t, attempt.Waiting())
				w.Heal()
				got := attempt.Granted()
				require.Equal(t, session, b.Session().ID(), "the place in the line was kept")
				require.NoError(t, got.Release())
			})
		})
	}
}

// A waiter whose predecessor lives on gets no event on coming back; it still waits.
func TestReconnectWithoutReleaseKeepsWaiting_Kazoo0937(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), lease.Forever)
		for range 5 {
			w.Server.DropConnections("")
			w.After(time.Second)
			require.True(t, attempt.Waiting())
			require.NoError(t, held.Err())
			require.Len(t, children(w), 2)
		}
		require.NoError(t, held.Release())
		require.NoError(t, attempt.Granted().Release())
	})
}

// Clean-up after an attempt that does not wait is as stubborn as after any other.
func TestFailedTryIsCleanedUp_Kazoo288(t *testing.T) {
	cases := map[string]func(w *conformance.World){
		"create, then gone": func(w *conformance.World) {
			w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
			w.Server.RefuseConnections("a", true)
		},
		"listing, then gone": func(w *conformance.World) {
			w.Server.On(zktest.OpGetChildren2, path).Client("a").Nth(2).Cut()
			w.Server.RefuseConnections("a", true)
		},
	}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				warm(w, b)
				arrange(w)
				attempt := w.Start(newMutex(t, a), 0)
				require.ErrorIs(t, attempt.Failed(), lease.ErrTimeout)
				require.LessOrEqual(t, attempt.Took, conformance.SessionTimeout/3+100*time.Millisecond)
				require.Len(t, children(w), 1)
				w.Server.RefuseConnections("a", false)
				w.After(2 * time.Second)
				require.Empty(t, children(w))
				require.NoError(t, w.Acquire(newMutex(t, b)).Release())
			})
		})
	}
}

func TestAcquireAgainAfterCancel_Kazoo87(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		m := newMutex(t, a)
		held := w.Acquire(newMutex(t, w.Client("b")))
		for range 3 {
			attempt := w.Start(m, lease.Forever)
			attempt.Cancel(errors.New("not now"))
			require.Error(t, attempt.Failed())
		}
		attempt := w.Start(m, lease.Forever)
		require.NoError(t, held.Release())
		require.NoError(t, attempt.Granted().Release())
	})
}

// The timeout is one for all that happens, not one for each thing.
func TestTimeoutIsNotRestarted_Kazoo605(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := []*lease.Lease{w.Acquire(newMutex(t, a))}
		ahead := queueUp(w, a, 3)
		attempt := w.Start(newMutex(t, b), 2500*time.Millisecond)
		for _, at := range ahead {
			w.After(time.Second)
			require.NoError(t, held[len(held)-1].Release())
			held = append(held, at.Granted())
		}
		require.ErrorIs(t, attempt.Failed(), lease.ErrTimeout)
		require.InDelta(t, 2500*time.Millisecond, attempt.Took, float64(60*time.Millisecond))
		require.NoError(t, held[len(held)-1].Release())
	})
}

// Nor is it by the loss of a session or of the node.
func TestTimeoutIsNotRestartedByLoss_Kazoo605(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), 5*time.Second)
		for range 3 {
			w.After(time.Second)
			w.Expire(b)
		}
		require.ErrorIs(t, attempt.Failed(), lease.ErrTimeout)
		require.InDelta(t, 5*time.Second, attempt.Took, float64(110*time.Millisecond))
		require.NoError(t, held.Release())
	})
}

// A try that fails leaves nothing that could take the lock later.
func TestFailedTryNeverTakesTheLock_Kazoo87FE(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		require.ErrorIs(t, w.Start(newMutex(t, b), 0).Failed(), lease.ErrTimeout)
		require.ErrorIs(t, w.Start(newMutex(t, b), time.Second).Failed(), lease.ErrTimeout)
		require.NoError(t, held.Release())
		w.After(10 * time.Second)
		require.Empty(t, children(w))
		require.Zero(t, w.Server.Watches())
	})
}

func TestContenderWithoutData_Kazoo569(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		warm(w, a)
		for i, data := range [][]byte{nil, {}, {10, 0, 0, 1}, []byte("10.0.0.1"), []byte("null"), []byte(`"x"`), []byte(`{"pid":"x"}`), []byte("__REVOKE__"), {0xff, 0xfe, '{'}} {
			name := path + "/_c_00000000-0000-4000-8000-00000000000" + string(rune('0'+i)) + "-lock-000000000" + string(rune('0'+i))
			_, err := a.Create(t.Context(), name, data, framework.Ephemeral)
			require.NoError(t, err)
		}
		list, err := newMutex(t, a).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 9)
		for _, c := range list {
			require.Zero(t, c.Holder, "nothing is made up from %s", c.Node)
			require.NotEmpty(t, c.String())
		}
		var timeout *lease.TimeoutError
		require.ErrorAs(t, w.Start(newMutex(t, a), time.Second).Failed(), &timeout)
		require.Equal(t, list[0].Node, timeout.Node)
		require.Zero(t, timeout.Holder)
		require.Contains(t, timeout.Error(), list[0].Node)
	})
}
