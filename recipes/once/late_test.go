package once_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A tick is run so late that its own record moves the moment past it. Another Record
// under the same lease finds that record.
func TestLateTickIsRecordedTwice(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		do(t, w, j.Key("before")) // swept up to a day ago
		r := j.Tick(time.Now().Add(-23 * time.Hour))
		w.After(4 * time.Hour)
		held := w.Acquire(r)
		require.NoError(t, r.Record(t.Context(), held))
		require.ErrorIs(t, w.Start(j.Tick(time.Now().Add(-28*time.Hour)), 0).Failed(), once.ErrForgotten)
		require.NoError(t, r.Record(t.Context(), held))
		require.NoError(t, held.Release())
		do(t, w, r)
	})
}

// A client that comes late to sweep does not stop the one that does.
func TestLateSweeper(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a"), once.WithRetention(time.Hour)), newJob(t, w.Client("b"), once.WithRetention(time.Hour))
		for _, key := range []string{"1", "2", "3"} {
			do(t, w, a.Key(key))
		}
		w.After(90 * time.Minute)
		reads, removals := 0, 0
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			switch {
			case c.Phase != zktest.PhaseBeforeApply || !strings.HasPrefix(c.Path, path):
			case c.Client == "b" && c.Op == zktest.OpGetData && c.Path == done:
				if reads++; reads == 3 { // the third is that of its sweep
					return zktest.Delay(100 * time.Millisecond)
				}
			case c.Client == "a" && c.Op == zktest.OpMulti && c.Path == done:
				removals++
				return zktest.Delay(200 * time.Millisecond)
			}
			return zktest.Pass
		})
		var both sync.WaitGroup
		both.Go(func() { do(t, w, b.Key("b")) })
		w.After(50 * time.Millisecond)
		both.Go(func() { do(t, w, a.Key("a")) })
		both.Wait()
		w.Server.SetFaults(nil)
		require.Equal(t, 3, reads)
		require.Equal(t, 1, removals)
		require.Len(t, w.Server.Children(done), 2)
	})
}
