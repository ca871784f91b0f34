package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Servers before 3.5 have no containers. Then a lock-delay is stored in a node that
// stays, and so is its parent.
func TestLockDelayOnAServerWithoutContainers(t *testing.T) {
	for name, opts := range map[string][]zktest.Option{
		"which says so":  {zktest.WithUnsupported(zktest.OpCreateContainer)},
		"which hangs up": nil,
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *world) {
				if opts == nil {
					w.Server.On(zktest.OpCreateContainer, "").Optional().Always().Cut()
				}
				a := delayedMutex(w.Client("a"), at)
				begun := time.Now()
				give(w, w.StartWith(t.Context(), a, time.Minute).Granted())
				require.Less(t, time.Since(begun), conformance.SessionTimeout)
				w.After(3 * zktest.DefaultReapInterval)
				for _, path := range []string{at, at + "/lock-delay"} {
					node, ok := w.Server.Node(path)
					require.True(t, ok)
					require.False(t, node.Container)
				}
				require.Empty(t, w.Server.Children(at+"/lock-delay"))

				endsUncleanly(w, delayedMutex)
				require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrLockDelay)
				give(w, w.Start(a, 2*delay).Granted())
			}, opts...)
		})
	}
}
