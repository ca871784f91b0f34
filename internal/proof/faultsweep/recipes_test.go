package faultsweep

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// The mutexes that are swept.
var (
	aMutex       = mutexes("aMutex")
	anAsyncMutex = async("anAsyncMutex", aMutex)
	// Its leases end while they are held.
	aBriefMutex = mutexes("aBriefMutex", mutex.WithMaxHold(61*time.Millisecond))
)

func mutexes(name string, opts ...mutex.Option) conformance.Recipe {
	return conformance.Recipe{Name: name, Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer {
		return must(mutex.New(c, path, opts...))
	}}
}

// async is a recipe whose leases are released without waiting for the answer.
func async(name string, r conformance.Recipe) conformance.Recipe {
	r = conformance.Async(r)
	r.Name = name
	return r
}

var aLeader = conformance.Recipe{Name: "aLeader", Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer {
	return must(leader.New(c, path))
}}

// A read-write lock whose clients read, write, and downgrade.
var aReadWriteLock = readWriteLocks("aReadWriteLock")

func readWriteLocks(name string, opts ...rwlock.Option) conformance.Recipe {
	return conformance.Recipe{
		Name: name,
		New: func(c *framework.Client, path string) lease.Acquirer {
			return must(rwlock.New(c, path, opts...)).Write()
		},
		Readers: func(c *framework.Client, path string) lease.Acquirer {
			return must(rwlock.New(c, path, opts...)).Read()
		},
		Shares: func(l *lease.Lease) bool { return strings.Contains(l.Path(), "__READ__") },
	}
}

// The semaphores that are swept: the number of permits, and how many an Acquirer takes
// each time, in turn.
var (
	aSemaphore        = semaphores("aSemaphore", 2, []int{1})
	aBinarySemaphore  = semaphores("aBinarySemaphore", 1, []int{1})
	aWideSemaphore    = semaphores("aWideSemaphore", 4, []int{3})
	aMixedSemaphore   = semaphores("aMixedSemaphore", 3, []int{1, 2, 3})
	aBriefSemaphore   = semaphores("aBriefSemaphore", 3, []int{2, 1}, semaphore.WithMaxHold(61*time.Millisecond))
	aSingleQueue      = semaphores("aSingleQueue", 2, []int{1}, semaphore.WithSingleQueue())
	aBinarySingle     = semaphores("aBinarySingle", 1, []int{1}, semaphore.WithSingleQueue())
	aMixedSingleQueue = semaphores("aMixedSingleQueue", 3, []int{1, 2, 3}, semaphore.WithSingleQueue())
	aBriefSingleQueue = semaphores("aBriefSingleQueue", 3, []int{2, 1}, semaphore.WithSingleQueue(), semaphore.WithMaxHold(61*time.Millisecond))

	allSemaphores = []conformance.Recipe{
		aSemaphore, aBinarySemaphore, aWideSemaphore, aMixedSemaphore, aBriefSemaphore,
		aSingleQueue, aBinarySingle, aMixedSingleQueue, aBriefSingleQueue,
	}
)

// weighed takes several permits, in turn as many as asks says. The lease's context
// knows how many.
type weighed struct {
	*semaphore.Semaphore
	asks []int

	mu   sync.Mutex
	next int
}

type weightKey struct{}

func (w *weighed) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	w.mu.Lock()
	n := w.asks[w.next%len(w.asks)]
	w.next++
	w.mu.Unlock()
	return w.Weight(n).Acquire(context.WithValue(ctx, weightKey{}, n), timeout)
}

func semaphores(name string, permits int, asks []int, opts ...semaphore.Option) conformance.Recipe {
	return conformance.Recipe{
		Name: name, Slots: permits, NotReentrant: true,
		New: func(c *framework.Client, path string) lease.Acquirer {
			return &weighed{Semaphore: must(semaphore.New(c, path, permits, opts...)), asks: asks}
		},
		Weight: func(l *lease.Lease) int {
			n, _ := l.Context().Value(weightKey{}).(int)
			return n
		},
	}
}
