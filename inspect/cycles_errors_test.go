package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestCyclesThatFail(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, path := range []string{"", "x", "/x/", "/locks/lock-0000000001", "/locks/lock-delay"} {
			_, err := inspect.Cycles(t.Context(), c, path)
			require.ErrorIs(t, err, framework.ErrInvalidPath, path)
			require.ErrorContains(t, err, "inspect: ")
		}
		for _, path := range []string{"/", "/x"} {
			_, err := inspect.Cycles(t.Context(), nil, path)
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		r := newRing(t, w)
		for op, n := range w.Requests(func() { cycles(t, r.reader, "/locks") }) {
			for i := range n {
				rule := w.Server.On(op, "/locks").Client("reader").Nth(i + 1).Before()
				rule.Fail(zktest.BadArguments)
				found, err := inspect.Cycles(t.Context(), r.reader, "/locks")
				require.Error(t, err, "%v %d", op, i+1)
				require.ErrorContains(t, err, "/locks")
				require.Nil(t, found)
				rule.Remove()
			}
		}
		r.end(t)
		require.NoError(t, c.Close())
		_, err := inspect.Cycles(t.Context(), c, "/locks")
		require.ErrorIs(t, err, framework.ErrClosed)
	})
}

// What may not be read is left out and named, whichever request finds out.
func TestWhatCyclesMayNotRead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := permitsAt(t, w.Client("a"), "/locks/s", "a", 1, nil)
		held, c := w.Acquire(a), w.Client("c")
		self := within(w, held, a)
		r := newRing(t, w)
		found := 0
		for op, n := range w.Requests(func() { cycles(t, c, "/locks") }) {
			for i := range n {
				rule := w.Server.On(op, "/locks").Client("c").Nth(i + 1).Before()
				rule.Fail(zktest.NoAuth)
				s, err := inspect.Cycles(t.Context(), c, "/locks")
				require.NoError(t, err, "%v %d", op, i+1)
				require.Len(t, s.Unreadable, 1, "%v %d", op, i+1)
				require.Contains(t, []string{"/locks", "/locks/s", "/locks/s/locks", "/locks/s/leases", "/locks/x", "/locks/y"}, s.Unreadable[0])
				require.Less(t, len(s.Cycles), 2, "%v %d", op, i+1)
				found += len(s.Cycles)
				rule.Remove()
			}
		}
		require.NotZero(t, found, "the rest is looked at")
		require.Len(t, cycles(t, c, "/locks").Cycles, 2)
		ends(t, []*lease.Lease{held}, self)
		r.end(t)
	})
}

// Nodes that go meanwhile are no error.
func TestWhatGoesWhileCyclesAreLookedFor(t *testing.T) {
	for nth := 1; nth <= 12; nth++ {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			c, other := w.Client("a"), w.Client("other")
			for _, path := range []string{"/app/x/lock-", "/app/x/lock-", "/app/s/leases/lease-", "/app/s/locks/lock-", "/app/e/latch-", "/app/e/latch-"} {
				foreign(t, other, path)
			}
			before(w, "a", "/app", nth, func() { _ = other.DeleteTree(t.Context(), "/app") })
			require.Empty(t, cycles(t, c, "/app").Cycles)
			require.Equal(t, &inspect.CycleSurvey{}, cycles(t, c, "/app"))
		})
	}
}
