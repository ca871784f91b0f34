package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

const (
	fresh   = time.Hour              // how long the rates of the origin are good
	longest = time.Minute            // that a refresh may take
	pause   = 100 * time.Millisecond // after which an instance tries to refresh again
)

// errNoRates means that the shared cache is empty.
var errNoRates = errors.New("there are no rates")

// An entry is what the shared cache has.
type entry struct {
	rates string
	until time.Time   // when they expire; they are served until there are newer ones
	token lease.Token // of the lease under which they were fetched
}

func (e entry) expired() bool { return time.Now().After(e.until) }

// A store is the shared cache.
type store interface {
	// get returns a zero entry if there is none yet.
	get(ctx context.Context) (entry, error)
	// put refuses an entry whose token is smaller than that of the one it has.
	put(ctx context.Context, e entry) error
}

// Rates are the exchange rates, as one instance of the service has them.
type rates struct {
	shared store
	lock   lease.Acquirer // who holds it refreshes
	fetch  func(ctx context.Context) (string, error)
	failed func(err error) // is told why a refresh in the background failed

	expired chan struct{} // a reader has seen that
}

// newLock returns the lock of the refresh.
func newLock(client *framework.Client, path string) (*mutex.Mutex, error) {
	// A call of the origin that hangs must not keep the rates old for ever.
	return mutex.New(client, path, mutex.WithMaxHold(longest))
}

// get returns the rates at once, however old they are. If they have expired they are
// refreshed, and nobody waits for that.
func (r *rates) get(ctx context.Context) (string, error) {
	e, err := r.shared.get(ctx)
	if err != nil {
		return "", err
	}
	if e.expired() {
		select {
		case r.expired <- struct{}{}:
		default: // this instance is refreshing, or has just tried
		}
	}
	if e.until.IsZero() {
		return "", errNoRates // the cache has lost them
	}
	return e.rates, nil
}

// run refreshes in the background until ctx ends. First, if there are no rates at all,
// it waits until this instance or another has fetched some; then it calls ready.
func (r *rates) run(ctx context.Context, ready func()) error {
	e, err := r.shared.get(ctx)
	if err == nil && e.until.IsZero() {
		err = r.refresh(ctx, 2*longest) // also if the one who is at it hangs
	}
	if err != nil {
		return fmt.Errorf("there are no rates yet: %w", err)
	}
	ready()
	for {
		select {
		case <-r.expired:
		case <-ctx.Done():
			return nil
		}
		err := r.refresh(ctx, 0) // whoever is late does not wait
		if err != nil && ctx.Err() == nil && !another(err) {
			r.failed(err)
		}
		_ = retry.Sleep(ctx, pause) // whether another instance is done shows at the next read
	}
}

// another reports whether a refresh failed because another instance is at it.
func another(err error) bool {
	return errors.Is(err, lease.ErrTimeout) && !errors.Is(err, framework.ErrNotConnected)
}

// refresh fetches rates under the lock, unless there are fresh ones by then.
func (r *rates) refresh(ctx context.Context, timeout time.Duration) error {
	return lease.Do(ctx, r.lock, timeout, func(ctx context.Context, held *lease.Lease) error {
		// Look again: between the read and the lock another may have refreshed.
		e, err := r.shared.get(ctx)
		if err != nil || !e.expired() {
			return err
		}
		until := time.Now().Add(fresh) // from before the call, which may take long
		fetched, err := r.fetch(ctx)
		if err != nil {
			return err
		}
		return r.shared.put(ctx, entry{rates: fetched, until: until, token: held.Token()})
	})
}
