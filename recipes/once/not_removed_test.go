package once_test

import (
	"bytes"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Somebody has made a node below a record. That one stays, and the others go.
func TestRecordsThatCannotBeRemoved(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, operator := newJob(t, w.Client("a"), once.WithRetention(time.Minute)), w.Client("operator")
		for _, key := range []string{"1", "2", "3"} {
			do(t, w, j.Key(key))
		}
		_, err := operator.Create(t.Context(), done+"/2.key/note", nil, framework.Persistent)
		require.NoError(t, err)
		w.After(2 * time.Minute)
		do(t, w, j.Key("a"))
		left := w.Server.Children(done)
		slices.Sort(left)
		require.Equal(t, []string{"2.key", "a.key"}, left)
	})
}

// Without permission to remove records a sweep does not try each of them. It says why,
// and the run is recorded all the same.
func TestRecordsThatMayNotBeRemoved(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var log bytes.Buffer
		c := w.Client("a", func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		j := newJob(t, c, once.WithRetention(time.Minute))
		for _, key := range []string{"1", "2", "3"} {
			do(t, w, j.Key(key))
		}
		_, err := c.SetACL(t.Context(), done, framework.WorldACL(framework.PermAll&^framework.PermDelete), framework.AnyVersion)
		require.NoError(t, err)
		w.After(2 * time.Minute)
		w.Server.ResetCounts()
		do(t, w, j.Key("a"))
		require.Equal(t, 2, w.Server.CountOf("a", zktest.OpMulti), "the record, and the first removal")
		require.Len(t, w.Server.Children(done), 4)
		require.Contains(t, log.String(), "old records were not removed")
		require.Contains(t, log.String(), "path="+done)
	})
}
