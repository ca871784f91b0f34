package mutex_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// The names of tests that end in "_Curator45" or "_Kazoo6" are those of bugs that
// Apache Curator and kazoo had under that number of their trackers, or that were found
// by reading their sources ("_CuratorR1").

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/locks/orders"

func newMutex(tb testing.TB, c *framework.Client, opts ...mutex.Option) *mutex.Mutex {
	tb.Helper()
	m, err := mutex.New(c, path, opts...)
	require.NoError(tb, err)
	return m
}

// warm uses the mutex once, so that its parent exists.
func warm(w *conformance.World, c *framework.Client) {
	w.T.Helper()
	require.NoError(w.T, w.Acquire(newMutex(w.T, c)).Release())
	w.Settle()
}

// children returns the nodes of the mutex's queue.
func children(w *conformance.World) []string { return w.Server.Children(path) }
