package zkprom_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"

	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
)

func TestPermitsAreOneHold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s, err := semaphore.New(w.measured("a"), path, 5)
		require.NoError(t, err)
		three := s.Weight(3)
		held := w.Acquire(three)
		of := `path="/locks/orders",recipe="semaphore"`
		assert.Equal(t, series{of: 1}, w.values("holds"))
		require.ErrorIs(t, w.Start(three, 0).Failed(), lease.ErrTimeout)
		require.NoError(t, held.Release())
		assert.Equal(t, series{of: 3}, w.values("acquire_ahead_sum"), "each permit that is held counts")
		assert.Equal(t, series{of: 0}, w.values("holds"))
	})
}

func TestReadersAndWritersApart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		l, err := rwlock.New(w.measured("a"), path)
		require.NoError(t, err)
		first, second := w.Acquire(l.Read()), w.Acquire(l.Read())
		at := w.Start(l.Write(), time.Minute)
		reader, writer := `path="/locks/orders",recipe="reader"`, `path="/locks/orders",recipe="writer"`
		assert.Equal(t, series{reader: 2}, w.values("holds"))
		assert.Equal(t, series{reader: 0, writer: 1}, w.values("acquires_waiting"))
		require.NoError(t, first.Release())
		require.NoError(t, second.Release())
		require.NoError(t, at.Granted().Release())
		assert.Equal(t, series{reader: 0, writer: 0}, w.values("holds"))
	})
}

func TestTermsOfALeader(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.measured("a")
		election, err := leader.New(c, path)
		require.NoError(t, err)
		terms := 0
		require.NoError(t, election.Lead(t.Context(), func(ctx context.Context, _ *lease.Lease) error {
			if terms++; terms > 1 {
				return leader.ErrStop
			}
			w.Expire(c)
			<-ctx.Done()
			return ctx.Err()
		}))
		of := `path="/locks/orders",recipe="leader"`
		assert.Equal(t, series{of: 2}, w.values("hold_seconds_count"))
		assert.Equal(t, series{of: 0}, w.values("holds"))
		assert.Equal(t, series{`path="/locks/orders",reason="session-expired",recipe="leader"`: 1}, w.values("losses_total").nonZero())
	})
}

// However many paths there are, there are no more labels than templates, and one.
func TestPathsAreLabeledByTemplates(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		c := w.measured("a", func(cfg *framework.Config) { cfg.Namespace = "shop" })
		for _, at := range []string{"/tenants/1", "/tenants/2", path, "/a", "/b/c"} {
			require.NoError(t, w.Acquire(mutexAt(t, c, at)).Release())
		}
		assert.Equal(t, series{
			`path="/shop/tenants/*",recipe="mutex"`: 2, `path="other",recipe="mutex"`: 3,
		}, w.values("hold_seconds_count"), "paths are those with the namespace")
	}, "/shop/tenants/*")
}

func TestPathTemplatesThatAreRefused(t *testing.T) {
	_, err := zkprom.New(zkprom.Config{Paths: []string{"locks"}})
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
	require.ErrorContains(t, err, `"locks"`)
}
