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

// A Grant describes a place that was just granted.
type Grant struct {
	// Client is pinned to the session that owns the place.
	Client *framework.Client
	// Session is that session.
	Session *framework.Session
	// Reliance is on all its znodes. The hold ends it.
	Reliance kit.Reliance
	// Key says what the place is a place of.
	Key Key
	// Path is the znode of the place.
	Path string
	// Also are further znodes that stand and fall with it, made by the same
	// transaction.
	Also []string
	// Token is the fencing token.
	Token lease.Token
	// Czxid is the one of the znodes; 0 if the token is it.
	Czxid int64
	// MaxHold ends the hold after that time; 0 is no limit.
	MaxHold time.Duration
	// Watch is on the znode, set when it was seen to be the session's under that token.
	// Nil if there is none: the hold then sets its own.
	Watch *framework.Watch
	// Unwatch ends Watch; nil if there is none. The hold calls it.
	Unwatch context.CancelFunc
	// Permits is how many are held of a semaphore; 0 is 1.
	Permits int
	// RevocationRequested is set if the holder was asked to give way before Watch was
	// set.
	RevocationRequested bool
}

// A Hold is one granted place.
type Hold struct {
	Grant

	since               time.Time
	over                signal.Signal           // it was released or lost
	released            signal.Signal           // the last handle was
	revocationRequested signal.Signal           // the holder was asked to give way
	suspended           <-chan struct{}         // closed when the connection breaks; nil if that does not matter
	cleanup             sync.Once               // the removal of the znodes is under way
	work                context.Context         // of the first lease, if there are observers; nil if not
	ended               func(framework.HoldEnd) // tells them of the end

	mu      sync.Mutex // guards what follows, and all claimants
	handles map[*Handle]struct{}
	closed  bool          // the last handle was released
	loss    error         // why it was lost; nil if it was not
	held    time.Duration // until it was lost
	trusted time.Time     // until when it would have been, if it was lost
}

// Start begins the hold and returns its first lease, whose context derives from ctx. It
// never fails: if the session is over already, so is the hold.
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
	// If the client is being closed the znodes stay for as long as the session does,
	// unless the hold is released before.
	watched := kit.Of(g.Client).GoHolding(g.Session, func() { h.lose(framework.ErrClosed) }, func(ctx context.Context) { h.watch(ctx, g.Path) })
	alive := watched
	for _, path := range g.Also {
		alive = alive && g.Session.Go(func(ctx context.Context) { h.watch(ctx, path) })
	}
	if !alive {
		h.lose(g.Session.Err())
	}
	if !watched {
		h.tellLost()
	}
	return lease.New(handle)
}

// handle prepares a handle for an owner, whose context owns it.
func (h *Hold) handle(ctx context.Context, o *claimant) *Handle {
	handle := &Handle{hold: h, owner: o, outer: ctx}
	handle.ctx, handle.cancel = context.WithCancelCause(owner.Bind(ctx, handle))
	return handle
}

// err returns nil while the hold stands by the clock at this moment.
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
// session removes its znodes, and tells of those first: if the end is known, too, that
// is the reason.
func (h *Hold) lose(reason error) {
	if over := h.Session.Err(); over != nil && !errors.Is(reason, lease.ErrMaxHold) && !errors.Is(reason, lease.ErrSuspended) {
		reason = over
	}
	h.mu.Lock()
	if h.loss != nil || h.closed {
		h.mu.Unlock()
		return
	}
	h.held = time.Since(h.since)
	h.loss, h.trusted = h.lost(reason, h.held), h.trustedUntil()
	handles := slices.Collect(maps.Keys(h.handles))
	h.mu.Unlock()
	h.end()
	for _, handle := range handles {
		handle.end(h.loss)
	}
}

// end says that the hold is released or lost: its znodes need not be vouched for any
// more, nor be watched by the watch that came with the grant.
func (h *Hold) end() {
	h.Reliance.End()
	h.over.Give()
	if h.Unwatch != nil {
		h.Unwatch()
	}
}

// trustedUntil is the time until which the hold is certain to stand if nothing more is
// heard from a server.
func (h *Hold) trustedUntil() time.Time {
	until := h.Session.TrustedUntil()
	if end := h.since.Add(h.MaxHold); h.MaxHold > 0 && end.Before(until) {
		return end
	}
	return until
}

// lost returns the error for a hold that is lost after it was held for so long.
func (h *Hold) lost(reason error, held time.Duration) error {
	return &lease.LossError{Path: h.Client.FullPath(h.Path), Token: h.Token, Held: held, Reason: reason}
}

// remains reports whether a znode of a lost hold may still be there to be removed: not
// if the session is over or the only znode was what was lost.
func (h *Hold) remains() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := (errors.Is(h.loss, lease.ErrDeleted) || errors.Is(h.loss, errReplaced)) && len(h.Also) == 0
	return h.loss != nil && !gone && h.Session.Err() == nil
}

// remove makes the znodes go in the background, once.
func (h *Hold) remove() {
	h.cleanup.Do(func() {
		for _, path := range h.paths() {
			kit.Of(h.Client).DeleteInBackground(path)
		}
	})
}

// paths returns all znodes.
func (h *Hold) paths() []string { return append([]string{h.Path}, h.Also...) }

// removeNow removes the znodes, all at once, and leaves to the background what is not
// certain to have gone.
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

// close gives the place up: the last handle was released.
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
	lost := h.loss != nil // just now, which the watch tells
	h.mu.Unlock()
	h.letGo()
	if h.ended == nil || lost {
		return h.free()
	}
	held := time.Since(h.since)
	err := h.free()
	h.tellEnd(held, err)
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
		return h.lost(lease.ErrDeleted, time.Since(h.since))
	case framework.OutcomeOf(err) == framework.Unknown, ctx.Err() != nil:
		// It stood when it was released, and the framework does the rest.
		return nil
	case errors.Is(err, framework.ErrSessionLost), errors.Is(err, framework.ErrClosed):
		return h.lost(err, time.Since(h.since))
	case errors.Is(err, framework.ErrNoAuth): // an ACL that lets us create, but not delete
		return fmt.Errorf("release %s: %w", quote.Path(h.Client.FullPath(h.Path)), err)
	}
	return nil // the background removes them
}

// letGo ends watch, and before the znodes go that they are vouched for.
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
