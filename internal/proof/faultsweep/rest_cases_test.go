package faultsweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// rest is a minimum hold time.
const rest = 10 * time.Second

func TestReleaseAwaitsTheMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := must(mutex.New(w.Client("a"), path, mutex.WithMinHold(rest)))
		held := w.Acquire(m)
		w.After(rest / 4)
		began := time.Now()
		require.NoError(t, held.Release())
		require.Equal(t, rest*3/4, time.Since(began))
		require.Empty(t, w.Ephemerals(path))
	})
}

// A release waits for the rest of the minimum hold time, and a third of the session
// timeout for answers, also if it has to delete a record.
func TestReleaseWithoutAnswersAfterTheMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := must(mutex.New(w.Client("a"), path, mutex.WithMinHold(time.Second), mutex.WithLockDelay(delay)))
		held := w.Acquire(m)
		for _, op := range []zktest.Op{zktest.OpDelete, zktest.OpMulti} {
			w.Server.On(op, path).Client("a").After().DropReply()
		}
		began := time.Now()
		require.NoError(t, held.Release())
		require.LessOrEqual(t, time.Since(began), time.Second+conformance.SessionTimeout/3)
	})
}

func TestReleaseAsyncDoesNotWaitForTheMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(must(mutex.New(w.Client("a"), path, mutex.WithMinHold(rest))))
		began := time.Now()
		require.NoError(t, held.ReleaseAsync())
		require.Zero(t, time.Since(began))
		w.After(rest - time.Millisecond)
		require.Len(t, w.Ephemerals(path), 1)
		w.After(time.Millisecond)
		require.Empty(t, w.Ephemerals(path))
	})
}

func TestSessionEndsInTheMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		held := w.Acquire(must(mutex.New(c, path, mutex.WithMinHold(rest))))
		time.AfterFunc(time.Second, func() { w.Expire(c) })
		began := time.Now()
		require.NoError(t, held.Release())
		require.Less(t, time.Since(began), 2*time.Second)
	})
}

func TestCloseEndsTheMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		require.NoError(t, w.Acquire(must(mutex.New(c, path, mutex.WithMinHold(rest)))).ReleaseAsync())
		began := time.Now()
		require.NoError(t, c.Close())
		require.Less(t, time.Since(began), time.Second)
		require.Empty(t, w.Ephemerals(path))
	})
}

func TestLostLeaseHasNoMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(must(mutex.New(w.Client("a"), path, mutex.WithMinHold(rest))))
		w.After(time.Second)
		w.Remove(w.Client("operator"), held.Path())
		w.Settle()
		began := time.Now()
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		require.Zero(t, time.Since(began))
	})
}

func TestResizeHasNoMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		locks := must(striped.New(w.Client("a"), path, sizes[0], striped.WithMinHold(rest)))
		began := time.Now()
		resized, err := locks.Resize(t.Context(), sizes[1], time.Minute)
		require.NoError(t, err)
		require.Less(t, time.Since(began), rest)
		held := w.Acquire(resized.For(aKey))
		began = time.Now()
		require.NoError(t, held.Release())
		require.Equal(t, rest, time.Since(began))
	})
}
