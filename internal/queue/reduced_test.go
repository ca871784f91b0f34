package queue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The listing shows the own node and one ahead. Both are deleted before the first
// decision, and only the deletion of the one ahead is known: it does not admit.
func TestADeletionBeforeTheFirstDecision(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		ahead, err := mutexOf(t, a).Acquire(t.Context(), 0)
		require.NoError(t, err)
		p := joined(t, locks.Queue(a, path, znode.Mutex, queue.Self(""), 0), a)
		_, err = p.Listed(t.Context())
		require.NoError(t, err)
		w.Remove(w.Client("operator"), p.Path())
		require.NoError(t, a.Delete(t.Context(), ahead.Path(), framework.AnyVersion))
		require.ErrorIs(t, p.AwaitAdmitted(t.Context(), nil, false), queue.ErrEvicted)
		p.Leave(t.Context())
	})
}

// The deletion of a writer that a listing shows has those behind it list again, and
// nobody ahead of it.
func TestAWriterBehindThatLeavesHasNobodyListAgain(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		q := locks.Queue(a, path, znode.Writer, queue.Self(""), 0)
		var both []*queue.Position
		for range 2 {
			p := joined(t, q, a)
			_, err := p.Listed(t.Context())
			require.NoError(t, err)
			both = append(both, p)
		}
		both[1].Leave(t.Context())
		w.Server.ResetCounts()
		require.NoError(t, both[0].AwaitAdmitted(t.Context(), nil, false))
		require.Zero(t, w.Server.Count(zktest.OpGetChildren2))
		both[0].Leave(t.Context())
	})
}
