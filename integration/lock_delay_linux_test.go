package integration

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

// never is a lock-delay that no test survives.
const never = 24 * time.Hour

// Leases that are released do not make the next one wait for the lock-delay, though
// connections break at a release, before and after it takes effect, and servers are
// killed and paused: the delay is longer than the test.
//
// That is so as long as sessions last. If the machine is too busy for that, what a
// session leaves is removed.
func TestReleasesUnderFaultsAreNotDelayed(t *testing.T) {
	span, seed := faultplan.Contest(t, 6*time.Second)
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true, Config: map[string]string{"maxSessionTimeout": "60000"}})
	ctx, cancel := context.WithTimeout(context.Background(), span+2*limit)
	defer cancel()
	s := &delayedStorm{
		storm: storm{servers: servers, rng: rand.New(rand.NewPCG(seed, 5)), under: delayedPath + "/"},
		plan:  delayedPlan{Delay: never, Session: time.Minute},
	}
	over := make(chan struct{})
	var group, rescue sync.WaitGroup
	var grants atomic.Int64
	for i := range 3 {
		team := s.team(t)
		locks, client := team.use()
		for n := range 6 {
			w := &delayedWorker{locks: team.use, rng: rand.New(rand.NewPCG(seed, uint64(1000*i+n))), cleanly: true, report: func(e stayEvent) {
				if e.What == stayGranted {
					grants.Add(1)
				}
			}}
			group.Go(func() { assert.NoError(t, w.work(ctx, over)) })
		}
		session := client.Session()
		rescue.Go(func() {
			select {
			case <-session.Done():
				t.Log("a session has ended: what is seen from here on says little")
				removeRecords(ctx, client, locks)
			case <-ctx.Done():
			}
		})
	}
	s.storm.rage(t, span)
	close(over)
	group.Wait()
	require.NoError(t, ctx.Err(), "a worker was never granted what it asked for")
	t.Logf("%d grants; faults: %v", grants.Load(), s.counts)
	observer := connect(t, servers.Servers()[0])
	acquireEach(t, observer, never, func(stayEvent) {})
	cancel()
	rescue.Wait()
	requireNoRecords(t, observer)
}

// removeRecords removes, until the context ends, the records of holders that have no
// node.
func removeRecords(ctx context.Context, c *framework.Client, locks []delayedLock) {
	for ; ctx.Err() == nil; <-time.After(100 * time.Millisecond) {
		for _, lock := range locks {
			records, _, err := c.Children(ctx, lock.path+"/lock-delay")
			if err != nil {
				continue
			}
			nodes, _, err := c.Children(ctx, lock.path)
			for _, record := range records {
				if err == nil && !slices.Contains(nodes, record) {
					_ = c.Delete(ctx, lock.path+"/lock-delay/"+record, framework.AnyVersion)
				}
			}
		}
	}
}

func delayedMutex(t *testing.T, c *framework.Client, path string, delay time.Duration) *mutex.Mutex {
	t.Helper()
	return newMutex(t, c, path, mutex.WithLockDelay(delay))
}

// acquireAndRelease acquires what is free or is so soon, and returns the lease, which
// is released.
func acquireAndRelease(t *testing.T, a lease.Acquirer) *lease.Lease {
	t.Helper()
	held, err := a.Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	require.NoError(t, held.Release())
	return held
}

// Servers remove the container of a lock-delay, and then the path, when they are not
// used any more: then there may be another delay. They do not remove it while the lock
// is held, nor with the record of a holder that has ended.
func TestServersRemoveTheContainerOfALockDelay(t *testing.T) {
	const path, interval = "/locks/unused", 100 * time.Millisecond
	servers := ensemble.New(t, ensemble.Options{NoSync: true, ReapInterval: interval})
	a, b := connect(t, servers.Servers()...), connect(t, servers.Servers()...)
	first := delayedMutex(t, a, path, never)

	acquireAndRelease(t, first)
	awaitRemoval(t, b, "/locks")
	held, err := first.Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	awaitReaps(t, b, 3)
	_, err = delayedMutex(t, b, path, time.Second).Acquire(within(t, limit), limit)
	require.ErrorIs(t, err, lease.ErrLockDelayMismatch, "the lock is held")
	require.NoError(t, held.Release())
	awaitRemoval(t, b, "/locks")

	// A newcomer waits only within twice the delay, which may pass on a busy machine.
	const short = 5 * time.Second
	_, err = delayedMutex(t, a, path, short).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	require.NoError(t, a.Close())
	awaitReaps(t, b, 3)
	_, err = newMutex(t, b, path).Acquire(within(t, limit), 0)
	require.ErrorIs(t, err, lease.ErrLockDelay, "a holder has ended without a release")
	acquireAndRelease(t, delayedMutex(t, b, path, short))
	awaitRemoval(t, b, "/locks")
	acquireAndRelease(t, newMutex(t, b, path))
}

// awaitRemoval waits until a node does not exist.
func awaitRemoval(t *testing.T, c *framework.Client, path string) {
	t.Helper()
	for ctx := within(t, limit); ; {
		exists, _, w, err := c.ExistsWatch(ctx, path)
		require.NoError(t, err)
		if !exists {
			return
		}
		select {
		case <-w.Events():
		case <-ctx.Done():
			require.FailNow(t, "never removed", path)
		}
	}
}

// awaitReaps waits until the servers have looked for empty containers that often.
func awaitReaps(t *testing.T, c *framework.Client, times int) {
	t.Helper()
	for range times {
		acquireAndRelease(t, newMutex(t, c, "/elsewhere"))
		awaitRemoval(t, c, "/elsewhere")
	}
}

// Servers remove the container again and again, whenever nobody holds the lock, while
// clients come and go that have known it, and others that have not. None is refused, is
// granted the lock beside another one, or hangs.
func TestContainerOfALockDelayIsRemovedUnderUse(t *testing.T) {
	const path = "/locks/reaped"
	servers := ensemble.New(t, ensemble.Options{NoSync: true, ReapInterval: 5 * time.Millisecond})
	var group sync.WaitGroup
	var inside, removed atomic.Int32
	over := make(chan struct{})
	observer := connect(t, servers.Servers()...)
	for i := range 3 {
		m := delayedMutex(t, connect(t, servers.Servers()...), path, time.Second)
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		group.Go(func() {
			for !ended(over) {
				held, err := m.Acquire(within(t, limit), lease.Forever)
				if !assert.NoError(t, err) {
					return
				}
				assert.Equal(t, int32(1), inside.Add(1))
				inside.Add(-1)
				assert.NoError(t, held.Release())
				<-time.After(time.Duration(rng.IntN(20)) * time.Millisecond)
			}
		})
	}
	for removed.Load() < 30 {
		awaitRemoval(t, observer, path+"/lock-delay")
		removed.Add(1)
		for ctx := within(t, limit); ; { // until it is there again
			exists, _, w, err := observer.ExistsWatch(ctx, path+"/lock-delay")
			require.NoError(t, err)
			if exists {
				break
			}
			select {
			case <-w.Events():
			case <-ctx.Done():
				require.FailNow(t, "never made again")
			}
		}
	}
	close(over)
	group.Wait()
}
