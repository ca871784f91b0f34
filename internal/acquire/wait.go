package acquire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errWaitOver is the cause of a context that the timeout ends.
var errWaitOver = errors.New("wait is over")

// A wait is one call of Acquire: tries, one after another, until one has a slot or the
// time is up.
type wait struct {
	recipe  *Recipe
	ctx     context.Context   // it also ends with the time, and when Close begins
	closing kit.CloseListener // whose function ends it
	besides func()            // forgets the listeners at other clients; nil without them
	timer   *time.Timer       // that ends it; nil without a timeout
	start   time.Time
	failed  error                // why the last position was lost
	full    []*framework.Session // had no room; refused is what they said last
	refused error
	seen    queue.Seen // for the error
	revoked bool       // was requested of a position that has stepped back
	try     Try        // the present one
}

// begin starts the clock of a wait, which has to be ended.
func (r *Recipe) begin(ctx context.Context, timeout time.Duration) *wait {
	o := observing(ctx)
	w := &wait{recipe: r, start: time.Now(), seen: queue.Seen{Ahead: -1}}
	if o != nil {
		w.seen.Measured = &o.measured
	}
	w.try = Try{Work: ctx, Seen: &w.seen, wait: w}
	w.ctx, w.closing.Closes = context.WithCancelCause(o.forRequests(ctx))
	kit.Of(r.Client).OnClose(&w.closing)
	w.besides = w.listenBesides(ctx)
	if timeout <= 0 {
		w.try.AtOnce, timeout = true, r.atOnceLimit()
	}
	if timeout != lease.Forever {
		w.timer = time.AfterFunc(timeout, func() { w.cancel(errWaitOver) })
	}
	return w
}

// cancel ends the context of the wait.
func (w *wait) cancel(cause error) { w.closing.Closes(cause) }

// end ends the context of the wait, and what would end it later.
func (w *wait) end() {
	kit.Of(w.recipe.Client).OffClose(&w.closing)
	if w.besides != nil {
		w.besides()
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	w.cancel(nil)
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
		held, err := w.tryIn(session, take)
		switch {
		case err == nil:
			return held, nil
		case errors.Is(err, queue.ErrSteppedBack): // no failure
		case w.ctx.Err() != nil, errors.Is(err, framework.ErrClosed), errors.Is(err, queue.ErrNotFree):
			return nil, w.explain(err)
		case errors.Is(err, framework.ErrSessionLost), errors.Is(err, queue.ErrEvicted):
			w.failed, w.revoked = err, false // the position is lost; there is time left
		case errors.Is(err, framework.ErrTooManyEphemerals) && !slices.Contains(w.full, session):
			w.full, w.refused = append(w.full, session), err // others were faster
		default:
			return nil, w.explain(err)
		}
	}
}

// tryIn acquires in one session.
func (w *wait) tryIn(session *framework.Session, take Taker) (*lease.Lease, error) {
	if w.seen.Measured != nil {
		w.seen.Measured.Notified = time.Time{}
	}
	w.try.Client, w.try.Session = kit.Of(w.recipe.Client).Within(session), session
	w.try.Ask, w.try.Verify, w.try.Slot, w.try.endings.Closed = nil, nil, nil, nil
	return take(w.ctx, &w.try)
}

// session returns the session to wait in. An acquire that must not wait for other
// contenders does not wait for a connection either.
func (w *wait) session() (*framework.Session, error) {
	client := w.recipe.Client
	if w.try.AtOnce {
		if err := client.Reachable(); errors.Is(err, framework.ErrNotConnected) {
			return nil, fmt.Errorf("%w: %w", queue.ErrNotFree, err)
		}
	}
	s, err := kit.Of(client).AwaitRoom(w.ctx, w.recipe.Path, folders, max(w.recipe.Nodes, 1), w.full)
	if w.refused != nil && errors.Is(err, framework.ErrTooManyEphemerals) {
		err = fmt.Errorf("%w: %w", err, w.refused) // which tells more
	}
	w.refused = nil
	return s, err
}

// folders are where recipes have the nodes of contenders.
var folders = []string{"", "/" + znode.QueueDir, "/" + znode.PermitsDir}

// timedOut reports whether the time of the wait is up: the timeout, or the deadline of
// the caller's context.
func (w *wait) timedOut() bool {
	over := errors.Is(context.Cause(w.ctx), errWaitOver) || errors.Is(w.ctx.Err(), context.DeadlineExceeded)
	return over && !errors.Is(w.try.Work.Err(), context.Canceled)
}
