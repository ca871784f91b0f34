package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An acquire that must not wait awaits no answer for longer than a third of the session
// timeout, also not that with the number, when it has a stripe already.
func TestNumberIsNotAwaitedForLong(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		release(w, w.Acquire(newLocks(t, c, 1).For("key")))
		for _, ask := range []lease.Acquirer{newLocks(t, c, 1).For("key"), anyStripe(newLocks(t, c, 1))} {
			w.After(3 * conformance.SessionTimeout) // the number is not known any more
			dropped := w.Server.On(zktest.OpGetData, path).Client("a").Nth(2).After().DropReply()
			at := w.Start(ask, 0)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
			require.True(t, conformance.Closed(dropped.Fired()))
			require.LessOrEqual(t, at.Took, conformance.SessionTimeout/3+100*time.Millisecond)
			w.After(conformance.SessionTimeout)
			require.Empty(t, w.Ephemerals("/"))
		}
	})
}
