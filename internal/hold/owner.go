package hold

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Key identifies what is held. Acquirers with equal keys re-enter each other's holds.
type Key struct {
	// Client is any view of the client.
	Client *framework.Client
	// Path is that of the recipe for this view.
	Path string
	// Kind distinguishes recipes on one path.
	Kind string
	// Variant distinguishes recipes whose holds exclude each other all the same:
	// stripes of different numbers.
	Variant uint16
	// Shared is set if slots of that kind do not exclude each other. Nor do the forks
	// of an owner then.
	Shared bool
}

func (k Key) equal(other Key) bool {
	return k.Kind == other.Kind && k.Variant == other.Variant && kit.Of(k.Client).SameClient(other.Client) && k.Client.FullPath(k.Path) == other.Client.FullPath(other.Path)
}

// key returns that of the hold.
func (h *Hold) key() Key { return Key{h.client, h.recipe, h.kind, h.variant, h.shared} }

// Enter returns a new lease on the hold of that key that ctx owns, or a ForkWait if ctx
// is a fork's that has to wait until the forks before it have left. It returns neither,
// and no error, if ctx owns no such hold, or a released one. If the hold was lost that
// is the error: the caller believes that it holds the slot, so a new position in the
// queue is not what it wants.
func Enter(ctx context.Context, key Key) (*lease.Lease, *ForkWait, error) {
	for claim, forked := range owner.Claims[*Handle](ctx) {
		if !claim.hold.key().equal(key) {
			continue
		}
		if claim.over.Given() && claim.isOpen() { // it is lost, or was given up
			return nil, nil, claim.Err()
		}
		switch handle, wait, err := claim.hold.enter(ctx, claim.owner, forked); {
		case handle != nil:
			return &handle.lease, nil, nil
		case wait != nil || err != nil:
			return nil, wait, err
		}
	}
	return nil, nil, nil
}

// Owner returns the hold of that key that ctx owns. It returns nil if there is none, or
// only a released one, and the error of a lost one. forked says that the owner is a
// fork, not the one that the slot was granted to.
func Owner(ctx context.Context, key Key) (h *Hold, forked bool, err error) {
	for claim, forked := range owner.Claims[*Handle](ctx) {
		if !claim.hold.key().equal(key) {
			continue
		}
		switch err := claim.hold.err(); {
		case err == nil:
			return claim.hold, forked || claim.owner.parent != nil, nil
		case !errors.Is(err, lease.ErrReleased):
			return nil, false, err
		}
	}
	return nil, false, nil
}

// KeepUntilDeleted has the slot be free only when its znode is known to be deleted: it
// is not handed over within the session before that. It reports false if the hold is
// over.
func (h *Hold) KeepUntilDeleted() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keeps = true
	return h.loss == nil && !h.closed
}

// MarkDeleted ends the hold because its znode was deleted. It does nothing after a
// release, which ends the hold before it deletes the znode.
func (h *Hold) MarkDeleted() { h.lose(lease.ErrDeleted) }

// Loss returns the error of the hold's loss; nil if it lasts or was released.
func (h *Hold) Loss() error {
	if err := h.err(); !errors.Is(err, lease.ErrReleased) {
		return err
	}
	return nil
}

// Outlive returns a context with the values of ctx, which owns the hold, for work that
// goes on after the hold is released. It ends when ctx does, except by a release: after
// that it ends with the context with which that claim on the hold was made. It has the
// deadline of ctx. The function must be called when the context is no longer used.
func (h *Hold) Outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	outlived, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	followed := []context.Context{ctx}
	for claim := range owner.Claims[*Handle](ctx) {
		if claim.hold == h {
			followed = append(followed, claim.outer)
		}
	}
	look := func() {
		for _, f := range followed { // innermost first
			cause := context.Cause(f)
			if cause == nil || errors.Is(f.Err(), context.DeadlineExceeded) {
				return // outlived has the deadline itself
			}
			if !errors.Is(cause, releasedError{h}) {
				cancel(cause)
				return
			}
		}
	}
	var stops []func() bool
	for _, f := range followed {
		stops = append(stops, context.AfterFunc(f, look))
	}
	free := func() { cancel(nil) }
	if deadline, ok := ctx.Deadline(); ok {
		outlived, free = context.WithDeadline(outlived, deadline)
	}
	return outlived, func() {
		free()
		for _, stop := range stops {
			stop()
		}
	}
}
