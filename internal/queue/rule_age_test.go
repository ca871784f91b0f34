package queue_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// What a rule says may be older than a deletion that is learned of before the decision.
// Then it admits nobody: who has freed the place may have seen a later rule.
func TestARuleThatIsOlderThanADeletionDoesNotAdmit(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		stays := w.Acquire(mutexOf(t, w.Client("b")))
		var ahead []string
		for range 2 {
			made, err := a.CreateProtected(t.Context(), path+"/"+znode.Mutex, nil, framework.EphemeralSequential)
			require.NoError(t, err)
			ahead = append(ahead, made.Path)
		}
		q := *locks.Queue(a, path, znode.Mutex, queue.Self(""), 0)
		newest := q.Rule
		asked := 0
		q.Rule = func(ctx context.Context, c *framework.Client) (queue.Policy, error) {
			if asked++; asked != 2 {
				return newest(ctx, c)
			}
			assert.NoError(t, a.Delete(ctx, ahead[0], framework.AnyVersion))
			return func(znode.Name, queue.Ahead) []znode.Name { return nil }, nil // it admitted everybody
		}
		p := joined(t, &q, a)
		_, err := p.Listed(t.Context())
		require.NoError(t, err)
		admitted := make(chan error, 1)
		go func() {
			admitted <- p.AwaitAdmitted(t.Context(), &queue.Dependency{
				Watch:   func(context.Context) (*framework.Watch, bool, error) { return nil, false, nil },
				Changed: func(context.Context) bool { return false },
			}, false)
		}()
		synctest.Wait()
		require.NoError(t, a.Delete(t.Context(), ahead[1], framework.AnyVersion))
		synctest.Wait()
		require.Greater(t, asked, 1)
		require.Empty(t, admitted, "another client is ahead")
		require.NoError(t, stays.Release())
		require.NoError(t, <-admitted)
		p.Leave(t.Context())
	})
}
