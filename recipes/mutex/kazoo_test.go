package mutex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
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

// Nodes behind do not matter, whatever their names are.
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

// Each waiter watches the nearest node ahead, so one release wakes one waiter.
func TestOneReleaseWakesOneWaiter_Kazoo7DD4(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempts := queueUp(w, b, 5)
		for _, at := range attempts {
			events := w.Events("b", func() {
				require.NoError(t, held.Release())
				held = at.Granted()
			})
			require.LessOrEqual(t, events, 1, "the release wakes only its successor")
		}
		require.NoError(t, held.Release())
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
