package semaphore_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

func TestInvalidArguments(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		for _, bad := range []string{"", "/", "relative", "/x/", "/x//y", "/x/../y"} {
			_, err := semaphore.New(a, bad, 1)
			require.ErrorIs(t, err, framework.ErrInvalidPath, "%q", bad)
		}
		for permits, hint := range map[int]string{-1: "-1 permits: give 1 or more, or 0 for the stored number", 1 << 31: "give at most 2147483647"} {
			_, err := semaphore.New(a, path, permits)
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
			require.ErrorContains(t, err, hint)
		}
		_, err := semaphore.New(nil, path, 1)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		_, err = semaphore.New(a, path, 1, semaphore.WithMaxHold(-1))
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.ErrorContains(t, err, "the maximum hold time -1ns is negative")
		s := newSemaphore(t, a, 1)
		for _, n := range []int{0, -1} {
			_, err = s.Weight(n).Acquire(t.Context(), 0)
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
			require.ErrorIs(t, s.Resize(t.Context(), n), framework.ErrInvalidArgument)
		}
		require.Empty(t, w.Server.Children("/pool"), "nothing was sent")
	})
}

func TestSeveralAreTakenTogetherOrNotAtAll(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 4)
		one := w.Acquire(s)
		three := take(w, s, 3)
		require.NoError(t, three.Confirm(t.Context()))
		all := ask(w, s, 4)
		release(w, one)
		require.True(t, all.Waiting(), "three are missing")
		release(w, three)
		got := all.Granted()
		require.ErrorIs(t, w.Start(s, 0).Failed(), lease.ErrTimeout)
		release(w, got)
		require.Empty(t, contenders(w))
	})
}

// A request for many permits waits only for requests before it.
func TestLargeRequestsDoNotStarve(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 3)
		first := take(w, s, 2)
		many := ask(w, s, 3)
		var few []*conformance.Attempt
		for range 5 {
			few = append(few, ask(w, s, 1))
		}
		require.True(t, few[0].Waiting(), "although one permit is free")
		require.ErrorIs(t, w.Start(s, 0).Failed(), lease.ErrTimeout)
		release(w, first)
		got := many.Granted()
		require.True(t, few[0].Waiting())
		release(w, got)
		for i, at := range few {
			if i < 3 {
				require.False(t, at.Waiting())
			}
			release(w, at.Granted())
		}
	})
}

func TestTooManyFailsAtOnce(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 3), make(w.Client("b"), 3)
		held := take(w, a, 3)
		waiting := ask(w, a, 1)
		for _, timeout := range []time.Duration{0, time.Hour, lease.Forever} {
			at := w.Start(b.Weight(4), timeout)
			err := at.Failed()
			require.ErrorIs(t, err, semaphore.ErrTooMany)
			require.ErrorContains(t, err, "acquire "+path+": more permits than there are: 4 asked for, 3 in all")
			require.Zero(t, at.Took)
		}
		release(w, held)
		release(w, waiting.Granted())
		for _, n := range []int{4, math.MaxInt32, math.MaxInt} {
			require.ErrorIs(t, w.Start(b.Weight(n), lease.Forever).Failed(), semaphore.ErrTooMany)
		}
		w.Settle()
		require.Empty(t, contenders(w))
	})
}

// A lease's context does not enter the semaphore again: it takes another permit.
func TestNotReentrant(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 2)
		held := w.Acquire(s)
		inner, err := s.Acquire(held.Context(), time.Second)
		require.NoError(t, err)
		require.NotEqual(t, held.Token(), inner.Token())
		_, err = s.Acquire(inner.Context(), time.Second)
		require.ErrorIs(t, err, lease.ErrTimeout, "it waits for itself")
		release(w, held)
		require.NoError(t, inner.Err())
		require.ErrorIs(t, context.Cause(inner.Context()), lease.ErrReleased, "it derives from the context of the other")
		release(w, inner)
	})
}

func TestAvailable(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 5)
		available := func() int {
			n, err := s.Available(t.Context())
			require.NoError(t, err)
			return n
		}
		require.Equal(t, 5, available(), "also if the path does not exist")
		two := take(w, s, 2)
		require.Equal(t, 3, available())
		four := ask(w, s, 4)
		require.Zero(t, available(), "a waiting client comes first")
		release(w, two)
		require.Equal(t, 1, available())
		require.NoError(t, s.Resize(t.Context(), 3))
		require.Zero(t, available())
		release(w, four.Granted())
		size, err := s.Size(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, size)
		require.Equal(t, 3, available())
	})
}

func TestMaxHold(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 2, semaphore.WithMaxHold(time.Second))
		held := take(w, s, 2)
		next := ask(w, s, 2)
		<-held.Context().Done()
		require.ErrorIs(t, held.Err(), lease.ErrMaxHold)
		got := next.Granted()
		require.InDelta(t, time.Second+conformance.SessionTimeout/6, next.Took, float64(50*time.Millisecond))
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		release(w, got)
	})
}

func TestContenders_CuratorTestGetParticipantNodes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newSemaphore(t, w.Client("a"), 3, semaphore.WithHolder("one")), newSemaphore(t, w.Client("b"), 3, semaphore.WithHolder("other"))
		none, err := a.Contenders(t.Context())
		require.NoError(t, err)
		require.Empty(t, none)
		held := take(w, a, 2)
		first, second := ask(w, b, 2), ask(w, a, 1)
		list, err := b.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 4)
		for i, c := range list {
			require.Equal(t, lease.KindSemaphore, c.Kind)
			require.Equal(t, i < 2, c.Holding, "holders first")
			require.Equal(t, []string{"one", "one", "other", "one"}[i], c.Holder.Who)
			require.NotZero(t, c.Session)
			if i < 2 {
				require.Equal(t, held.Token(), c.Token)
			} else {
				require.Zero(t, c.Token, "it has none yet")
			}
		}
		release(w, held)
		release(w, first.Granted(), second.Granted())
	})
}

func TestContendersOfASingleQueue(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := newSemaphore(t, w.Client("a"), 3, semaphore.WithSingleQueue())
		held := take(w, s, 2)
		first, second := ask(w, s, 2), ask(w, s, 1)
		list, err := s.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 3)
		for i, c := range list {
			require.Equal(t, lease.KindSemaphore, c.Kind)
			require.Equal(t, i == 0, c.Holding)
		}
		require.Equal(t, held.Token(), list[0].Token)
		release(w, held)
		release(w, first.Granted(), second.Granted())
	})
}

// The queue can be listed although no client is admitted.
func TestContendersWhileThereAreNoPermits(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		c := w.Client("a")
		s := make(c, 1)
		held := w.Acquire(s)
		_, err := c.Set(t.Context(), path, bytes(0), framework.AnyVersion)
		require.NoError(t, err)
		list, err := s.Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, held.Path(), list[0].Path)
		release(w, held)
	})
}

// The error names a holder, and says how many are in the way.
func TestTimeoutNamesAHolder(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := make(w.Client("a"), 2, semaphore.WithHolder("the holder"))
		b := make(w.Client("b"), 2, semaphore.WithHolder("a waiter"))
		held := []*lease.Lease{w.Acquire(a), w.Acquire(a)}
		var last *conformance.Attempt
		for ahead := 2; ahead < 4; ahead++ {
			var timeout *lease.TimeoutError
			require.ErrorAs(t, w.Start(b, time.Second).Failed(), &timeout)
			require.Equal(t, path, timeout.Path)
			require.Equal(t, ahead, timeout.Ahead)
			require.Equal(t, "the holder", timeout.Holder.Who)
			require.Equal(t, time.Second, timeout.Waited.Round(100*time.Millisecond))
			if ahead == 2 {
				last = ask(w, b, 2)
			}
		}
		var timeout *lease.TimeoutError
		require.ErrorAs(t, w.Start(b, 0).Failed(), &timeout)
		require.Positive(t, timeout.Ahead)
		require.NotEmpty(t, timeout.Node)
		release(w, held...)
		release(w, last.Granted())
	})
}
