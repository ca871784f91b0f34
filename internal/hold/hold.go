package hold

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/signal"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Grant describes a slot that was just granted.
type Grant struct {
	// Client is pinned to the session that owns the slot.
	Client *framework.Client
	// Session is that session.
	Session *framework.Session
	// Reliance is on all its znodes. The end of the hold ends it.
	Reliance kit.Reliance
	// Key identifies what is held, for re-entry.
	Key Key
	// Path is the znode of the slot.
	Path string
	// Also are further znodes of the slot, made in the same transaction. The hold needs
	// all of them.
	Also []string
	// Token is the fencing token.
	Token lease.Token
	// Czxid is that of the znodes; 0 if it is the token.
	Czxid int64
	// MaxHold ends the hold after that time; 0 is no limit.
	MaxHold time.Duration
	// Watch is on the znode, set by a read that showed this czxid and session. If it is
	// nil the hold sets its own.
	Watch *framework.Watch
	// Unwatch ends Watch; nil without one. The hold calls it.
	Unwatch context.CancelFunc
	// Permits is how many are held of a semaphore; 0 is 1.
	Permits int
	// RevocationRequested is set if revocation was requested before Watch was set.
	RevocationRequested bool
}

// A Hold is one granted slot.
type Hold struct {
	Grant

	since               time.Time
	over                signal.Signal           // it was released or lost
	released            signal.Signal           // the last handle was released
	revocationRequested signal.Signal           // a client requested revocation
	suspended           <-chan struct{}         // closed when the connection breaks; nil if that does not matter
	cleanup             sync.Once               // the removal of the znodes is under way
	work                context.Context         // of the first lease, if there are observers; nil if not
	ended               func(framework.HoldEnd) // notifies them of the end

	mu      sync.Mutex // guards what follows, and all claimants
	handles map[*Handle]struct{}
	closed  bool      // the last handle was released
	loss    error     // why it was lost; nil if it was not
	trusted time.Time // until when it would have been, if it was lost
}

// Start starts the hold and returns its first lease, whose context derives from ctx. It
// never fails: if the session is over already, the hold is lost.
func Start(ctx context.Context, g Grant) *lease.Lease {
	if g.Czxid == 0 {
		g.Czxid = int64(g.Token)
	}
	h := &Hold{Grant: g, since: time.Now(), handles: map[*Handle]struct{}{}}
	if kit.Of(g.Client).StopOnSuspend() {
		h.suspended = g.Session.Suspended()
	}
	if g.RevocationRequested {
		h.revocationRequested.Give()
	}
	handle := h.handle(h.observed(ctx), &claimant{})
	h.admit(handle)
	// If the client is being closed the znodes remain until the session ends, or until
	// the hold is released.
	watched := kit.Of(g.Client).GoHolding(g.Session, func() { h.lose(framework.ErrClosed) }, func(ctx context.Context) { h.watch(ctx, g.Path) })
	alive := watched
	for _, path := range g.Also {
		alive = alive && g.Session.Go(func(ctx context.Context) { h.watch(ctx, path) })
	}
	if !alive {
		h.lose(g.Session.Err())
	}
	if !watched {
		h.notifyLost()
	}
	return lease.New(handle)
}

// handle makes a handle for an owner. Its context owns the hold.
func (h *Hold) handle(ctx context.Context, o *claimant) *Handle {
	handle := &Handle{hold: h, owner: o, outer: ctx}
	handle.ctx, handle.cancel = context.WithCancelCause(owner.Bind(ctx, handle))
	return handle
}

// err returns nil while the hold lasts. It compares the clock.
func (h *Hold) err() error {
	if h.MaxHold > 0 && time.Since(h.since) >= h.MaxHold {
		h.lose(lease.ErrMaxHold)
	}
	select {
	case <-h.suspended:
		h.lose(lease.ErrSuspended)
	default:
	}
	if err := h.Session.Err(); err != nil {
		h.lose(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.loss != nil:
		return h.loss
	case h.closed:
		return releasedError{h}
	}
	return nil
}

// lose ends the hold for a reason, unless it has ended before. A server that ends a
// session sends the events of its znodes first: if the end of the session is known as
// well, that is the reason.
func (h *Hold) lose(reason error) {
	if over := h.Session.Err(); over != nil && !errors.Is(reason, lease.ErrMaxHold) && !errors.Is(reason, lease.ErrSuspended) {
		reason = over
	}
	h.mu.Lock()
	if h.loss != nil || h.closed {
		h.mu.Unlock()
		return
	}
	h.loss, h.trusted = h.lost(reason), h.trustedUntil()
	handles := slices.Collect(maps.Keys(h.handles))
	h.mu.Unlock()
	h.end()
	for _, handle := range handles {
		handle.end(h.loss)
	}
}

// end ends what a hold needs until it is released or lost: the quorum's vouching for
// its znodes, and the watch that came with the grant.
func (h *Hold) end() {
	h.Reliance.End()
	h.over.Give()
	if h.Unwatch != nil {
		h.Unwatch()
	}
}

// trustedUntil is the time until which the hold is certain to last if no server answers
// any more.
func (h *Hold) trustedUntil() time.Time {
	until := h.Session.TrustedUntil()
	if end := h.since.Add(h.MaxHold); h.MaxHold > 0 && end.Before(until) {
		return end
	}
	return until
}

// lost returns the error for a hold that is lost at this moment.
func (h *Hold) lost(reason error) error {
	return &lease.LossError{Path: h.Client.FullPath(h.Path), Token: h.Token, Held: time.Since(h.since), Reason: reason}
}

// remains reports whether a znode of a lost hold may still exist: not after the end of
// the session, nor if the deletion of its only znode was the loss.
func (h *Hold) remains() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := errors.Is(h.loss, lease.ErrDeleted) && len(h.Also) == 0
	return h.loss != nil && !gone && h.Session.Err() == nil
}

// remove deletes the znodes in the background, once.
func (h *Hold) remove() {
	h.cleanup.Do(func() {
		for _, path := range h.paths() {
			kit.Of(h.Client).DeleteInBackground(path)
		}
	})
}

// paths returns all znodes.
func (h *Hold) paths() []string { return append([]string{h.Path}, h.Also...) }

// removeNow deletes all znodes at once. What is not certainly deleted is left to the
// background.
func (h *Hold) removeNow(ctx context.Context) error {
	if len(h.Also) == 0 {
		return h.Client.DeleteGuaranteed(ctx, h.Path)
	}
	var ops []framework.Op
	for _, path := range h.paths() {
		ops = append(ops, framework.DeleteOp(path, framework.AnyVersion))
	}
	_, err := h.Client.Multi(ctx, ops...)
	if err != nil {
		h.remove()
	}
	return err
}

// close releases the slot: the last handle was released.
func (h *Hold) close() error {
	if err := h.err(); err != nil {
		h.letGo()
		if h.remains() {
			h.remove()
		}
		return err
	}
	h.mu.Lock()
	h.closed = true
	lost := h.loss != nil // just now: the watch reports it
	h.mu.Unlock()
	h.letGo()
	if h.ended == nil || lost {
		return h.free()
	}
	held := time.Since(h.since)
	err := h.free()
	h.notifyEnd(held, err)
	return err
}

// free removes the znodes of a hold that is released. It returns an error if the slot
// was not its own any more, or if it remains taken.
func (h *Hold) free() error {
	ctx, cancel := RemovalContext(h.work, h.Session, h.Session.Timeout()/3)
	defer cancel()
	err := h.removeNow(ctx)
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return h.lost(lease.ErrDeleted)
	case framework.OutcomeOf(err) == framework.Unknown, ctx.Err() != nil:
		// It stood when it was released, and the framework does the rest.
		return nil
	case errors.Is(err, framework.ErrSessionLost), errors.Is(err, framework.ErrClosed):
		return h.lost(err)
	case errors.Is(err, framework.ErrNoAuth): // an ACL that lets us create, but not delete
		return fmt.Errorf("release %s: %w", quote.Path(h.Client.FullPath(h.Path)), err)
	}
	return nil // the background removes them
}

// letGo ends the watch goroutines. Before that it ends the vouching for the znodes,
// which are deleted next.
func (h *Hold) letGo() {
	h.end()
	h.released.Give()
}

// RemovalContext bounds the removal of a node: by a time, and by nothing at all while
// there is no connection, because then the background has to do it anyway. It has the
// values of a context, nil for none, and does not end with it.
func RemovalContext(values context.Context, s *framework.Session, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx := context.Background()
	if values != nil {
		ctx = context.WithoutCancel(values)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	select {
	case <-s.Suspended():
		cancel()
	default:
	}
	return ctx, cancel
}
