package acquire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Recipe says what is acquired. It has no state, and is safe for concurrent use.
type Recipe struct {
	// Intent is whose it is, and where.
	recipepath.Intent
	// Kind is what is acquired: lease.KindMutex and so on.
	Kind string
	// NotReentrant is set if a context that owns a slot does not enter it again.
	NotReentrant bool
	// Shared is set if its places do not exclude each other.
	Shared bool
	// Self is what a holder says about itself.
	Self lease.Holder
	// ProtectedNodes are the nodes that credentials must keep strangers out of.
	ProtectedNodes []recipepath.ProtectedNode
}

// A Taker takes a place in the session of a try, with the try's context, and starts its
// hold. It is called again, with another session, after a framework.ErrSessionLost, and
// after a queue.ErrEvicted. On failure no node of it stays, or it is being removed.
type Taker func(ctx context.Context, t *Try) (*lease.Lease, error)

// Key is the one of its places.
func (r *Recipe) Key() hold.Key {
	return hold.Key{Client: r.Client, Path: r.Client.FullPath(r.Path), Kind: r.Kind, Shared: r.Shared}
}

// Acquire re-enters the hold that ctx owns, or takes a place for up to timeout; 0 or
// less takes it only if it is free now.
func (r *Recipe) Acquire(ctx context.Context, timeout time.Duration, take Taker) (*lease.Lease, error) {
	return r.AcquireN(ctx, 1, timeout, take)
}

// AcquireN is Acquire for n permits of a semaphore.
func (r *Recipe) AcquireN(ctx context.Context, n int, timeout time.Duration, take Taker) (*lease.Lease, error) {
	return r.Observed(ctx, n, timeout, func(ctx context.Context) (*lease.Lease, error) {
		if held, err := r.Enter(ctx, timeout); held != nil || err != nil {
			return held, err
		}
		return r.Take(ctx, timeout, take)
	})
}

// Take is Acquire for who is known to own none.
func (r *Recipe) Take(ctx context.Context, timeout time.Duration, take Taker) (*lease.Lease, error) {
	w, cancel := r.begin(ctx, timeout)
	defer cancel()
	if ctx.Err() != nil {
		return nil, w.explain(context.Cause(ctx))
	}
	return w.run(take)
}

// Enter re-enters the hold that ctx owns; a fork of its owner waits there for up to
// timeout until the forks before it have left. It returns nil if there is none.
func (r *Recipe) Enter(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if r.NotReentrant {
		return nil, nil
	}
	held, turn, err := hold.Enter(ctx, r.Key())
	if turn != nil {
		held, err = r.await(ctx, timeout, turn)
	}
	if held == nil || ctx.Err() == nil {
		if o := observing(ctx); held != nil && o != nil {
			o.reentered = true
		}
		return held, err
	}
	_ = held.Release() // an ended context enters nothing
	w, cancel := r.begin(ctx, timeout)
	defer cancel()
	return nil, w.explain(context.Cause(ctx))
}

// await waits for the turn of a fork.
func (r *Recipe) await(ctx context.Context, timeout time.Duration, turn *hold.ForkWait) (*lease.Lease, error) {
	w, cancel := r.begin(ctx, timeout)
	defer cancel()
	if w.atOnce {
		cancel()
	}
	held, err := turn.Await(w.ctx)
	if err == nil {
		return held, nil
	}
	switch {
	case errors.Is(err, lease.ErrLost):
		return nil, r.Failed(err)
	case w.atOnce && ctx.Err() == nil:
		err = queue.ErrNotFree
	}
	w.seen.Ahead, w.seen.Holder = turn.Ahead(), r.Self
	return nil, w.explain(err)
}

// Failed is the error for an acquire that failed, and not because its time was up.
func (r *Recipe) Failed(err error) error {
	return fmt.Errorf("acquire %s: %w", quote.Path(r.Client.FullPath(r.Path)), err)
}
