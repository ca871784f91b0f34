package inspect_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/retry"
)

// semaphores are both layouts.
var semaphores = map[string][]semaphore.Option{"Curator's layout": nil, "single queue": {semaphore.WithSingleQueue()}}

// permitsAt returns a semaphore of a client.
func permitsAt(t *testing.T, c *framework.Client, path, who string, size int, layout []semaphore.Option) *semaphore.Semaphore {
	t.Helper()
	s, err := semaphore.New(c, path, size, append([]semaphore.Option{semaphore.WithHolder(who)}, layout...)...)
	require.NoError(t, err)
	return s
}

// Each has some of the permits, and none can have more.
func TestCycleOfPermits(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := permitsAt(t, w.Client("a"), "/limits/x", "a", 3, layout)
				b := permitsAt(t, w.Client("b"), "/limits/x", "b", 3, layout)
				one, two, third := w.Acquire(a), w.Acquire(b), w.Acquire(b)
				first, second := within(w, one, a), within(w, two, b)
				c := w.Client("c")
				require.Empty(t, cycles(t, c, "/").Cycles, "the third permit will be released")
				again := within(w, third, a)
				require.Equal(t, []string{
					"certain: a holds /limits/x and waits for /limits/x. b holds /limits/x and waits for /limits/x.",
				}, linksOf(cycles(t, c, "/")))
				ends(t, []*lease.Lease{one, two, third}, first, second, again)
			})
		})
	}
}

// A lease on several permits holds all of them.
func TestCycleOfSeveralPermits(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				two := w.Acquire(permitsAt(t, a, "/x", "a", 3, layout).Weight(2))
				third := w.Acquire(permitsAt(t, a, "/x", "a", 3, layout))
				other := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
				first := within(w, two, mutexAt(t, a, "/locks/y", "a"))
				second := within(w, other, permitsAt(t, b, "/x", "b", 3, layout))
				require.Empty(t, cycles(t, b, "/").Cycles)
				again := within(w, third, mutexAt(t, a, "/locks/y", "a"))
				found := linksOf(cycles(t, b, "/"))
				require.Len(t, found, 1)
				require.Contains(t, found[0], "certain: ")
				require.Contains(t, found[0], "a holds /x and waits for /locks/y.")
				ends(t, []*lease.Lease{two, third, other}, first, second, again)
			})
		})
	}
}

// One permit is free, but not two. How many a client waits for only a single queue
// says.
func TestCycleOfAWeight(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
				two := w.Acquire(permitsAt(t, a, "/limits/x", "a", 3, layout).Weight(2))
				other := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
				first := within(w, two, mutexAt(t, a, "/locks/y", "a"))
				second := within(w, other, permitsAt(t, b, "/limits/x", "b", 3, layout).Weight(2))
				behind := w.Start(permitsAt(t, c, "/limits/x", "c", 3, layout), lease.Forever)
				require.True(t, behind.Waiting(), "it is not overtaken by a lighter one")
				if layout != nil {
					require.Len(t, linksOf(cycles(t, b, "/")), 1)
				} else {
					require.Empty(t, linksOf(cycles(t, b, "/")))
				}
				ends(t, []*lease.Lease{two, other}, first, second, behind)
			})
		})
	}
}

// A semaphore is not reentrant.
func TestWaitForOneself(t *testing.T) {
	for name, layout := range semaphores {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				s := permitsAt(t, w.Client("a"), "/limits/x", "a", 1, layout)
				held := w.Acquire(s)
				self := within(w, held, s)
				require.Equal(t, []string{"certain: a holds /limits/x and waits for /limits/x."}, linksOf(cycles(t, w.Client("c"), "/")))
				ends(t, []*lease.Lease{held}, self)
			})
		})
	}
}

// Without its size nobody can say whether one waits in vain.
func TestNoCycleOfPermitsOfUnknownSize(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		foreign(t, a, "/limits/x/leases/_c_1-lease-")
		foreign(t, b, "/locks/y/lock-")
		foreign(t, b, "/limits/x/locks/_c_2-lock-")
		foreign(t, a, "/locks/y/lock-")
		require.Empty(t, cycles(t, b, "/").Cycles)
		_, err := a.Set(t.Context(), "/limits/x", []byte{0, 0, 0, 1}, framework.AnyVersion)
		require.NoError(t, err)
		require.Len(t, cycles(t, b, "/").Cycles, 1)
	})
}

// Stripes and runs are named by their own paths, which are those of locks.
func TestCycleOfStripesAndRuns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		mine, err := striped.New(a, "/locks/x", 8, striped.WithHolder("a"))
		require.NoError(t, err)
		theirs, err := striped.New(b, "/locks/x", 8, striped.WithHolder("b"))
		require.NoError(t, err)
		job, err := once.New(b, "/jobs/report", once.WithHolder("b"))
		require.NoError(t, err)
		same, err := once.New(a, "/jobs/report", once.WithHolder("a"))
		require.NoError(t, err)
		one, run := w.Acquire(mine.Stripe(3)), w.Acquire(job.Key("k"))
		two := w.Acquire(theirs.Stripe(5))
		first, second, third := within(w, one, mine.Stripe(5)), within(w, two, theirs.Stripe(3)), within(w, run, theirs.Stripe(3))
		require.Equal(t, []string{
			"certain: b holds /locks/x/stripe-0005 and waits for /locks/x/stripe-0003. a holds /locks/x/stripe-0003 and waits for /locks/x/stripe-0005.",
		}, linksOf(cycles(t, a, "/")))
		ends(t, nil, first)
		fourth := within(w, one, same.Key("k"))
		s := cycles(t, a, "/")
		require.Equal(t, []string{
			"certain: a holds /locks/x/stripe-0003 and waits for /jobs/report/k.key. b holds /jobs/report/k.key and waits for /locks/x/stripe-0003.",
		}, linksOf(s))
		require.Equal(t, 3, s.Locks)
		ends(t, []*lease.Lease{one, two, run}, second, third, fourth)
	})
}

// Who waits for any stripe waits at one of them, but moves to another one that is free.
func TestNoCertainCycleOfAnyStripe(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		all := func(c *framework.Client) *striped.Locks {
			l, err := striped.New(c, "/locks/x", 2)
			require.NoError(t, err)
			return l
		}
		one, other := w.Acquire(all(a).Stripe(0)), w.Acquire(all(c).Stripe(1))
		lock := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		first := within(w, one, mutexAt(t, a, "/locks/y", "a"))
		theirs := all(b)
		anyOfB := acquirerOf(func(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
			held, _, err := theirs.AcquireAny(ctx, timeout)
			return held, err
		})
		second, third := within(w, lock, anyOfB), within(w, lock, anyOfB)
		require.Len(t, w.Server.Children("/locks/x/stripe-0000"), 2, "one waits at each")
		require.Len(t, w.Server.Children("/locks/x/stripe-0001"), 2)
		found := cycles(t, c, "/").Cycles
		require.Len(t, found, 1)
		require.False(t, found[0].Certain, "the other stripe may become free")
		require.NoError(t, other.Release())
		select { // whichever waits there
		case <-second.Done():
		case <-third.Done():
			second, third = third, second
		}
		require.NoError(t, second.Granted().Release())
		require.NoError(t, third.Granted().Release())
		ends(t, []*lease.Lease{lock, one}, first)
	})
}

// An acquirerOf is a function as an Acquirer.
type acquirerOf func(ctx context.Context, timeout time.Duration) (*lease.Lease, error)

func (f acquirerOf) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return f(ctx, timeout)
}

// A multi-lock that gives up what it has after a while keeps nobody out for ever. It is
// not known of a waiting node whether it does.
func TestCycleOfMultiLocks(t *testing.T) {
	for kind, limit := range map[string]retry.Policy{"possible": retry.Constant(time.Minute), "certain": retry.None()} {
		t.Run(kind, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				both, err := multilock.New([]lease.Acquirer{mutexAt(t, a, "/locks/x", "a"), mutexAt(t, a, "/locks/y", "a")}, multilock.WithWaitLimit(limit))
				require.NoError(t, err)
				held := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
				first := w.Start(both, lease.Forever)
				require.Empty(t, cycles(t, b, "/").Cycles)
				second := within(w, held, mutexAt(t, b, "/locks/x", "b"))
				require.Equal(t, []string{
					kind + ": b holds /locks/y and waits for /locks/x. a holds /locks/x and waits for /locks/y.",
				}, linksOf(cycles(t, b, "/")))
				ends(t, []*lease.Lease{held}, second, first)
			})
		})
	}
}

// A candidate says nothing about what it holds.
func TestPossibleCycleOfAnElection(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		elect := func(c *framework.Client, id string) *leader.Election {
			e, err := leader.New(c, "/elections/x", leader.WithID(id))
			require.NoError(t, err)
			return e
		}
		term, lock := w.Acquire(elect(a, "one")), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		first := within(w, term, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, lock, elect(b, "two"))
		require.Equal(t, []string{
			"possible: two holds /locks/y and waits for /elections/x. a holds /elections/x and waits for /locks/y.",
		}, linksOf(cycles(t, b, "/")))
		ends(t, []*lease.Lease{term, lock}, first, second)
	})
}

// A command holds what those above it hold, in other sessions.
func TestCycleOfCommandsWithinOthers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		outer, inner, other := w.Client("outer"), w.Client("inner"), w.Client("other")
		held := w.Acquire(mutexAt(t, outer, "/locks/x", "outer"))
		theirs := w.Acquire(mutexAt(t, other, "/locks/y", "other"))
		below := func(session int64) context.Context { return queue.Within(t.Context(), []int64{1, session}) }
		first := w.StartWith(below(outer.Session().ID()), mutexAt(t, inner, "/locks/y", "inner"), lease.Forever)
		second := within(w, theirs, mutexAt(t, other, "/locks/x", "other"))
		require.Equal(t, []string{
			"certain: other holds /locks/y and waits for /locks/x. inner holds /locks/x and waits for /locks/y.",
		}, linksOf(cycles(t, other, "/")))
		// What a session was granted after the command had begun is not what it waits
		// within.
		ends(t, []*lease.Lease{held}, second)
		second = within(w, theirs, mutexAt(t, other, "/locks/x", "other"))
		late := w.Acquire(mutexAt(t, outer, "/locks/z", "outer"))
		third := within(w, theirs, mutexAt(t, other, "/locks/z", "other"))
		require.Empty(t, cycles(t, other, "/").Cycles)
		ends(t, []*lease.Lease{theirs, late}, first, second, third)
	})
}
