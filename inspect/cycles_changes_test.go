package inspect_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// A writer that has become a reader keeps out writers, and no readers.
func TestCyclesOfADowngradedReader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		mine := rwAt(t, a, "/locks/x", "a")
		theirs := rwAt(t, b, "/locks/x", "b")
		write := w.Acquire(mine.Write())
		read := w.StartWith(write.Context(), mine.Read(), lease.Forever).Granted()
		other := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		second := within(w, other, theirs.Read())
		require.Empty(t, cycles(t, b, "/").Cycles)
		require.NoError(t, write.Release())
		w.Settle()
		require.Empty(t, cycles(t, b, "/").Cycles)
		r2 := second.Granted()
		first := within(w, read, mutexAt(t, a, "/locks/y", "a"))
		require.Empty(t, cycles(t, b, "/").Cycles)
		require.NoError(t, r2.Release())
		third := within(w, other, theirs.Write())
		w.Settle()
		require.Len(t, cycles(t, b, "/").Cycles, 1)
		require.True(t, cycles(t, b, "/").Cycles[0].Certain)
		ends(t, []*lease.Lease{read, other}, first, third)
	})
}

// A deadlock ends when there are more permits; with fewer there may be another one.
func TestCyclesWhileTheSizeChanges(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				sa, sb := permitsAt(t, a, "/x", "a", 2, layout), permitsAt(t, b, "/x", "b", 2, layout)
				one, two := w.Acquire(sa), w.Acquire(sb)
				f, s := within(w, one, sa), within(w, two, sb)
				require.Len(t, cycles(t, b, "/").Cycles, 1)
				require.NoError(t, sa.Resize(t.Context(), 3))
				w.Settle()
				require.Empty(t, cycles(t, b, "/").Cycles)
				got, waits := f, s
				if f.Waiting() {
					got, waits = s, f
				}
				l := got.Granted()
				require.NoError(t, l.Release())
				l2 := waits.Granted()
				require.NoError(t, sa.Resize(t.Context(), 1))
				w.Settle()
				require.NoError(t, l2.Release())
				require.Empty(t, linksOf(cycles(t, b, "/")))
				again, err := semaphore.New(a, "/x", 1, append([]semaphore.Option{semaphore.WithHolder("a")}, layout...)...)
				require.NoError(t, err)
				f, s = within(w, one, again), w.Start(mutexAt(t, b, "/z", "z"), lease.Forever)
				w.Settle()
				require.Equal(t, []string{"certain: a holds /x and waits for /x."}, linksOf(cycles(t, b, "/")))
				ends(t, []*lease.Lease{one, two}, f, s)
			})
		})
	}
}

// The session of a waiter ends: it waits in the next one, and still holds what it holds
// in another session. The end of that one ends the deadlock.
func TestCycleOfAClientWhoseSessionEnds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, out := w.Client("a"), w.Client("b"), w.Client("out")
		outer := w.Acquire(mutexAt(t, out, "/locks/x", "a"))
		other := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		first := within(w, outer, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, other, mutexAt(t, b, "/locks/x", "b"))
		w.Expire(a)
		w.After(time.Minute)
		found := linksOf(cycles(t, b, "/"))
		require.Len(t, found, 1)
		require.Contains(t, found[0], "certain")
		w.Expire(out)
		w.After(time.Minute)
		require.Empty(t, cycles(t, b, "/").Cycles)
		<-first.Done()
		g := second.Granted()
		require.NoError(t, g.Release())
		require.NoError(t, other.Release())
		_ = outer.Release()
	})
}

// A multi-lock within the lease of another one gives up its own locks, and never those
// of the other one, which it has entered.
func TestCyclesOfMultiLocksWithinEachOther(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		m := func(c *framework.Client, who string, paths ...string) *multilock.Lock {
			var all []lease.Acquirer
			for _, p := range paths {
				all = append(all, mutexAt(t, c, p, who))
			}
			l, err := multilock.New(all)
			require.NoError(t, err)
			return l
		}
		outer := w.Acquire(m(a, "a", "/l/1", "/l/2"))
		other := w.Acquire(mutexAt(t, b, "/l/4", "b"))
		inner := within(w, outer, m(a, "a", "/l/2", "/l/3", "/l/4"))
		w.After(time.Second)
		second := within(w, other, mutexAt(t, b, "/l/3", "b")) // which the inner one holds for a while
		w.Settle()
		for _, text := range linksOf(cycles(t, b, "/")) {
			require.NotContains(t, text, "certain")
		}
		w.After(time.Minute)
		l := second.Granted()
		require.NoError(t, l.Release())
		third := within(w, other, mutexAt(t, b, "/l/2", "b")) // which the outer one holds
		w.Settle()
		found := linksOf(cycles(t, b, "/"))
		require.Len(t, found, 1)
		require.Contains(t, found[0], "certain")
		w.After(10 * time.Minute)
		require.True(t, third.Waiting())
		ends(t, nil, inner, third)
		ends(t, []*lease.Lease{outer, other})
	})
}

// A slot that is handed over in memory ends a deadlock before its node is deleted.
func TestCycleThatAHandOverEnds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		x := w.Acquire(mutexAt(t, a, "/l/x", "a1"))
		z := w.Acquire(mutexAt(t, a, "/l/z", "a2"))
		y := w.Acquire(mutexAt(t, b, "/l/y", "b"))
		ctx, cancel := context.WithCancel(x.Context())
		w1 := w.StartWith(ctx, mutexAt(t, a, "/l/y", "a1"), lease.Forever)
		w2 := within(w, z, mutexAt(t, a, "/l/x", "a2"))
		w3 := within(w, y, mutexAt(t, b, "/l/z", "b"))
		w.Settle()
		require.Len(t, cycles(t, b, "/").Cycles, 1)
		cancel()
		<-w1.Done()
		require.NoError(t, x.ReleaseAsync())
		require.Empty(t, cycles(t, b, "/").Cycles)
		l := w2.Granted()
		ends(t, []*lease.Lease{l, z, y}, w3)
	})
}
