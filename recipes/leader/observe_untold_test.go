package leader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What no event tells an observer, because it may not read the node just then, it finds out
// in about a session timeout.
func TestObserveWhatNoEventTells(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const untold = conformance.SessionTimeout*5/4 + time.Second
		operator, a := w.Client("operator"), w.Client("a")
		hide := func(node string) {
			_, err := operator.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll&^framework.PermRead), framework.AnyVersion)
			require.NoError(t, err)
		}
		show := func(node string) {
			_, err := operator.SetACL(t.Context(), node, framework.WorldACL(framework.PermAll), framework.AnyVersion)
			require.NoError(t, err)
		}
		first := w.Acquire(newElection(t, a, "first"))
		look := observe(w, newElection(t, w.Client("o"), ""), nil)
		w.Server.ResetCounts()
		w.After(time.Minute)
		require.LessOrEqual(t, w.Server.CountOf("o", zktest.OpExists), conformance.LooksAgain(time.Minute))
		require.Zero(t, w.Server.CountOf("o", zktest.OpGetChildren2), "no listing while somebody leads")
		require.Equal(t, []string{"first"}, look.who())

		hide(first.Path())
		w.Remove(operator, first.Path())
		w.After(untold)
		require.ErrorIs(t, first.Release(), lease.ErrLost)
		require.Equal(t, []string{"first", ""}, look.who())

		hide(path)
		second, err := operator.Create(t.Context(), path+"/latch-", []byte("second"), framework.EphemeralSequential)
		require.NoError(t, err)
		show(path)
		w.After(untold)
		require.Equal(t, []string{"first", "", "second"}, look.who())
		w.Remove(operator, second.Path)
		w.Settle()
		require.Equal(t, []string{"first", "", "second", ""}, look.who())
	})
}
