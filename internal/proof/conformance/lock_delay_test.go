package conformance_test

import (
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/retry"
)

// Recipes with a lock-delay that hardly matters are what they are without one, except
// that nothing is handed over in memory.
func TestWithLockDelay(t *testing.T) {
	for name, with := range timed {
		if r := with(conformance.Times{LockDelay: time.Millisecond}); r.Zero != nil {
			r.Recorded = true
			t.Run(name, func(t *testing.T) { conformance.Run(t, r) })
		}
	}
}

func TestLockDelay(t *testing.T) {
	for name, with := range timed {
		t.Run(name, func(t *testing.T) { conformance.RunLockDelay(t, with) })
	}
}

func TestMinHold(t *testing.T) {
	for name, with := range timed {
		if name != "run of a job" { // it has none
			t.Run(name, func(t *testing.T) { conformance.RunMinHold(t, with) })
		}
	}
	t.Run("semaphore in Curator's layout", func(t *testing.T) { conformance.RunMinHold(t, timedSemaphore(7, 3)) })
}

func TestLockDelayAndMinHold(t *testing.T) {
	for name, with := range timed {
		if name != "run of a job" {
			t.Run(name, func(t *testing.T) { conformance.RunLockDelayAndMinHold(t, with) })
		}
	}
}

// timed are the recipes with their times, by name. Those without a zero value are for
// rows about times only.
var timed = map[string]conformance.Timed{
	"mutex": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, Zero: new(mutex.Mutex), Foreign: latches, New: timedMutex(times)}
	},
	"write lock": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, Zero: new(rwlock.Lock), New: timedWriter(times), Readers: timedReader(times), Foreign: latches}
	},
	"write lock behind a reader": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, New: timedWriter(times), Block: timedReader(times), Shares: shares}
	},
	"write lock behind a mutex": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, New: timedWriter(times), Block: timedMutex(times), Shares: shares}
	},
	"read lock": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Zero: new(rwlock.Lock), New: timedReader(times), Block: timedWriter(times), Shares: shares, Foreign: latches}
	},
	"semaphore":              timedSemaphore(3, 1, semaphore.WithSingleQueue()),
	"semaphore with weights": timedSemaphore(7, 3, semaphore.WithSingleQueue()),
	"leader": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, Zero: new(leader.Election), New: func(c *framework.Client, path string) lease.Acquirer {
			return must(leader.New(c, path, leader.WithMaxHold(times.MaxHold), leader.WithMinHold(times.MinHold), leader.WithLockDelay(times.LockDelay)))
		}}
	},
	"stripe": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, Zero: new(striped.Locks), Foreign: latches, Below: "/stripe-0001", Known: 2, New: func(c *framework.Client, path string) lease.Acquirer {
			return timedStripes(c, path, 8, times).For("key")
		}}
	},
	"any stripe": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 3, Zero: new(striped.Locks), Foreign: latches, Spread: true, NotReentrant: true, New: func(c *framework.Client, path string) lease.Acquirer {
			return anyStripe{timedStripes(c, path, 3, times)}
		}}
	},
	"run of a job": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, Zero: new(once.Job), Foreign: latches, Below: "/a.key", Known: 2, Keeps: []string{"done"}, New: func(c *framework.Client, path string) lease.Acquirer {
			return must(once.New(c, path, once.WithMaxHold(times.MaxHold), once.WithLockDelay(times.LockDelay))).Key("a")
		}}
	},
	"multi-lock": func(times conformance.Times) conformance.Recipe {
		return conformance.Recipe{Slots: 1, Locks: 2, New: func(c *framework.Client, path string) lease.Acquirer {
			all := []lease.Acquirer{timedMutex(times)(c, path), timedMutex(times)(c, path+" too")}
			return conformance.FirstToken{Acquirer: must(multilock.New(all, multilock.WithWaitLimit(retry.Constant(time.Minute))))}
		}}
	},
}

type constructor = func(c *framework.Client, path string) lease.Acquirer

func timedMutex(times conformance.Times) constructor {
	return func(c *framework.Client, path string) lease.Acquirer {
		return must(mutex.New(c, path, mutex.WithMaxHold(times.MaxHold), mutex.WithMinHold(times.MinHold), mutex.WithLockDelay(times.LockDelay)))
	}
}

func timedWriter(times conformance.Times) constructor {
	return func(c *framework.Client, path string) lease.Acquirer { return timedLock(c, path, times).Write() }
}

func timedReader(times conformance.Times) constructor {
	return func(c *framework.Client, path string) lease.Acquirer { return timedLock(c, path, times).Read() }
}

func timedLock(c *framework.Client, path string, times conformance.Times) *rwlock.Lock {
	return must(rwlock.New(c, path, rwlock.WithMaxHold(times.MaxHold), rwlock.WithMinHold(times.MinHold), rwlock.WithLockDelay(times.LockDelay)))
}

func timedSemaphore(permits, each int, opts ...semaphore.Option) conformance.Timed {
	return func(times conformance.Times) conformance.Recipe {
		all := append([]semaphore.Option{semaphore.WithMaxHold(times.MaxHold), semaphore.WithMinHold(times.MinHold), semaphore.WithLockDelay(times.LockDelay)}, opts...)
		r := conformance.Recipe{Slots: permits / each, Zero: new(semaphore.Semaphore), NotReentrant: true, Known: 3, Foreign: latches}
		r.New = func(c *framework.Client, path string) lease.Acquirer {
			return must(semaphore.New(c, path, permits, all...)).Weight(each)
		}
		if opts == nil {
			r.Nodes = each
		}
		return r
	}
}

func timedStripes(c *framework.Client, path string, n int, times conformance.Times) *striped.Locks {
	return must(striped.New(c, path, n, striped.WithMaxHold(times.MaxHold), striped.WithMinHold(times.MinHold), striped.WithLockDelay(times.LockDelay)))
}
