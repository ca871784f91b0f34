package semaphore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Several permits are one acquire and one hold. The hand-over of the last permit that
// was missing is measured, not that of the queue position.
func TestObserversAreNotifiedOfPermits(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, w *conformance.World, newOne maker) {
		s, other := newOne(w.Client("a"), 5), newOne(w.Client("b"), 5)
		held := take(w, s, 3)
		at := ask(w, other, 4)
		w.After(conformance.SessionTimeout)
		require.NoError(t, held.Release())
		require.NoError(t, at.Granted().Release())
		var acquired, ended []int
		for _, e := range w.Observed.Events() {
			switch e := e.(type) {
			case framework.AcquireEnd:
				require.Equal(t, lease.KindSemaphore, e.Recipe)
				require.Equal(t, path, e.Path)
				acquired = append(acquired, e.Permits)
				if e.Permits == 4 {
					require.Equal(t, conformance.SessionTimeout, e.Waited)
					require.Zero(t, e.HandOver, "in virtual time")
				}
			case framework.HoldEnd:
				require.NoError(t, e.Err)
				ended = append(ended, e.Permits) // when the release was answered, which the next acquire need not wait for
			}
		}
		require.Equal(t, []int{3, 4}, acquired)
		require.Equal(t, []int{3, 4}, ended)
	})
}

// The error of a timeout says no more than observers are told.
func TestObserversAreToldOfAllWhoAreAhead(t *testing.T) {
	t.Parallel()
	inLayouts(t, func(t *testing.T, w *conformance.World, newOne maker) {
		s, other := newOne(w.Client("a"), 5), newOne(w.Client("b"), 5)
		held := take(w, s, 5)
		first := ask(w, other, 1)
		second := w.Start(other.Weight(1), time.Second)
		var late *lease.TimeoutError
		require.ErrorAs(t, second.Failed(), &late)
		require.NoError(t, held.Release())
		require.NoError(t, first.Granted().Release())
		for _, e := range w.Observed.Events() {
			if e, ok := e.(framework.AcquireEnd); ok && e.Err != nil {
				require.Equal(t, late.Ahead, e.Ahead)
			}
		}
	})
}
