package acquire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Recipe describes what is acquired. It has no state, and is safe for concurrent use.
type Recipe struct {
	// Client is any client.
	Client *framework.Client
	// Path is that of the recipe.
	Path string
	// Of is the path for observers, of the recipe that this one is a part of; "" if it
	// is Path.
	Of string
	// Terms are the times of its slots.
	Terms hold.Terms
	// Kind is what is acquired: lease.KindMutex and so on.
	Kind string
	// Variant distinguishes it from others of its kind on the path, for re-entry.
	Variant uint16
	// NotReentrant is set if a context that owns a slot does not re-enter it.
	NotReentrant bool
	// Shared is set if its slots do not exclude each other.
	Shared bool
	// Nodes is how many nodes a contender may have at once; 0 means one.
	Nodes int
	// Self describes the holder.
	Self *queue.Process
	// ProtectedNodes are the nodes that credentials must protect.
	ProtectedNodes []recipepath.ProtectedNode
	// Queue is the one whose admitted positions are the slots. It is nil if there is
	// more to a slot.
	Queue *queue.Queue
}

// A Taker acquires a slot in the session of a try, with the try's context, and starts
// its hold. It is called again after a framework.ErrSessionLost, with another session,
// and after a queue.ErrEvicted or a queue.ErrSteppedBack. On failure none of its nodes
// remains, or they are being deleted.
type Taker func(ctx context.Context, t *Try) (*lease.Lease, error)

// Key identifies its holds for re-entry.
func (r *Recipe) Key() hold.Key {
	return hold.Key{Client: r.Client, Path: r.Path, Kind: r.Kind, Variant: r.Variant, Shared: r.Shared}
}

// Acquire re-enters the hold that ctx owns, or waits up to timeout for a slot; with 0
// or less it acquires only a slot that is free now.
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

// Take is Acquire for a ctx that owns no hold, without notifying observers: see
// Observed.
func (r *Recipe) Take(ctx context.Context, timeout time.Duration, take Taker) (*lease.Lease, error) {
	w := r.begin(ctx, timeout)
	defer w.end()
	if ctx.Err() != nil {
		return nil, w.explain(context.Cause(ctx))
	}
	return w.run(take)
}

// Enter re-enters the hold that ctx owns; a fork waits up to timeout until the forks
// before it have left. It returns nil if there is no hold.
func (r *Recipe) Enter(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if r.NotReentrant {
		return nil, nil
	}
	held, wait, err := hold.Enter(ctx, r.Key())
	if wait != nil {
		held, err = r.await(ctx, timeout, wait)
	}
	if held == nil || ctx.Err() == nil {
		if o := observing(ctx); held != nil && o != nil {
			o.reentered = true
		}
		return held, err
	}
	_ = held.Release() // an ended context enters no hold
	w := r.begin(ctx, timeout)
	defer w.end()
	return nil, w.explain(context.Cause(ctx))
}

// await waits until a fork is admitted.
func (r *Recipe) await(ctx context.Context, timeout time.Duration, fork *hold.ForkWait) (*lease.Lease, error) {
	w := r.begin(ctx, timeout)
	defer w.end()
	if w.try.AtOnce {
		w.cancel(nil)
	}
	held, err := fork.Await(w.ctx)
	if err == nil {
		return held, nil
	}
	switch {
	case errors.Is(err, lease.ErrLost):
		return nil, r.Failed(err)
	case w.try.AtOnce && ctx.Err() == nil:
		err = queue.ErrNotFree
	}
	w.seen.Ahead, w.seen.Holder = fork.Ahead(), &r.Self.Holder
	return nil, w.explain(err)
}

// Left is the timeout for what remains of an acquire that has begun at start. When the
// time is up it is TimeUp, as 0 would mean at once.
func Left(timeout time.Duration, start time.Time) time.Duration {
	if timeout <= 0 || timeout == lease.Forever {
		return timeout
	}
	return max(timeout-time.Since(start), TimeUp)
}

// TimeUp is the shortest timeout.
const TimeUp = time.Duration(1)

// Failed is the error of an acquire that failed before its time was up.
func (r *Recipe) Failed(err error) error {
	return fmt.Errorf("acquire %s: %w", quote.Path(r.Client.FullPath(r.Path)), err)
}
