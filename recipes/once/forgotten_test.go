package once_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// boundReads counts the reads of a client. It expires the session of one that reads
// again and again, as virtual time stands still meanwhile.
func boundReads(w *conformance.World, client string) *int {
	reads := 0
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client == client && c.Op == zktest.OpGetData && c.Phase == zktest.PhaseBeforeApply {
			if reads++; reads > 1000 {
				return zktest.ExpireSession
			}
		}
		return zktest.Pass
	})
	return &reads
}

// A tick that is forgotten while it runs is not recorded, and Record says so at once.
func TestForgottenWhileItRuns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
		var reads *int
		err := a.Tick(time.Now().Add(-time.Second)).Do(t.Context(), func(context.Context, *lease.Lease) error {
			time.Sleep(2 * time.Minute)
			require.NoError(t, b.Do(t.Context(), "another", nothing))
			w.Settle()
			reads = boundReads(w, "a")
			return nil
		})
		require.ErrorIs(t, err, once.ErrForgotten)
		require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Less(t, *reads, 10)
	})
}

// Two clients do a tick that is older than the retention, as the first run of a path.
// The one that waits learns that it is recorded, also of the other one's sweep.
func TestTickOlderThanTheRetention(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		tick, begun := time.Now().Add(-48*time.Hour), 0
		errs := make(chan error, 2)
		for _, name := range []string{"a", "b"} {
			r := newJob(t, w.Client(name)).Tick(tick)
			go func() {
				errs <- r.Do(t.Context(), func(context.Context, *lease.Lease) error {
					begun++
					time.Sleep(time.Second)
					return nil
				})
			}()
		}
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
		require.Equal(t, 1, begun)
		w.Settle()
		err := newJob(t, w.Client("late")).Tick(tick).Do(t.Context(), begins(&begun))
		require.True(t, err == nil || errors.Is(err, once.ErrForgotten), err)
		require.Equal(t, 1, begun)
	})
}

// A tick that is run late is forgotten during a run that is shorter than the retention.
func TestLateTickIsForgottenWhileItRuns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
		do(t, w, b.Key("first"))
		finished := make(chan error, 1)
		go func() {
			finished <- a.Tick(time.Now().Add(-50*time.Second)).Do(t.Context(), func(context.Context, *lease.Lease) error {
				time.Sleep(40 * time.Second)
				return nil
			})
		}()
		for i := range 30 {
			w.After(time.Second)
			do(t, w, b.Key(fmt.Sprint(i)))
		}
		reads := boundReads(w, "a")
		require.ErrorIs(t, <-finished, once.ErrForgotten)
		require.Less(t, *reads, 10)
	})
}
