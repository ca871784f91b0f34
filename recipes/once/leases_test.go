package once_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// A lease on two runs records neither.
func TestRunInAMultilock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"))
		require.NoError(t, j.Do(t.Context(), "first", nothing))
		both, err := multilock.New([]lease.Acquirer{j.Key("a"), j.Key("b")})
		require.NoError(t, err)
		held := w.Acquire(both)
		for _, key := range []string{"a", "b"} {
			err := j.Key(key).Record(t.Context(), held, framework.CreateOp("/effect", nil, framework.Persistent))
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		require.NoError(t, held.Release())
		require.Equal(t, []string{"first.key"}, w.Server.Children(done))
		_, changed := w.Server.Node("/effect")
		require.False(t, changed)
	})
}

// A lease on the run of the same path in another namespace records nothing here, where
// another process has the run.
func TestLeaseInAnotherNamespace(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		in := func(client, namespace string) *framework.Client {
			view, err := w.Named(client).Namespace(namespace)
			require.NoError(t, err)
			return view
		}
		here, there := newJob(t, in("a", "here")).Key("a"), newJob(t, in("a", "there")).Key("a")
		other := w.Acquire(newJob(t, in("b", "here")).Key("a"))
		held := w.Acquire(there)
		require.ErrorIs(t, here.Record(t.Context(), held), framework.ErrInvalidArgument)
		record, err := here.Recorded(t.Context())
		require.NoError(t, err)
		require.Nil(t, record)
		require.NoError(t, there.Record(t.Context(), held))
		require.NoError(t, other.Release())
		require.NoError(t, held.Release())
	})
}

// A mutex at the path of a run, of another client, excludes the run.
func TestMutexExcludesTheRun(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m, err := mutex.New(w.Client("a"), path+"/a.key")
		require.NoError(t, err)
		held := w.Acquire(m)
		j := newJob(t, w.Client("b"))
		require.ErrorIs(t, w.Start(j.Key("a"), 0).Failed(), lease.ErrTimeout)
		finished := make(chan error, 1)
		go func() { finished <- j.Do(t.Context(), "a", nothing) }()
		w.Settle()
		require.Empty(t, w.Server.Children(done))
		require.NoError(t, held.Release())
		require.NoError(t, <-finished)
	})
}
