package conformance_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Another client deletes the znode of a hold before that has a watch on it. The session
// has room for another one then.
func TestNodeThatIsDeletedBeforeItIsWatchedTakesNoRoom(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(c *framework.Config) { c.MaxEphemeralBytes, c.Sessions = 120, 1 })
		m := must(mutex.New(a, "/m"))
		for range 3 {
			held := w.Acquire(m)
			w.Remove(w.Named("operator"), held.Path())
			w.After(2 * hold.LookDelay)
			require.ErrorIs(t, held.Release(), lease.ErrDeleted)
		}
	})
}

// A node that was searched for leaves room for the next one, also if
// its delete was never answered.
func TestRoomAfterACleanUpWithoutAnAnswer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(c *framework.Config) { c.MaxEphemeralBytes, c.Sessions = 400, 1 })
		require.NoError(t, w.Acquire(must(mutex.New(a, "/m"))).Release())
		for range 8 {
			create := w.Server.On(zktest.OpCreate, "/m").Client("a").After()
			create.Cut()
			w.Server.On(zktest.OpDelete, "/m").Client("a").After().Cut()
			at := w.Begin(t.Context(), must(mutex.New(a, "/m")), time.Minute)
			select {
			case <-create.Fired():
			case <-at.Done():
			}
			at.Cancel(context.Canceled)
			require.ErrorIs(t, at.Failed(), context.Canceled)
			w.After(3 * time.Second)
			require.Empty(t, w.Ephemerals("/"))
		}
	})
}
