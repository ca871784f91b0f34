package conformance_test

import (
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// short is a lock-delay that the rows of the suite hardly notice. What a delay does is
// tested elsewhere: see package recipes/lease.
const short = time.Millisecond

// Recipes with a lock-delay are what they are without one, except that nothing is
// handed over in memory.
func TestWithLockDelay(t *testing.T) {
	delayed := func(c *framework.Client, path string) *rwlock.Lock {
		return must(rwlock.New(c, path, rwlock.WithLockDelay(short)))
	}
	writers := func(c *framework.Client, path string) lease.Acquirer { return delayed(c, path).Write() }
	readers := func(c *framework.Client, path string) lease.Acquirer { return delayed(c, path).Read() }
	for _, r := range []conformance.Recipe{
		{Name: "mutex", Slots: 1, Zero: new(mutex.Mutex), Foreign: latches, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(mutex.New(c, path, mutex.WithLockDelay(short)))
		}},
		{Name: "write lock", Slots: 1, Zero: new(rwlock.Lock), New: writers, Readers: readers, Foreign: latches},
		{Name: "read lock", Zero: new(rwlock.Lock), New: readers, Block: writers, Shares: shares, Foreign: latches},
		{Name: "semaphore", Slots: 3, Zero: new(semaphore.Semaphore), NotReentrant: true, Known: 3, Foreign: latches, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(semaphore.New(c, path, 3, semaphore.WithSingleQueue(), semaphore.WithLockDelay(short)))
		}},
		{Name: "leader", Slots: 1, Zero: new(leader.Election), New: func(c *framework.Client, path string) lease.Acquirer {
			return must(leader.New(c, path, leader.WithLockDelay(short)))
		}},
		{Name: "stripe", Slots: 1, Zero: new(striped.Locks), Foreign: latches, Below: "/stripe-0001", Known: 2, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(striped.New(c, path, 8, striped.WithLockDelay(short))).For("key")
		}},
		{Name: "any stripe", Slots: 3, Zero: new(striped.Locks), Foreign: latches, Spread: true, NotReentrant: true, New: func(c *framework.Client, path string) lease.Acquirer {
			return anyStripe{must(striped.New(c, path, 3, striped.WithLockDelay(short)))}
		}},
		{Name: "run of a job", Slots: 1, Zero: new(once.Job), Foreign: latches, Below: "/a.key", Known: 2, Keeps: []string{"done"}, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(once.New(c, path, once.WithLockDelay(short))).Key("a")
		}},
	} {
		r.Recorded = true
		t.Run(r.Name, func(t *testing.T) { conformance.Run(t, r) })
	}
}
