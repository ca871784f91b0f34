package once_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// A job that has MaxRecords takes none, until some of them are older than the
// retention.
func TestTooManyRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.MaxRequestBytes, cfg.MaxReplyBytes = 1<<20, 16<<20 })
		j := newJob(t, c, once.WithRetention(time.Minute))
		require.NoError(t, j.Do(t.Context(), "first", nothing))
		held := w.Acquire(j.Key("held"))
		const each = 1000
		for made := 1; made < once.MaxRecords; {
			var ops []framework.Op
			for range min(each, once.MaxRecords-made) {
				ops = append(ops, framework.CreateOp(fmt.Sprintf("%s/done/%d.key", path, made), nil, framework.Persistent))
				made++
			}
			_, err := c.Multi(t.Context(), ops...)
			require.NoError(t, err)
		}
		require.ErrorIs(t, j.Do(t.Context(), "last", nothing), once.ErrTooManyRecords)
		reads := boundReads(w, "a")
		require.ErrorIs(t, j.Key("held").Record(t.Context(), held), once.ErrTooManyRecords)
		require.Less(t, *reads, 10)
		require.NoError(t, held.Release())
		w.After(10 * time.Minute)
		for range 10 {
			if j.Do(t.Context(), "last", nothing) == nil {
				return
			}
			w.After(time.Minute)
		}
		t.Fatal("the job takes no records any more, although all are old")
	})
}

func nothing(context.Context, *lease.Lease) error { return nil }
