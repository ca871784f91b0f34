package hold

import (
	"context"
	"errors"
	"iter"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A Key says what a place is a place of. Two acquirers with equal keys re-enter
// each other's holds.
type Key struct {
	// Client is any view of the client.
	Client *framework.Client
	// Path is the full path of the recipe.
	Path string
	// Kind tells recipes on one path apart.
	Kind string
	// Shared is set if places of that kind do not exclude each other. The forks of
	// an owner then do not either.
	Shared bool
}

func (k Key) equal(other Key) bool {
	return k.Path == other.Path && k.Kind == other.Kind && k.Client.SameEnsemble(other.Client)
}

// owned is the chain of holds that a context owns, innermost first.
type owned struct {
	hold   *Hold           // nil: from here outwards it is a fork's
	owner  *owner          // whose claim on the hold it is
	parent context.Context // the one that the claim was made with
	outer  *owned
}

type ownedKey struct{}

func chain(ctx context.Context) *owned {
	link, _ := ctx.Value(ownedKey{}).(*owned)
	return link
}

// bind makes a context own the hold, for one of its owners.
func (h *Hold) bind(ctx context.Context, o *owner) context.Context {
	return context.WithValue(ctx, ownedKey{}, &owned{hold: h, owner: o, parent: ctx, outer: chain(ctx)})
}

// WithoutOwner strips a context of all ownership.
func WithoutOwner(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownedKey{}, (*owned)(nil))
}

// Fork makes a context that of a new owner below the one that ctx belongs to.
func Fork(ctx context.Context) context.Context {
	outer := chain(ctx)
	if outer == nil {
		return ctx // whoever acquires with it is a new owner anyway
	}
	return context.WithValue(ctx, ownedKey{}, &owned{outer: outer})
}

// claims returns those of ctx on holds of that key, innermost first, and whether each
// is only a claim of an owner above, because ctx is that of a fork.
func claims(ctx context.Context, key Key) iter.Seq2[*owned, bool] {
	return func(yield func(*owned, bool) bool) {
		forked := false
		for link := chain(ctx); link != nil; link = link.outer {
			switch {
			case link.hold == nil:
				forked = true
			case link.hold.Key.equal(key) && !yield(link, forked):
				return
			}
		}
	}
}

// Enter returns a new handle on the hold of that key that ctx owns, or the turn to
// wait for if it is a fork's, which has to wait until the forks before it have left.
// It returns neither, and no error, if ctx owns none, or one that was released. If the
// hold was lost the error says so: a stranger's place in the queue is not what the
// caller, who believes to be inside, wants.
func Enter(ctx context.Context, key Key) (*Handle, *Turn, error) {
	for link, forked := range claims(ctx, key) {
		if handle, turn, err := link.hold.enter(ctx, link.owner, forked); err != nil || handle != nil || turn != nil {
			return handle, turn, err
		}
	}
	return nil, nil, nil
}

// enter opens a further handle for an owner, or for a new fork of it, unless the hold
// or what this owner has of it is over.
func (h *Hold) enter(ctx context.Context, o *owner, forks bool) (*Handle, *Turn, error) {
	_ = h.err() // by the clock it may have ended just now
	if forks {
		return h.enterFork(ctx, o)
	}
	handle := h.handle(ctx, o)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.loss; err != nil || o.claims == 0 { // lost, or the last claim was released, or is being released right now
		handle.cancel(err)
		return nil, nil, err
	}
	h.admit(handle)
	return handle, nil, nil
}

// Owner returns the hold of that key that ctx owns, nil if it owns none that was not
// released, or the error of one that was lost. forked tells that it is not the owner
// that the place was granted to, but a fork.
func Owner(ctx context.Context, key Key) (h *Hold, forked bool, err error) {
	for link, forked := range claims(ctx, key) {
		switch err := link.hold.err(); {
		case err == nil:
			return link.hold, forked || link.owner.parent != nil, nil
		case !errors.Is(err, ErrReleased):
			return nil, false, err
		}
	}
	return nil, false, nil
}

// Lost ends the hold because its znode is gone, unless it was released: who releases
// says so before it removes the znode.
func (h *Hold) Lost() { h.lose(ErrDeleted) }

// Loss returns the error of the hold's loss, nil if it stands or was released.
func (h *Hold) Loss() error {
	if err := h.err(); !errors.Is(err, ErrReleased) {
		return err
	}
	return nil
}

// Outlive returns a context with the values of ctx, which the hold owns, for work
// that goes on when the hold is released. For any other reason it ends when ctx
// does. Once ctx has ended by a release it ends with the context in which that claim
// on the hold was made. It has the deadline of ctx. The function must be called when
// the context is no longer used.
func (h *Hold) Outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	outlived, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	followed := []context.Context{ctx}
	for link := chain(ctx); link != nil; link = link.outer {
		if link.hold == h {
			followed = append(followed, link.parent)
		}
	}
	look := func() {
		for _, f := range followed { // innermost first
			cause := context.Cause(f)
			if cause == nil || errors.Is(f.Err(), context.DeadlineExceeded) {
				return // the latter it has of its own
			}
			if released := (*releasedError)(nil); !errors.As(cause, &released) || released.hold != h {
				cancel(cause)
				return
			}
		}
	}
	ends := []func(){func() { cancel(nil) }}
	for _, f := range followed {
		stop := context.AfterFunc(f, look)
		ends = append(ends, func() { stop() })
	}
	if deadline, ok := ctx.Deadline(); ok {
		var free context.CancelFunc
		outlived, free = context.WithDeadline(outlived, deadline)
		ends = append(ends, free)
	}
	return outlived, func() {
		for _, end := range ends {
			end()
		}
	}
}

// StartAfter is Start for a context of Outlive, which it ends with the handle.
func StartAfter(ctx context.Context, done context.CancelFunc, g Grant) *Handle {
	handle := Start(ctx, g)
	context.AfterFunc(handle.ctx, done)
	return handle
}
