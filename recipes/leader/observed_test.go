package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Each term of Lead is an acquire and a hold.
func TestObserversAreNotifiedOfTerms(t *testing.T) {
	t.Parallel()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		terms := 0
		err := newElection(t, c, "a").Lead(t.Context(), func(ctx context.Context, _ *lease.Lease) error {
			switch terms++; terms {
			case 1: // the session is lost
				w.Expire(c)
				<-ctx.Done()
				return ctx.Err()
			case 2:
				time.Sleep(time.Second)
				return nil
			}
			return leader.ErrStop
		})
		require.NoError(t, err)
		w.Settle()
		var acquired int
		var held []framework.HoldEnd
		for _, e := range w.Observed.Events() {
			switch e := e.(type) {
			case framework.AcquireEnd:
				require.NoError(t, e.Err)
				acquired++
			case framework.HoldEnd:
				require.Equal(t, lease.KindLeader, e.Recipe)
				held = append(held, e)
			}
		}
		require.Equal(t, 3, acquired)
		require.Len(t, held, 3)
		require.ErrorIs(t, held[0].Err, framework.ErrSessionLost)
		require.Equal(t, time.Second, held[1].Held)
		require.NoError(t, held[2].Err)
	})
}
