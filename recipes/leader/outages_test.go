package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Errors of the framework that pass do not end Lead.
func TestCampaignFailsForAWhile(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		a := w.Client("a", func(cfg *framework.Config) { cfg.Retry = retry.None() })
		refused := w.Server.On(zktest.OpCreate, path).Always().Fail(zktest.ThrottledOp)
		lead(w, newElection(t, a, "a"), o.until("a", 0))
		w.After(time.Minute)
		require.Empty(t, o.leaders())
		require.Less(t, w.Server.Count(zktest.OpCreate), 40)
		refused.Remove()
		o.next(t)

		ends := lead(w, newElection(t, w.Client("b", func(cfg *framework.Config) { cfg.Retry = retry.None() }), "b",
			leader.WithPace(retry.None())), o.until("b", 0))
		w.After(time.Second)
		require.True(t, ends.running())
		require.ErrorIs(t, ends.stop(), context.Canceled)
	})
}
