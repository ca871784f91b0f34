package acquire_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The session ends when a slot is handed over within it, before the grant: the lease
// that Acquire returns is one of the next session.
func TestSessionEndsBetweenHandOverAndGrant(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		recipe := acquire.Recipe{Client: c, Path: path, NotReentrant: true}
		held, err := recipe.Acquire(t.Context(), lease.Forever, deciding(c, func() {}))
		require.NoError(t, err)
		w.After(time.Second)
		w.Server.On(zktest.OpDelete, held.Path()).Client("a").Optional().Delay(time.Second)
		var handedOver *framework.Session
		granted := make(chan *lease.Lease, 1)
		go func() {
			next, err := recipe.Acquire(t.Context(), lease.Forever, deciding(c, func() {
				if handedOver == nil {
					handedOver = c.Session()
					w.Expire(c)
					<-handedOver.Done()
				}
			}))
			if err != nil {
				t.Error(err)
			}
			granted <- next
		}()
		w.Settle()
		require.Nil(t, handedOver, "the holder before has not released")
		go func() { _ = held.Release() }()
		next := <-granted
		require.NotNil(t, handedOver)
		require.NoError(t, next.Err())
		require.NotEqual(t, handedOver.ID(), c.Session().ID())
		info, ok := w.Server.Node(next.Path())
		require.True(t, ok)
		require.Equal(t, c.Session().ID(), info.EphemeralOwner)
		require.NoError(t, next.Release())
		leftNothing(t, w)
	})
}
