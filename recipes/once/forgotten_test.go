package once_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A tick that is forgotten while it runs is not recorded, and Record says so at once.
func TestForgottenWhileItRuns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
		reads := 0
		err := a.Tick(time.Now().Add(-time.Second)).Do(t.Context(), func(context.Context, *lease.Lease) error {
			time.Sleep(2 * time.Minute)
			require.NoError(t, b.Do(t.Context(), "another", nothing))
			w.Settle()
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Op == zktest.OpGetData && c.Phase == zktest.PhaseBeforeApply {
					if reads++; reads > 1000 {
						return zktest.ExpireSession
					}
				}
				return zktest.Pass
			})
			return nil
		})
		require.ErrorIs(t, err, once.ErrForgotten)
		require.NotErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Less(t, reads, 10)
	})
}
