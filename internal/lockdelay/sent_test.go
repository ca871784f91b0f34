package lockdelay_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Many leases are released without waiting, and the client is closed at once.
func TestReleaseAsyncAndCloseIsClean(t *testing.T) {
	for _, n := range []int{1, 7, 20, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				var held []*lease.Lease
				for i := range n {
					m, err := mutex.New(a, fmt.Sprintf("/locks/%d", i), mutex.WithLockDelay(delay))
					require.NoError(t, err)
					held = append(held, w.Acquire(m))
				}
				var releases sync.WaitGroup
				for _, l := range held {
					releases.Go(func() { assert.NoError(t, l.ReleaseAsync()) })
				}
				releases.Wait()
				require.NoError(t, a.Close())
				w.Settle()
				left := 0
				for i := range n {
					left += len(records(w, fmt.Sprintf("/locks/%d", i)))
				}
				require.Zero(t, left, "ends that look unclean")
			})
		})
	}
}

// At each request of an Acquire and a Release the connection breaks once, before or
// after it takes effect. The release is clean, and no record stays.
func TestABreakAtEachRequest(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for _, phase := range []func(*zktest.Rule) *zktest.Rule{(*zktest.Rule).Before, (*zktest.Rule).After} {
			for _, action := range []zktest.Action{zktest.CutConnection, zktest.DropReply, zktest.Delay(400 * time.Millisecond)} {
				inWorld(t, func(t *testing.T, w *conformance.World) {
					a := w.Client("a")
					require.NoError(t, w.Acquire(delayed(t, a)).Release())
					w.Acquire(delayed(t, w.Client("dead")))
					kill(w, "dead", w.Named("dead"))
					w.Settle()
					phase(w.Server.On(zktest.AnyOp, path).Client("a")).Nth(n).Optional().Do(action)
					at := w.Start(delayed(t, a), time.Hour)
					held := at.Granted()
					require.GreaterOrEqual(t, at.Took, delay, "request %d", n)
					require.Less(t, at.Took, delay+10*time.Second, "request %d", n)
					require.Len(t, records(w, path), 1, "request %d", n)
					require.NoError(t, held.Release())
					w.After(conformance.SessionTimeout) // what was not answered is repeated
					require.NoError(t, a.Close())
					assert.Empty(t, records(w, path), "request %d, %v", n, action)
				})
			}
		}
	}
}
