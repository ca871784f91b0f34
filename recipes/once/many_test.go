package once_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A job that has MaxRecords takes none, until some of them are older than the
// retention. Most of them are ticks to come, so that this test is quick: their records
// are not read.
func TestTooManyRecords(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.MaxRequestBytes, cfg.MaxReplyBytes = 1<<20, 16<<20 })
		j := newJob(t, c, once.WithRetention(time.Minute))
		require.NoError(t, j.Do(t.Context(), "first", nothing))
		held := w.Acquire(j.Key("held"))
		fill(t, c, once.MaxRecords-1)
		require.ErrorIs(t, j.Do(t.Context(), "last", nothing), once.ErrTooManyRecords)
		reads := boundReads(w, "a")
		require.ErrorIs(t, j.Key("held").Record(t.Context(), held), once.ErrTooManyRecords)
		require.Less(t, *reads, 10)
		require.NoError(t, held.Release())
		w.After(2 * time.Minute)
		require.NoError(t, j.Do(t.Context(), "last", nothing))
		require.Len(t, w.Server.Children(done), once.MaxRecords-keys)
	}, zktest.WithTraceLimit(0))
}

// keys is how many records of fill are old ones after the retention.
const keys = 2000

// fill makes n records: of keys, which are numbers, and of ticks to come.
func fill(t *testing.T, c *framework.Client, n int) {
	for made := 0; made < n; {
		var ops []framework.Op
		for ; made < n && len(ops) < 1000; made++ {
			name := znode.KeyName(strconv.Itoa(made))
			if made >= keys {
				name = znode.TickName(time.Unix(int64(1e10)+int64(made), 0))
			}
			ops = append(ops, framework.CreateOp(done+"/"+name, nil, framework.Persistent))
		}
		_, err := c.Multi(t.Context(), ops...)
		require.NoError(t, err)
	}
}

func nothing(context.Context, *lease.Lease) error { return nil }
