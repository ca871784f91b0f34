package once_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// begins returns a function that counts how often it is begun.
func begins(n *int) func(context.Context, *lease.Lease) error {
	return func(context.Context, *lease.Lease) error {
		*n++
		return nil
	}
}

// A key that does not fit into a record is refused before its work is done.
func TestLongKeys(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, begun := newJob(t, w.Client("a")), 0
		require.NoError(t, j.Do(t.Context(), strings.Repeat("k", 1024), begins(&begun)))
		require.Equal(t, 1, begun)
		for _, n := range []int{1025, 10_000, 2 << 20} {
			err := j.Do(t.Context(), strings.Repeat("k", n), begins(&begun))
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
			require.Less(t, len(err.Error()), 1024)
		}
		require.Equal(t, 1, begun)
	})
}

// Without permission to make records no work is done.
func TestNoPermissionForRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, begun := newJob(t, w.Client("a")), 0
		w.Server.On(zktest.OpCreate, done).Always().Fail(zktest.NoAuth)
		for range 3 {
			require.ErrorIs(t, j.Do(t.Context(), "a", begins(&begun)), framework.ErrNoAuth)
		}
		require.Zero(t, begun)
		require.Empty(t, w.Ephemerals("/"))
	})
}

// Where the path is owned, clients without credentials neither make nor remove records.
// They learn that a run is recorded.
func TestClientWithoutCredentials(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		owner := newJob(t, w.Client("owner", func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("u", "p")}
			cfg.ACL = framework.OwnedBelow("/jobs")
		}))
		require.NoError(t, owner.Do(t.Context(), "a", nothing))
		c, begun := w.Client("without"), 0
		_, err := c.Create(t.Context(), done+"/b.key", nil, framework.Persistent)
		require.ErrorIs(t, err, framework.ErrNoAuth)
		require.ErrorIs(t, c.Delete(t.Context(), done+"/a.key", framework.AnyVersion), framework.ErrNoAuth)
		for _, node := range []string{done, done + "/a.key"} {
			_, err = c.Set(t.Context(), node, nil, framework.AnyVersion)
			require.ErrorIs(t, err, framework.ErrNoAuth)
		}
		j := newJob(t, c)
		require.NoError(t, j.Do(t.Context(), "a", begins(&begun)))
		require.ErrorIs(t, j.Do(t.Context(), "b", begins(&begun)), framework.ErrNoAuth)
		require.Zero(t, begun)
	})
}

// Paths that no job can have: also those that end like the parent of records.
func TestPathsThatAreRefused(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, p := range []string{"", "/", "/a/", "a", "/a//b", "/a/./b", "/done", path + "/done", path + "/a.key/done"} {
			_, err := once.New(c, p)
			require.ErrorIs(t, err, framework.ErrInvalidPath, p)
		}
		for _, p := range []string{"/done/a", "/undone", path + "/done-"} {
			_, err := once.New(c, p)
			require.NoError(t, err, p)
		}
	})
}

// What New has not made fails, and panics where there is no error to return.
func TestZeroValues(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		_, err := once.New(nil, path)
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		for _, j := range []*once.Job{nil, {}} {
			require.ErrorIs(t, j.Do(t.Context(), "a", nothing), framework.ErrInvalidArgument)
			require.Panics(t, func() { j.Key("a") })
		}
		for _, r := range []*once.Run{nil, {}} {
			require.ErrorIs(t, r.Do(t.Context(), nothing), framework.ErrInvalidArgument)
			require.ErrorIs(t, r.Record(t.Context(), nil), framework.ErrInvalidArgument)
			require.ErrorIs(t, w.Start(r, 0).Failed(), framework.ErrInvalidArgument)
			_, err = r.Recorded(t.Context())
			require.ErrorIs(t, err, framework.ErrInvalidArgument)
		}
		require.ErrorIs(t, newJob(t, w.Client("a")).Key("a").Record(t.Context(), nil), framework.ErrInvalidArgument)
	})
}
