package multilock_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// These tests are about what Curator's InterProcessMultiLock does, and about its own
// tests of it, whose names theirs have.

// One of the locks cannot be acquired. Curator goes on to the others, waits for each of
// them, and releases then what it got. Here the first failure ends it: the locks after
// that one are not asked for, those before it are released, and the error is returned.
func TestSomeLocksFailToLock_Curator(t *testing.T) {
	for i, refused := range paths {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a := w.Client("a")
			warm(w, a)
			rule := w.Server.On(zktest.OpCreate, refused+"/").Client("a").Before().Always().Fail(zktest.NoAuth)
			together := w.Server.On(zktest.OpMulti, "").Client("a").Before().Always().Fail(zktest.NoAuth)
			for _, timeout := range []time.Duration{0, time.Hour, lease.Forever} {
				w.Server.ResetCounts()
				at := w.Start(newLock(t, a, paths), timeout)
				require.ErrorIs(t, at.Failed(), framework.ErrNoAuth)
				require.NotErrorIs(t, at.Err, lease.ErrTimeout)
				require.ErrorContains(t, at.Err, refused)
				require.Zero(t, at.Took)
				w.Settle()
				require.Empty(t, w.Ephemerals("/"))
				require.Equal(t, i+1, w.Server.CountOf("a", zktest.OpCreate), "those after it are not asked for")
			}
			rule.Remove()
			together.Remove()
			requireFree(w, w.Client("b"))
		})
	}
}

// One of the locks is not free in time. As with Curator, the others are released.
func TestOneIsNotFree_Curator(t *testing.T) {
	for _, taken := range paths {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("a"), w.Client("b")
			held := w.Acquire(newMutex(t, b, taken))
			for _, timeout := range []time.Duration{0, 300 * time.Millisecond, 30 * time.Second} {
				at := w.Start(newLock(t, a, paths), timeout)
				late := (*lease.TimeoutError)(nil)
				require.ErrorAs(t, at.Failed(), &late)
				require.Equal(t, taken, late.Path)
				require.Equal(t, timeout, at.Took)
				w.Settle()
				require.Equal(t, []string{held.Path()}, w.Ephemerals("/"))
			}
			require.NoError(t, held.Release())
			requireFree(w, b)
		})
	}
}

// The release of one of the locks fails. As with Curator, the others are released all
// the same, and the error is returned.
func TestSomeReleasesFail_Curator(t *testing.T) {
	for _, refused := range paths {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("a"), w.Client("b")
			held := w.Acquire(newLock(t, a, paths))
			rule := w.Server.On(zktest.OpDelete, refused+"/").Client("a").Before().Always().Fail(zktest.NoAuth)
			err := held.Release()
			require.ErrorIs(t, err, framework.ErrNoAuth)
			require.ErrorContains(t, err, refused)
			require.ErrorIs(t, held.Release(), lease.ErrReleased)
			require.ErrorIs(t, held.Err(), lease.ErrReleased)
			require.ErrorIs(t, held.Context().Err(), context.Canceled)
			for _, path := range paths {
				at := w.Start(newMutex(t, b, path), 0)
				if path == refused {
					require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
				} else {
					require.NoError(t, at.Granted().Release())
				}
			}
			rule.Remove()
			w.Expire(a) // a refusal is final: the znode stays for as long as the session
			requireFree(w, b)
		})
	}
}

// The release of one of the locks is not answered. The others are released all the
// same, Release waits no longer than that of one lock, and the znode is deleted later.
func TestSomeReleasesAreNotAnswered_Curator(t *testing.T) {
	for _, silent := range paths {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			b := w.Client("b")
			var all []lease.Acquirer
			for _, path := range paths {
				all = append(all, newMutex(t, w.Client("of "+path), path))
			}
			l, err := multilock.New(all)
			require.NoError(t, err)
			held := w.Acquire(l)
			w.Server.Stall("of "+silent, true)
			began, released := time.Now(), make(chan error, 1)
			go func() { released <- held.Release() }()
			w.After(time.Millisecond)
			require.Empty(t, released)
			for _, path := range paths {
				at := w.Start(newMutex(t, b, path), 0)
				if path == silent {
					require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
				} else {
					require.NoError(t, at.Granted().Release())
				}
			}
			require.NoError(t, <-released, "the lease was valid until now")
			require.LessOrEqual(t, time.Since(began), conformance.SessionTimeout/3)
			w.Server.Stall("of "+silent, false)
			w.After(conformance.SessionTimeout)
			requireFree(w, b)
		})
	}
}

// The releases of all locks fail: the error names each.
func TestAllReleasesFail_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(newLock(t, a, paths))
		w.Server.On(zktest.OpDelete, "/locks").Client("a").Before().Always().Fail(zktest.NoAuth)
		err := held.Release()
		for _, path := range paths {
			require.ErrorContains(t, err, path)
		}
		w.Expire(a)
		requireFree(w, w.Client("b"))
	})
}

// A lock that was acquired excludes all other clients from each of its locks, and from
// all of them, until it is released.
func TestBasic_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		for range 3 {
			for _, both := range [][]*framework.Client{{a, b}, {b, a}} {
				held := w.Acquire(newLock(t, both[0], paths))
				waiting := w.Start(newLock(t, both[1], paths), lease.Forever)
				for _, path := range paths {
					require.ErrorIs(t, w.Start(newMutex(t, both[1], path), 0).Failed(), lease.ErrTimeout)
				}
				require.True(t, waiting.Waiting())
				require.NoError(t, held.Release())
				require.NoError(t, waiting.Granted().Release())
			}
		}
		requireFree(w, a)
	})
}

// Curator acquires locks in the order of the list, so those with different lists may
// wait for each other for ever. Here all lists have one order: even without a limit for
// the wait nobody is stuck.
func TestListsInDifferentOrders_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		forward := newLock(t, w.Client("a"), paths, multilock.WithWaitLimit(retry.None()))
		backwards := slices.Clone(paths)
		slices.Reverse(backwards)
		backward := newLock(t, w.Client("b"), backwards, multilock.WithWaitLimit(retry.None()))
		third := w.Client("c")
		for round := range 50 {
			// The locks become free for both at different times.
			var others []*lease.Lease
			for _, path := range paths {
				others = append(others, w.Acquire(newMutex(t, third, path)))
			}
			attempts := []*conformance.Attempt{w.Begin(t.Context(), forward, lease.Forever), w.Begin(t.Context(), backward, lease.Forever)}
			w.Settle()
			for i := range others {
				require.NoError(t, others[(i+round)%len(others)].Release())
				w.Settle()
			}
			if attempts[0].Waiting() {
				slices.Reverse(attempts)
			}
			for _, at := range attempts {
				held := at.Granted()
				w.After(time.Millisecond)
				require.NoError(t, held.Release())
				require.Zero(t, at.Took.Truncate(10*time.Millisecond), "it waited for the other alone")
			}
		}
		requireFree(w, third)
	})
}

// Curator's time limit begins anew for each lock. Here one bounds all locks together.
func TestOneTimeLimitForAllLocks_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const limit, step = 5 * time.Second, 2 * time.Second
		a, b := w.Client("a"), w.Client("b")
		var others []*lease.Lease
		for _, path := range paths {
			others = append(others, w.Acquire(newMutex(t, b, path)))
		}
		for _, limits := range []retry.Policy{{}, retry.None()} {
			at := w.Start(newLock(t, a, paths, multilock.WithWaitLimit(limits)), limit)
			for i := range 2 {
				w.After(step)
				require.True(t, at.Waiting())
				require.NoError(t, others[i].Release())
				w.Settle()
			}
			late := (*lease.TimeoutError)(nil)
			require.ErrorAs(t, at.Failed(), &late)
			require.Equal(t, limit, at.Took)
			require.Equal(t, limit, late.Waited)
			require.Equal(t, paths[2], late.Path, "the one that it waited for last")
			for i := range 2 {
				others[i] = w.Acquire(newMutex(t, b, paths[i]))
			}
		}
		for _, l := range others {
			require.NoError(t, l.Release())
		}
		requireFree(w, a)
	})
}

// Curator's isAcquiredInThisProcess is true while all locks are held, by what it
// recorded at their acquire; it does not notice that one was lost. Here the lease ends
// with the first of its locks, whichever that is, and the others are given up.
func TestHeldMeansThatAllAreHeld_Curator(t *testing.T) {
	for i, lost := range paths {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			var all []lease.Acquirer
			for _, path := range paths {
				all = append(all, newMutex(t, w.Client("of "+path), path))
			}
			l, err := multilock.New(all)
			require.NoError(t, err)
			held := w.Acquire(l)
			require.NoError(t, held.Err())
			w.Expire(w.Known("of " + lost))
			<-held.Context().Done()
			require.ErrorIs(t, held.Err(), framework.ErrSessionExpired)
			require.Len(t, w.Ephemerals("/"), 2, "work has the time to stop")
			w.After(conformance.SessionTimeout / 6)
			requireFree(w, w.Client("another"))
			require.ErrorIs(t, held.Release(), lease.ErrLost, fmt.Sprint("lock ", i))
		})
	}
}
