package faultsweep

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

const (
	shortDelay = 613 * time.Millisecond
	minHold    = 211 * time.Millisecond
)

// The recipes with a lock-delay, and those with a minimum hold time, that are swept.
var (
	aDelayedMutex         = delayed("aDelayedMutex", mutexes("", mutex.WithLockDelay(lockDelay)))
	anAsyncDelayedMutex   = delayed("anAsyncDelayedMutex", async("", aDelayedMutex))
	aDelayedReadWriteLock = delayed("aDelayedReadWriteLock", readWriteLocks("", rwlock.WithLockDelay(lockDelay)))
	aDelayedSingleQueue   = delayed("aDelayedSingleQueue", semaphores("", 3, []int{1, 2, 3}, semaphore.WithSingleQueue(), semaphore.WithLockDelay(lockDelay)))
	aDelayedLeader        = delayed("aDelayedLeader", of(func(c *framework.Client, path string) lease.Acquirer {
		return must(leader.New(c, path, leader.WithLockDelay(lockDelay)))
	}))
	aDelayedStripe = delayed("aDelayedStripe", of(func(c *framework.Client, path string) lease.Acquirer {
		return must(striped.New(c, path, 3, striped.WithLockDelay(lockDelay))).For(aKey)
	}))
	anyDelayedStripe = delayed("anyDelayedStripe", conformance.Recipe{Slots: 2, LockOf: stripeOf, New: func(c *framework.Client, path string) lease.Acquirer {
		return anyShare{must(striped.New(c, path, 2, striped.WithLockDelay(lockDelay)))}
	}})
	aDelayedRun = delayed("aDelayedRun", of(func(c *framework.Client, path string) lease.Acquirer {
		return must(once.New(c, path, once.WithLockDelay(lockDelay))).Key("lock")
	}))
	aDelayedJob = delayed("aDelayedJob", of(func(c *framework.Client, path string) lease.Acquirer {
		return &worker{client: c, path: path, job: must(once.New(c, path, once.WithRetention(time.Minute), once.WithLockDelay(lockDelay)))}
	}))
	// Their delay is over before a session expires.
	aBrieflyDelayedMutex         = briefly("aBrieflyDelayedMutex", mutexes("", mutex.WithLockDelay(shortDelay)))
	aBrieflyDelayedReadWriteLock = briefly("aBrieflyDelayedReadWriteLock", readWriteLocks("", rwlock.WithLockDelay(shortDelay)))
	aBrieflyDelayedSingleQueue   = briefly("aBrieflyDelayedSingleQueue", semaphores("", 3, []int{1, 2, 3}, semaphore.WithSingleQueue(), semaphore.WithLockDelay(shortDelay)))
	aBrieflyDelayedRun           = briefly("aBrieflyDelayedRun", of(func(c *framework.Client, path string) lease.Acquirer {
		return must(once.New(c, path, once.WithLockDelay(shortDelay))).Key("lock")
	}))

	aRestingMutex         = resting("aRestingMutex", mutexes("", mutex.WithMinHold(minHold)))
	anAsyncRestingMutex   = resting("anAsyncRestingMutex", async("", aRestingMutex))
	aRestingReadWriteLock = resting("aRestingReadWriteLock", readWriteLocks("", rwlock.WithMinHold(minHold)))
	aRestingSemaphore     = resting("aRestingSemaphore", semaphores("", 3, []int{1, 2, 3}, semaphore.WithMinHold(minHold)))
	aRestingStripe        = resting("aRestingStripe", of(func(c *framework.Client, path string) lease.Acquirer {
		return must(striped.New(c, path, 3, striped.WithMinHold(minHold))).For(aKey)
	}))
	aRestingLeader = resting("aRestingLeader", of(func(c *framework.Client, path string) lease.Acquirer {
		return must(leader.New(c, path, leader.WithMinHold(minHold)))
	}))
	// With both.
	aDelayedRestingMutex = timed("aDelayedRestingMutex", hold.Terms{MinHold: minHold, LockDelay: lockDelay}, mutexes("", mutex.WithMinHold(minHold), mutex.WithLockDelay(lockDelay)))

	// The calls of these are struck, and those after them in random plans.
	allStruck = []conformance.Recipe{
		aDelayedMutex, aDelayedReadWriteLock, aDelayedSingleQueue, aDelayedLeader, aDelayedStripe, anyDelayedStripe, aDelayedRun, aDelayedJob,
		aDelayedMultiLock,
		aRestingMutex, anAsyncRestingMutex, aRestingReadWriteLock, aRestingSemaphore, aDelayedRestingMutex,
	}
	allBriefly = []conformance.Recipe{aBrieflyDelayedMutex, aBrieflyDelayedReadWriteLock, aBrieflyDelayedSingleQueue, aBrieflyDelayedRun, aBrieflyDelayedMultiLock}
	allTimed   = slices.Concat(allStruck, allBriefly, []conformance.Recipe{anAsyncDelayedMutex, aRestingStripe, aRestingLeader})
)

func of(construct func(c *framework.Client, path string) lease.Acquirer) conformance.Recipe {
	return conformance.Recipe{Slots: 1, New: construct}
}

func delayed(name string, r conformance.Recipe) conformance.Recipe {
	return timed(name, hold.Terms{LockDelay: lockDelay}, r)
}

func briefly(name string, r conformance.Recipe) conformance.Recipe {
	return timed(name, hold.Terms{LockDelay: shortDelay}, r)
}

func resting(name string, r conformance.Recipe) conformance.Recipe {
	return timed(name, hold.Terms{MinHold: minHold}, r)
}

// TestDelaysWithoutFaults runs plans without faults, in which only clients that are
// closed while they hold a lease end uncleanly.
func TestDelaysWithoutFaults(t *testing.T) {
	for _, r := range allTimed {
		t.Run(r.Name, func(t *testing.T) {
			unclean := 0
			for seed := range uint64(20) {
				p := Plan{Recipe: r, Lead: leads(r) && seed%2 == 0, Clients: 1 + int(seed%5), Impatient: 5, Rounds: 2, Seed: seed, Hold: 101 * time.Millisecond}
				report := p.Run(t)
				fail(t, p, report)
				unclean += report.Unclean
			}
			require.True(t, unclean > 0 || termsOf[r.Name].LockDelay == 0, "no end was unclean")
		})
	}
}

// leads reports whether the clients can elect leaders.
func leads(r conformance.Recipe) bool {
	return r.Name == aDelayedLeader.Name || r.Name == aRestingLeader.Name
}

// TestEveryCallWithADelayFails strikes each call of a run with each fault.
func TestEveryCallWithADelayFails(t *testing.T) {
	for _, r := range allStruck {
		t.Run(r.Name, func(t *testing.T) {
			p := Plan{Recipe: r, Clients: 3, Impatient: 3, Rounds: 1, Seed: 1, Hold: 101 * time.Millisecond}
			found := sweep(t, p)
			if p.Lead = leads(r); p.Lead {
				sweep(t, p)
			}
			require.True(t, found.unclean > 0 || termsOf[r.Name].LockDelay == 0, "no end was unclean")
		})
	}
}

// TestDelaysUnderRandomFaults runs random plans as TestLeanFaults does for a mutex.
func TestDelaysUnderRandomFaults(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", 400/extent.Slowdown())
	for _, recipe := range append(allBriefly, aRestingMutex) {
		t.Run(recipe.Name, func(t *testing.T) {
			lost, unclean, failed := 0, 0, 0
			for seed := first; seed < first+runs && failed < 3; seed++ {
				p := RandomLean(recipe, uint64(seed))
				report := p.Run(t)
				lost += report.Lost
				unclean += report.Unclean
				if len(report.Broken) > 0 {
					failed++
					p, report = shrink(t, p, report)
					fail(t, p, report)
				}
			}
			t.Logf("%d leases lost, %d unclean ends", lost, unclean)
			require.Positive(t, lost, "no fault hit a holder")
			require.True(t, unclean > 0 || termsOf[recipe.Name].LockDelay == 0, "no end was unclean")
		})
	}
}
