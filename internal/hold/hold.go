package hold

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
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
	// Of is the path of the recipe for observers; "" if it is that of the key.
	Of string
	// Path is the znode of the slot.
	Path string
	// Also are further znodes of the slot, made in the same transaction. The hold needs
	// all of them.
	Also []string
	// Token is the fencing token.
	Token lease.Token
	// Czxid is that of the znodes; 0 if it is the token.
	Czxid int64
	// Made is when the create of the znode was answered; zero is now.
	Made time.Time
	// Terms are the times of the slot, which do not change; nil for none.
	Terms *Terms
	// Recorded is set if the holder is recorded for a lock-delay. A release deletes the
	// record.
	Recorded bool
	// Watch is on the znode, set by a read that showed this czxid and session. If it is
	// nil the hold sets its own.
	Watch Watch
	// Permits is how many are held of a semaphore; 0 is 1.
	Permits int
	// HandsOver is set if the slot may be handed over within the session, when it is
	// released, before its znode is deleted.
	HandsOver bool
	// RevocationRequested is set if revocation was requested before Watch was set.
	RevocationRequested bool
}

// A Watch is one that passes with a grant from a position to a hold. It gives its one
// event to a function, and not to a goroutine.
type Watch interface {
	// Take makes notify the function that gets the event. If there was an event before,
	// Take returns it, and true. Its calls are those of kit.Kit.GetNotify.
	Take(notify func(framework.Event)) (before framework.Event, fired bool)
	// Stop ends the watch. A hold stops it when it was released, or when the znode is
	// known to be gone: while the znode of a lost hold exists, others may rely on the
	// watch.
	Stop()
}

// A Hold is one granted slot. There may be very many, for a long time, so of its grant
// it keeps only what is needed later.
type Hold struct {
	client       *framework.Client
	reliance     kit.Reliance
	recipe, kind string // Key.Path and Key.Kind
	token        lease.Token
	czxid        int64
	terms        *Terms

	since               time.Duration         // by the clock of the table
	over                signal.Signal         // it was released or lost
	revocationRequested signal.Signal         // a client requested revocation
	suspended           <-chan struct{}       // closed when the connection breaks; nil if that does not matter
	doomed              atomic.Pointer[error] // why it is lost, if that was found where nothing can be ended
	observers           *observers            // nil if there are none
	table               *table
	entry               entry // in the table

	first Handle     // of the grant
	root  claimant   // the owner that it was granted to
	mu    sync.Mutex // guards what follows, and all claimants

	handles *Handle // those that are not released
	loss    *loss   // nil if it was not lost
	closed  bool    // the last handle was released
	removed bool    // the removal of the znodes of a lost hold has begun
	keeps   bool    // the slot, until the znode is known to be deleted

	cutShort bool   // work under a claim was: see noteCutShort
	recorded bool   // for a lock-delay; it does not change
	shared   bool   // nor does Key.Shared
	variant  uint16 // nor Key.Variant
}

// A loss is that of a hold.
type loss struct {
	why     error
	trusted time.Time // until when the hold would have been
}

// Start starts the hold and returns its first lease, whose context derives from ctx. It
// never fails: if the session is over already, the hold is lost.
func Start(ctx context.Context, g Grant) *lease.Lease {
	if g.Czxid == 0 {
		g.Czxid = int64(g.Token)
	}
	if g.Terms == nil {
		g.Terms = new(Terms)
	}
	h := &Hold{
		client: g.Client, reliance: g.Reliance, recipe: g.Key.Path, kind: g.Key.Kind, variant: g.Key.Variant, shared: g.Key.Shared,
		token: g.Token, czxid: g.Czxid, terms: g.Terms, recorded: g.Recorded, keeps: !g.HandsOver || g.Recorded, table: tableOf(g.Client, g.Session),
	}
	h.since = h.table.now()
	if kit.Of(g.Client).StopOnSuspend() {
		h.suspended = g.Session.Suspended()
	}
	if g.RevocationRequested {
		h.revocationRequested.Give()
	}
	handle := &h.first
	h.bind(h.observed(ctx, &g), handle, &h.root)
	h.admit(handle)
	h.watch(&g)
	return &handle.lease
}

// Session returns the session that owns the slot.
func (h *Hold) Session() *framework.Session { return h.table.session }

// Path returns the znode of the slot.
func (h *Hold) Path() string { return h.entry.own.path }

// Token returns the fencing token.
func (h *Hold) Token() lease.Token { return h.token }

// held returns how long it has been held.
func (h *Hold) held() time.Duration { return h.table.now() - h.since }

// watch has the table look after the hold.
func (h *Hold) watch(g *Grant) {
	if why := h.table.add(h, g); why != nil {
		// If the client is being closed the znodes remain until the session ends, or
		// until the hold is released.
		h.lose(why)
		h.notifyLost()
		return
	}
	h.reliance.OnFailure(func(err error) { h.doom(missing(err)) })
	if g.Watch == nil {
		return
	}
	own := &h.entry.own // it is in the table, so that no event is missed
	if ev, fired := g.Watch.Take(own.notify); fired {
		own.notify(ev)
	}
}

// bind completes a new handle of an owner.
func (h *Hold) bind(ctx context.Context, handle *Handle, o *claimant) {
	handle.hold, handle.owner, handle.outer, handle.lease = h, o, ctx, *lease.New(handle)
}

// err returns nil while the hold lasts. It compares the clock.
func (h *Hold) err() error {
	if h.terms.MaxHold > 0 && h.held() >= h.terms.MaxHold {
		h.lose(lease.ErrMaxHold)
	}
	select {
	case <-h.suspended:
		h.lose(lease.ErrSuspended)
	default:
	}
	if err := h.Session().Err(); err != nil {
		h.lose(err)
	}
	if why := h.doomed.Load(); why != nil {
		h.lose(*why)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.loss != nil:
		return h.loss.why
	case h.closed:
		return releasedError{h}
	}
	return nil
}

// lose ends the hold for a reason, unless it has ended before. A server that ends a
// session sends the events of its znodes first: if the end of the session is known as
// well, that is the reason.
func (h *Hold) lose(reason error) {
	if over := h.Session().Err(); over != nil && !errors.Is(reason, lease.ErrMaxHold) && !errors.Is(reason, lease.ErrSuspended) {
		reason = over
	}
	h.mu.Lock()
	if h.loss != nil || h.closed {
		h.mu.Unlock()
		return
	}
	h.loss = &loss{h.lost(reason), h.trustedUntil()}
	var handles []*Handle
	for handle := h.handles; handle != nil; handle = handle.next {
		handles = append(handles, handle)
	}
	h.mu.Unlock()
	h.end()
	for _, handle := range handles {
		handle.end(lost)
	}
	h.table.mark(h)
}

// doom ends the hold from where nothing can be ended: where events come from. Err knows
// it at once; the table's goroutine ends the contexts. It does nothing for one that is
// over already: the event of a release comes here, too.
func (h *Hold) doom(reason error) {
	if h.over.Given() {
		return
	}
	why := reason
	h.doomed.CompareAndSwap(nil, &why)
	h.table.mark(h)
}

// end ends the quorum's vouching for the znodes, when the hold is released or lost.
func (h *Hold) end() {
	h.reliance.End()
	h.over.Give()
}

// trustedUntil is the time until which the hold is certain to last if no server answers
// any more.
func (h *Hold) trustedUntil() time.Time {
	until := h.Session().TrustedUntil()
	if end := h.table.epoch.Add(h.since).Add(h.terms.MaxHold); h.terms.MaxHold > 0 && end.Before(until) {
		return end
	}
	return until
}

// lost returns the error for a hold that is lost at this moment.
func (h *Hold) lost(reason error) error {
	return &lease.LossError{Path: h.client.FullPath(h.Path()), Token: h.token, Session: h.Session().ID(), Held: h.held(), Reason: reason}
}
