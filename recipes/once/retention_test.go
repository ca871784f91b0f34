package once_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// slow has each request take a millisecond.
func slow(w *conformance.World) {
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Phase == zktest.PhaseBeforeApply {
			return zktest.Delay(time.Millisecond)
		}
		return zktest.Pass
	})
}

// A retention that never ends does not have records looked through again and again.
func TestEndlessRetention(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"), once.WithRetention(math.MaxInt64))
		for i := range 100 {
			do(t, w, j.Key(fmt.Sprint(i)))
			w.After(time.Second)
		}
		require.LessOrEqual(t, w.Server.Count(zktest.OpSetData), 2)
		require.Len(t, w.Server.Children(done), 100)
	})
}

// Processes that end as soon as they have done one run remove old records too.
func TestShortLivedProcesses(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		slow(w)
		for range 120 { // two minutes
			tick := time.Now().Truncate(time.Second)
			c := w.Client("a")
			require.NoError(t, newJob(t, c, once.WithRetention(time.Minute)).Tick(tick).Do(t.Context(), nothing))
			require.NoError(t, c.Close())
			w.After(time.Until(tick.Add(time.Second)))
		}
		require.LessOrEqual(t, len(w.Server.Children(done)), 80)
	})
}

// Where many records are made all the time, old ones are removed in time.
func TestManyYoungRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.MaxReplyBytes = 16 << 20 })
		j := newJob(t, c, once.WithRetention(time.Minute))
		do(t, w, j.Key("first"))
		slow(w)
		const each = 10
		for i := range 100 {
			ops := make([]framework.Op, each)
			for n := range ops {
				ops[n] = framework.CreateOp(fmt.Sprintf("%s/%d.key", done, each*i+n), nil, framework.Persistent)
			}
			_, err := c.Multi(t.Context(), ops...)
			require.NoError(t, err)
			do(t, w, j.Key(fmt.Sprint("a", i)))
			w.After(time.Second)
		}
		require.LessOrEqual(t, len(w.Server.Children(done)), 80*(each+1))
	}, zktest.WithTraceLimit(0))
}

// Close does not wait for what is left to remove.
func TestCloseWhileRecordsAreRemoved(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		j := newJob(t, c, once.WithRetention(time.Minute))
		for i := range 300 {
			do(t, w, j.Key(fmt.Sprint(i)))
		}
		w.After(2 * time.Minute)
		removing := w.Server.On(zktest.OpMulti, done)
		removing.Delay(10 * time.Second)
		finished := begin(t, j.Key("a"))
		<-removing.Fired()
		began := time.Now()
		require.NoError(t, c.Close())
		require.NoError(t, <-finished)
		require.Less(t, time.Since(began), conformance.SessionTimeout)
		require.NoError(t, newJob(t, w.Client("b")).Do(t.Context(), "a", nothing))
	})
}
