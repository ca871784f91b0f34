package rwlock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// Forks of a writer enter one at a time, also to read, and whichever other leases the
// writer holds: otherwise one fork could read while another writes.
func TestForksOfAWriter(t *testing.T) {
	for name, below := range map[string]func(w *conformance.World, l *rwlock.Lock, writing *lease.Lease) *lease.Lease{
		"writing": func(_ *conformance.World, _ *rwlock.Lock, writing *lease.Lease) *lease.Lease { return writing },
		"reading as well": func(w *conformance.World, l *rwlock.Lock, writing *lease.Lease) *lease.Lease {
			return w.StartWith(writing.Context(), l.Read(), 0).Granted()
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				l := newLock(t, w.Client("a"))
				writing := w.Acquire(l.Write())
				held := below(w, l, writing)
				nodes := len(w.Ephemerals("/"))
				reader := w.StartWith(lease.Fork(held.Context()), l.Read(), 0).Granted()
				require.Equal(t, writing.Path(), reader.Path())
				writer := w.StartWith(lease.Fork(held.Context()), l.Write(), lease.Forever)
				another := w.StartWith(lease.Fork(held.Context()), l.Read(), lease.Forever)
				require.True(t, writer.Waiting(), "a fork reads")
				require.NoError(t, reader.Release())
				w.Settle()
				require.True(t, another.Waiting(), "a fork writes")

				// A fork that downgrades stays the one that is in, and needs no node.
				downgraded := w.StartWith(writer.Granted().Context(), l.Read(), 0).Granted()
				require.NoError(t, writer.Granted().Release())
				require.NoError(t, downgraded.Context().Err(), "it outlives the lease it derives from")
				require.Len(t, w.Ephemerals("/"), nodes)
				w.Settle()
				require.True(t, another.Waiting(), "it has not released yet")
				require.NoError(t, downgraded.Release())
				w.Settle()
				require.NoError(t, another.Granted().Release())
				if held != writing {
					require.NoError(t, held.Release())
				}
				require.NoError(t, writing.Release())
			})
		})
	}
}

func TestForksOfAReader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		reading := w.Acquire(l.Read())
		one := w.StartWith(lease.Fork(reading.Context()), l.Read(), 0).Granted()
		two := w.StartWith(lease.Fork(reading.Context()), l.Read(), 0).Granted()
		require.Len(t, w.Ephemerals("/"), 1)
		for _, held := range []*lease.Lease{reading, one} {
			require.ErrorIs(t, w.StartWith(lease.Fork(held.Context()), l.Write(), time.Hour).Failed(), rwlock.ErrUpgrade)
		}
		other := w.Start(l.Write(), lease.Forever)
		for _, held := range []*lease.Lease{one, reading, two} {
			require.True(t, other.Waiting())
			require.NoError(t, held.Release())
			w.Settle()
		}
		require.NoError(t, other.Granted().Release())
	})
}
