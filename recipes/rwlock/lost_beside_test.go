package rwlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var errStopped = errors.New("stopped by the test")

// The write lease is lost while its session lives, or the work ends, just before an answer
// comes that a downgrade waits for. The reader's place might be safe, but nobody is given it:
// who asked believed to be a writer.
func TestWriteLeaseIsLostJustBeforeAnAnswer(t *testing.T) {
	const held, late = 3 * time.Second, 600 * time.Millisecond
	for name, c := range map[string]struct {
		end    func(w *conformance.World, down *conformance.Attempt)
		reason error
		lost   bool
	}{
		"held for too long": {func(*conformance.World, *conformance.Attempt) {}, lease.ErrMaxHold, true},
		"suspended":         {func(w *conformance.World, _ *conformance.Attempt) { w.Server.DropConnections("a") }, lease.ErrSuspended, true},
		"called off":        {func(_ *conformance.World, down *conformance.Attempt) { down.Cancel(errStopped) }, errStopped, false},
	} {
		for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2} {
			t.Run(name+", "+op.String(), func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					l := newLock(t, w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = true }), rwlock.WithMaxHold(held))
					session := w.Known("a").Session()
					writing := w.Acquire(l.Write())
					w.After(held - late/2)
					answer := w.Server.On(op, path).Client("a").After().Delay(late)
					// In a context of its own, so that only the lease knows.
					down := w.StartWith(context.WithoutCancel(writing.Context()), l.Read(), time.Minute)
					<-answer.Fired()
					require.True(t, down.Waiting())
					c.end(w, down)
					require.ErrorIs(t, down.Failed(), c.reason)
					require.Equal(t, c.lost, errors.Is(down.Err, lease.ErrLost))
					_ = writing.Release()
					w.After(conformance.SessionTimeout)
					require.Empty(t, children(w), "nodes left")
					w.Server.ResetCounts()
					w.After(3 * conformance.SessionTimeout)
					require.Zero(t, w.Server.Count(zktest.OpMulti), "nothing is relied on")
					require.NoError(t, session.Err(), "so no quorum has to vouch for it")
				})
			})
		}
	}
}
