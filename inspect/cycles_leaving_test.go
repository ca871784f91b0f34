package inspect_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// Who waits behind a multi-lock that will give up is granted by itself: here a reader
// behind a writer, while another reader holds the lock.
func TestNoCertainCycleBehindAWriterThatGivesUp(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		mine := rwAt(t, a, "/locks/x", "a")
		theirs := rwAt(t, b, "/locks/x", "b")
		third := rwAt(t, c, "/locks/x", "c")
		both, err := multilock.New([]lease.Acquirer{mutexAt(t, c, "/locks/a", "c"), third.Write()})
		require.NoError(t, err)
		read, other := w.Acquire(mine.Read()), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		multi := w.Start(both, lease.Forever)
		w.Settle()
		first := within(w, read, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, other, theirs.Read())
		w.Settle()
		found := linksOf(cycles(t, b, "/locks"))
		w.After(time.Minute)
		require.False(t, second.Waiting())
		require.NotContains(t, strings.Join(found, " "), "certain")
		ends(t, []*lease.Lease{read, other}, multi, first, second)
	})
}

// The same behind one that needs many permits.
func TestNoCertainCycleBehindAWeightThatGivesUp(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		single := semaphores["single queue"]
		heavy := permitsAt(t, c, "/locks/x", "c", 3, single).Weight(3)
		both, err := multilock.New([]lease.Acquirer{mutexAt(t, c, "/locks/a", "c"), heavy})
		require.NoError(t, err)
		one, other := w.Acquire(permitsAt(t, a, "/locks/x", "a", 3, single)), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		multi := w.Start(both, lease.Forever)
		w.Settle()
		first := within(w, one, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, other, permitsAt(t, b, "/locks/x", "b", 3, single))
		w.Settle()
		found := linksOf(cycles(t, b, "/locks"))
		w.After(time.Minute)
		require.False(t, second.Waiting())
		require.NotContains(t, strings.Join(found, " "), "certain")
		ends(t, []*lease.Lease{one, other}, multi, first, second)
	})
}

// What was acquired as any stripe is owned by what follows.
func TestCycleOfWhatWasAcquiredAsAnyStripe(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		mine, err := striped.New(a, "/locks/x", 1, striped.WithHolder("a"))
		require.NoError(t, err)
		theirs, err := striped.New(b, "/locks/x", 1, striped.WithHolder("b"))
		require.NoError(t, err)
		one, _, err := mine.AcquireAny(t.Context(), time.Minute)
		require.NoError(t, err)
		other := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		first := within(w, one, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, other, theirs.Stripe(0))
		w.Settle()
		found := linksOf(cycles(t, b, "/locks"))
		require.Len(t, found, 1)
		require.Contains(t, found[0], "certain")
		ends(t, []*lease.Lease{one, other}, first, second)
	})
}

// Who waits for any stripe, in a process that another one has started under its lock,
// may be in a deadlock with that: another stripe may become free.
func TestPossibleCycleOfAnyStripeWithinAJob(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		job, inner, b := w.Client("job"), w.Client("inner"), w.Client("b")
		all := func(c *framework.Client) *striped.Locks {
			l, err := striped.New(c, "/locks/x", 1, striped.WithHolder("inner"))
			require.NoError(t, err)
			return l
		}
		outer, other := w.Acquire(mutexAt(t, job, "/locks/y", "job")), w.Acquire(all(b).Stripe(0))
		first := within(w, other, mutexAt(t, b, "/locks/y", "b"))
		theirs := all(inner)
		second := w.StartWith(queue.Within(t.Context(), []int64{job.Session().ID()}), acquirerOf(func(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
			held, _, err := theirs.AcquireAny(ctx, timeout)
			return held, err
		}), lease.Forever)
		w.Settle()
		require.Equal(t, []string{
			"possible: b holds /locks/x/stripe-0000 and waits for /locks/y. inner holds /locks/y and waits for /locks/x/stripe-0000.",
		}, linksOf(cycles(t, b, "/locks")))
		ends(t, []*lease.Lease{other, outer}, first, second)
	})
}

// The nodes of many permits, made by one request, say together no more than one alone.
func TestManyPermitsWithinALease(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a", func(cfg *framework.Config) { cfg.MaxRequestBytes, cfg.MaxReplyBytes = 1<<20, 1<<20 })
				outer := w.Acquire(mutexAt(t, a, "/locks/"+strings.Repeat("d", 3500), "a"))
				s, err := semaphore.New(a, "/locks/s", 1000, layout...)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(outer.Context(), time.Minute)
				defer cancel()
				held, err := s.Weight(400).Acquire(ctx, time.Minute)
				require.NoError(t, err)
				ends(t, []*lease.Lease{held, outer})
			})
		})
	}
}
