package rwlock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// notified returns what observers were notified of, in short.
func notified(w *conformance.World) (all []string) {
	for _, e := range w.Observed.Events() {
		switch e := e.(type) {
		case framework.AcquireEnd:
			all = append(all, fmt.Sprintf("%s acquired, re-entered %t, %v", e.Recipe, e.Reentered, e.Err != nil))
		case framework.HoldInfo:
			all = append(all, e.Recipe+" held")
		case framework.HoldEnd:
			all = append(all, fmt.Sprintf("%s over after %v", e.Recipe, e.Held))
		}
	}
	return all
}

func TestObserversAreNotifiedOfADowngrade(t *testing.T) {
	t.Parallel()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		w.After(time.Second)
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		w.After(time.Second)
		require.NoError(t, writing.Release())
		w.After(time.Second)
		require.NoError(t, reading.Release())
		require.Equal(t, []string{
			"writer acquired, re-entered false, false", "writer held",
			"reader acquired, re-entered false, false", "reader held",
			"writer over after 2s", "reader over after 2s",
		}, notified(w))
	})
}

// A writer that waits for another one lists again when that is gone: so its hand-over
// begins before that.
func TestHandOverBeginsWithTheEvent(t *testing.T) {
	t.Parallel()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		writing := w.Acquire(newLock(t, w.Client("a")).Write())
		at := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
		w.After(time.Second)
		w.Server.On(zktest.OpGetChildren2, path).Client("b").After().Delay(time.Second)
		require.NoError(t, writing.Release())
		require.NoError(t, at.Granted().Release())
		require.Equal(t, []time.Duration{0, time.Second}, handOvers(w))
	})
}

func handOvers(w *conformance.World) (all []time.Duration) {
	for _, e := range w.Observed.Events() {
		if e, ok := e.(framework.AcquireEnd); ok {
			all = append(all, e.HandOver)
		}
	}
	return all
}

// An upgrade is refused, and a reader below a forked writer is part of the writer's
// hold.
func TestObserversAreNotifiedOfRefusalsAndEntries(t *testing.T) {
	t.Parallel()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		reading := w.Acquire(l.Read())
		_, err := l.Write().Acquire(reading.Context(), time.Second)
		require.Error(t, err)
		require.NoError(t, reading.Release())
		writing := w.Acquire(l.Write())
		inner, err := l.Read().Acquire(lease.Fork(writing.Context()), time.Second)
		require.NoError(t, err)
		require.NoError(t, inner.Release())
		require.NoError(t, writing.Release())
		require.Equal(t, []string{
			"reader acquired, re-entered false, false", "reader held", "writer acquired, re-entered false, true", "reader over after 0s",
			"writer acquired, re-entered false, false", "writer held", "reader acquired, re-entered true, false", "writer over after 0s",
		}, notified(w))
	})
}
