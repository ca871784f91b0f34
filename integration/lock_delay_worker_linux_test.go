package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
	"unsafe"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// delayedPath is the parent of all locks with a lock-delay.
const delayedPath = "/locks/delayed"

// delayedMaxHold is that of locks whose holders never release them.
const delayedMaxHold = 20 * time.Millisecond

// A delayedLock is how one client acquires a lock with a lock-delay.
type delayedLock struct {
	path    string
	permits int
	shared  bool // with others for which it is
	delayedAcquirers
	limited lease.Acquirer // as one, with a maximum hold time
}

// delayedAcquirers acquire one lock.
type delayedAcquirers struct {
	one lease.Acquirer // one permit
	all lease.Acquirer // all of them, or the lock for no other
}

// A delayedKind makes the acquirers of a lock. A lock that can be shared has two.
type delayedKind func(c *framework.Client, path string, delay, maxHold time.Duration) (acquirers []delayedAcquirers, permits int, err error)

var delayedKinds = []delayedKind{
	func(c *framework.Client, path string, delay, maxHold time.Duration) ([]delayedAcquirers, int, error) {
		m, err := mutex.New(c, path, mutex.WithLockDelay(delay), mutex.WithMaxHold(maxHold))
		return []delayedAcquirers{{m, m}}, 1, err
	},
	func(c *framework.Client, path string, delay, maxHold time.Duration) ([]delayedAcquirers, int, error) {
		l, err := rwlock.New(c, path, rwlock.WithLockDelay(delay), rwlock.WithMaxHold(maxHold))
		if err != nil {
			return nil, 0, err
		}
		return []delayedAcquirers{{l.Write(), l.Write()}, {l.Read(), l.Write()}}, 1, nil
	},
	func(c *framework.Client, path string, delay, maxHold time.Duration) ([]delayedAcquirers, int, error) {
		s, err := semaphore.New(c, path, 2, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay), semaphore.WithMaxHold(maxHold))
		if err != nil {
			return nil, 0, err
		}
		return []delayedAcquirers{{s, s.Weight(2)}}, 2, nil
	},
	func(c *framework.Client, path string, delay, maxHold time.Duration) ([]delayedAcquirers, int, error) {
		e, err := leader.New(c, path, leader.WithLockDelay(delay), leader.WithMaxHold(maxHold))
		return []delayedAcquirers{{e, e}}, 1, err
	},
}

// delayedLocks returns all locks as a client uses them.
func delayedLocks(c *framework.Client, delay time.Duration) (all []delayedLock, err error) {
	for n := range 9 {
		path, kind := fmt.Sprintf("%s/%d", delayedPath, n), delayedKinds[n%len(delayedKinds)]
		acquirers, permits, err := kind(c, path, delay, 0)
		if err != nil {
			return nil, err
		}
		limited, _, err := kind(c, path, delay, delayedMaxHold)
		if err != nil {
			return nil, err
		}
		for i, a := range acquirers {
			all = append(all, delayedLock{path, permits, i > 0, a, limited[i].one})
		}
	}
	return all, nil
}

// A stayEvent is what a worker reports of a lease.
type stayEvent struct {
	Path    string // of the lock
	Permits int    // of which there are so many
	Weight  int    // of which it has so many
	Shared  bool
	Token   int64
	What    stayPhase
	At      int64 // by the clock of the machine
}

// event returns one of a lease on a lock.
func (l delayedLock) event(held *lease.Lease, what stayPhase, at int64) stayEvent {
	return stayEvent{Path: l.path, Permits: l.permits, Weight: 1, Shared: l.shared, Token: int64(held.Token()), What: what, At: at}
}

type stayPhase string

const (
	stayGranted  stayPhase = "granted"
	stayValid    stayPhase = "valid"
	stayReleases stayPhase = "releases" // next: whether it takes effect is open
)

// A delayedWorker is one goroutine that acquires and holds such locks.
type delayedWorker struct {
	locks   func() ([]delayedLock, *framework.Client) // those of its present client
	report  func(stayEvent)
	rng     *rand.Rand
	cleanly bool // each lease is released, unless it is lost before
}

// work acquires locks until there are no more faults, and then two more.
func (w *delayedWorker) work(ctx context.Context, over <-chan struct{}) error {
	for left := 2; left > 0 && ctx.Err() == nil; {
		calm := ended(over)
		wait := lease.Forever
		if !calm && w.rng.IntN(8) > 0 {
			wait = time.Duration(w.rng.IntN(400)) * time.Millisecond
		}
		locks, client := w.locks()
		lock := locks[w.rng.IntN(len(locks))]
		limited := !calm && !w.cleanly && w.rng.IntN(12) == 0
		of := lock.one
		if limited {
			of = lock.limited
		}
		held, err := of.Acquire(ctx, wait)
		switch {
		case err == nil && calm:
			w.hold(ctx, lock, held, client, holdsBriefly)
			left--
		case err == nil && limited:
			w.hold(ctx, lock, held, client, holdsUntilLost)
		case err == nil:
			w.hold(ctx, lock, held, client, w.choose())
		case errors.Is(err, framework.ErrClosed):
			<-time.After(10 * time.Millisecond) // there is another client soon
		case errors.Is(err, lease.ErrTimeout) && wait != lease.Forever, ctx.Err() != nil:
		default:
			return fmt.Errorf("acquire %s: %w", lock.path, err)
		}
	}
	return ctx.Err()
}

// How a worker holds a lease.
type holding int

const (
	holdsBriefly holding = iota
	holdsLong
	holdsUntilDeleted
	holdsUntilLost
)

func (w *delayedWorker) choose() holding {
	switch n := w.rng.IntN(20); {
	case w.cleanly:
		return holdsBriefly
	case n == 0:
		return holdsUntilDeleted
	case n < 4:
		return holdsLong
	}
	return holdsBriefly
}

// hold holds a lease, reports for how long it is certainly valid, and releases it. If
// it is lost, or its node is deleted, it is not released.
func (w *delayedWorker) hold(ctx context.Context, lock delayedLock, held *lease.Lease, client *framework.Client, how holding) {
	w.report(lock.event(held, stayGranted, now()))
	span := time.Duration(w.rng.IntN(4000)) * time.Microsecond
	if how == holdsLong {
		span = time.Duration(w.rng.IntN(1500)) * time.Millisecond
	}
	for begun := time.Now(); ; {
		at := now()
		if held.Err() != nil {
			return // as if the process had ended: nobody releases it
		}
		w.report(lock.event(held, stayValid, at))
		if how != holdsUntilLost && time.Since(begun) >= span {
			break
		}
		<-time.After(min(span, 5*time.Millisecond))
	}
	if how == holdsUntilDeleted && client.Delete(ctx, held.Path(), framework.AnyVersion) == nil {
		return
	}
	w.report(lock.event(held, stayReleases, now()))
	if w.rng.IntN(3) == 0 {
		_ = held.ReleaseAsync()
	} else {
		_ = held.Release()
	}
}

// now is the time by a clock that all processes of this machine have, and that nobody
// sets.
func now() int64 {
	const clockMonotonic = 1
	var now syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return now.Nano()
}
