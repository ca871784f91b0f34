package rwlock_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// A writer that joined the queue before the downgrade waits for the reader, and so do
// readers behind that writer.
func TestWriterWaitsForADowngradedReader_Curator621(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		referee := &conformance.Referee{Shares: shares}
		a := w.Client("first")
		l := newLock(t, a)
		writing := w.Acquire(l.Write())
		referee.Grant("first", writing)
		others := enqueue(w, "WRW")
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		referee.Grant("first", reading)
		require.Equal(t, writing.Token(), reading.Token())
		require.NoError(t, writing.Release())
		for range 3 {
			w.After(time.Second)
			require.Equal(t, "www", state(others))
			require.NoError(t, reading.Err())
			require.NoError(t, reading.Context().Err(), "the context does not end with the write lease")
		}
		require.NoError(t, reading.Release())
		w.Settle()
		for i, at := range others {
			w.Settle()
			referee.Grant("other", at.Granted())
			require.Equal(t, strings.Repeat(".", i)+"H"+strings.Repeat("w", 2-i), state(others))
			require.NoError(t, at.Lease.Release())
		}
		require.Empty(t, referee.Faults())
	})
}

// A mutex on the path, of this module or of Curator, waits as a writer.
func TestMutexWaitsForADowngradedReader_Curator621(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		m, err := mutex.New(w.Client("b"), path)
		require.NoError(t, err)
		at := w.Start(m, lease.Forever)
		reading := downgrade(t, l, writing)
		w.After(time.Second)
		require.True(t, at.Waiting())
		require.NoError(t, reading.Release())
		require.NoError(t, at.Granted().Release())
	})
}

// A Java writer, which is admitted when its number is the lowest, waits too: the reader
// has the writer's number.
func TestDowngradedReaderHasTheWritersNumber_Curator621(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		l := newLock(t, a)
		writing := w.Acquire(l.Write())
		java, err := a.Create(t.Context(), path+"/_c_00000000-0000-4000-8000-000000000000-__WRIT__", nil, framework.EphemeralSequential)
		require.NoError(t, err)
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		require.Regexp(t, `^/locks/orders/_c_[0-9a-f-]{36}-__READ__\d{10}$`, reading.Path())
		number := func(node string) string { return node[len(node)-10:] }
		require.Equal(t, number(writing.Path()), number(reading.Path()))
		require.Less(t, number(reading.Path()), number(java.Path))
		require.NoError(t, writing.Release())
		require.NoError(t, a.Delete(t.Context(), java.Path, framework.AnyVersion))
		require.NoError(t, reading.Release())
	})
}

// Readers share the lock with a downgraded reader, unless a writer waits before them.
func TestReadersJoinADowngradedReader_Curator276(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("first"))
		writing := w.Acquire(l.Write())
		others := enqueue(w, "RRWR")
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		w.After(time.Second)
		require.Equal(t, "wwww", state(others), "the write lease is still held")
		require.NoError(t, writing.Release())
		w.Settle()
		require.Equal(t, "HHww", state(others))
		require.NoError(t, reading.Release())
		require.NoError(t, others[0].Lease.Release())
		w.Settle()
		require.Equal(t, ".Hww", state(others))
		require.NoError(t, others[1].Lease.Release())
		w.Settle()
		require.Equal(t, "..Hw", state(others))
		require.NoError(t, others[2].Lease.Release())
		require.NoError(t, others[3].Granted().Release())
	})
}

// The order of the releases does not matter, nor the number of leases.
func TestLockIsFreeAfterTheLastRelease(t *testing.T) {
	for _, order := range []string{"wWrRx", "rRxwW", "WwRxr", "xrwRW", "RWxrw"} {
		t.Run(order, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				l := newLock(t, w.Client("a"))
				claims := map[rune]*lease.Lease{'w': w.Acquire(l.Write())}
				acquire := func(a lease.Acquirer, from rune) *lease.Lease {
					// The contexts end in their own order.
					got, err := a.Acquire(context.WithoutCancel(claims[from].Context()), 0)
					require.NoError(t, err)
					require.Equal(t, claims['w'].Token(), got.Token())
					return got
				}
				claims['r'] = acquire(l.Read(), 'w')
				claims['W'] = acquire(l.Write(), 'r')
				claims['R'] = acquire(l.Read(), 'W')
				claims['x'] = acquire(l.Read(), 'w') // owns no reader: a second one
				at := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
				require.Len(t, children(w), 4)
				for _, which := range order {
					w.After(time.Second)
					require.True(t, at.Waiting())
					require.NoError(t, claims[which].Err())
					require.NoError(t, claims[which].Release())
				}
				require.NoError(t, at.Granted().Release())
			})
		})
	}
}

// The lock may be re-entered through any view of the client.
func TestDowngradeThroughAnotherView(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		view, err := a.Namespace("locks")
		require.NoError(t, err)
		same, err := rwlock.New(view, "/orders")
		require.NoError(t, err)
		for _, side := range [][2]*rwlock.Lock{{newLock(t, a), same}, {same, newLock(t, a)}} {
			writing := w.Acquire(side[0].Write())
			reading := downgrade(t, side[1], writing)
			require.Len(t, children(w), 1)
			require.NoError(t, reading.Confirm(t.Context()))
			_, err := side[0].Write().Acquire(reading.Context(), 0)
			require.ErrorIs(t, err, rwlock.ErrUpgrade)
			require.NoError(t, reading.Release())
		}
	})
}

func TestContendersDuringADowngrade(t *testing.T) {
	for range 8 { // the ids that order the two nodes are random
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			l := newLock(t, w.Client("first"), rwlock.WithHolder("importer"))
			writing := w.Acquire(l.Write())
			reading, err := l.Read().Acquire(writing.Context(), 0)
			require.NoError(t, err)
			attempts := enqueue(w, "RW")
			list, err := l.Contenders(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 4)
			for i, c := range list {
				require.Equal(t, i < 2, c.Holding, "%d: %s", i, c.Node)
				require.Equal(t, i < 2, c.Holder.Who == "importer")
			}
			require.Equal(t, lease.KindReader, list[2].Kind)
			require.Equal(t, lease.KindWriter, list[3].Kind)
			require.NoError(t, writing.Release())
			require.NoError(t, reading.Release())
			require.NoError(t, attempts[0].Granted().Release())
			require.NoError(t, attempts[1].Granted().Release())
		})
	}
}
