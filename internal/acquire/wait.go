package acquire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errWaitOver is the cause of a context that the timeout ends.
var errWaitOver = errors.New("wait is over")

// A wait is one call of Acquire: tries, one after another, until one has a slot or the
// time is up.
type wait struct {
	recipe   *Recipe
	work     context.Context // the caller's
	requests context.Context // the same with what observers add to it
	ctx      context.Context // derived from that, bounded by the timeout
	start    time.Time
	atOnce   bool       // it must not wait for other contenders
	failed   error      // why the last position was lost
	seen     queue.Seen // for the error
}

// begin starts the clock of a wait.
func (r *Recipe) begin(ctx context.Context, timeout time.Duration) (*wait, context.CancelFunc) {
	o := observing(ctx)
	w := &wait{recipe: r, work: ctx, requests: o.forRequests(ctx), start: time.Now(), seen: queue.Seen{Ahead: -1, Timed: o != nil}}
	ctx, stop := kit.Of(r.Client).WhileOpen(w.requests)
	cancel := context.CancelFunc(func() {})
	switch {
	case timeout <= 0:
		w.atOnce = true
		ctx, cancel = context.WithTimeoutCause(ctx, r.atOnceLimit(), errWaitOver)
	case timeout != lease.Forever:
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errWaitOver)
	}
	w.ctx = ctx
	return w, func() {
		cancel()
		stop()
	}
}

// atOnceLimit bounds an acquire that must not wait for other contenders: it still has
// to send requests, and a server that does not answer must not delay it.
func (r *Recipe) atOnceLimit() time.Duration {
	if s := r.Client.Session(); s != nil && s.Timeout() > 0 {
		return s.Timeout() / 3
	}
	return time.Second
}

// run tries until a slot is acquired.
func (w *wait) run(take Taker) (*lease.Lease, error) {
	for {
		session, err := w.session()
		if err != nil { // also for a view of the client that is pinned to a session
			return nil, w.explain(err)
		}
		held, err := w.try(session, take)
		switch {
		case err == nil:
			return held, nil
		case w.ctx.Err() != nil, errors.Is(err, framework.ErrClosed), errors.Is(err, queue.ErrNotFree):
			return nil, w.explain(err)
		case errors.Is(err, framework.ErrSessionLost), errors.Is(err, queue.ErrEvicted):
			w.failed = err // the position is lost; there is time left
		default:
			return nil, w.explain(err)
		}
	}
}

// try acquires in one session.
func (w *wait) try(session *framework.Session, take Taker) (*lease.Lease, error) {
	w.seen.Notified = time.Time{}
	return take(w.ctx, &Try{
		Client: w.recipe.Client.In(session), Session: session, AtOnce: w.atOnce, Work: w.work, Seen: &w.seen, wait: w,
	})
}

// session returns the session to wait in. An acquire that must not wait for other
// contenders does not wait for a connection either.
func (w *wait) session() (*framework.Session, error) {
	client := w.recipe.Client
	if w.atOnce {
		if err := client.Reachable(); errors.Is(err, framework.ErrNotConnected) {
			return nil, fmt.Errorf("%w: %w", queue.ErrNotFree, err)
		}
	}
	return client.AwaitSession(w.ctx)
}

// timedOut reports whether the time of the wait is up: the timeout, or the deadline of
// the caller's context.
func (w *wait) timedOut() bool {
	return errors.Is(w.ctx.Err(), context.DeadlineExceeded) && !errors.Is(w.work.Err(), context.Canceled)
}
