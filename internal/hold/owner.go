package hold

import (
	"context"
	"errors"

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
}

func (k Key) equal(other Key) bool {
	return k.Path == other.Path && k.Kind == other.Kind && k.Client.SameEnsemble(other.Client)
}

// owned is the chain of holds that a context owns, innermost first.
type owned struct {
	hold   *Hold           // nil: what lies behind does not count
	parent context.Context // the one that the claim was made with
	outer  *owned
}

type ownedKey struct{}

func chain(ctx context.Context) *owned {
	link, _ := ctx.Value(ownedKey{}).(*owned)
	return link
}

// bind makes a context own the hold.
func (h *Hold) bind(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownedKey{}, &owned{hold: h, parent: ctx, outer: chain(ctx)})
}

// WithoutOwner strips a context of all ownership.
func WithoutOwner(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownedKey{}, &owned{})
}

// Enter returns a new handle on the hold of that key that ctx owns. It returns
// nil without an error if ctx owns none, or one that was released. If the hold
// was lost the error says so: a stranger's place in the queue is not what the
// caller, who believes to be inside, wants.
func Enter(ctx context.Context, key Key) (*Handle, error) {
	for link := chain(ctx); link != nil && link.hold != nil; link = link.outer {
		if !link.hold.Key.equal(key) {
			continue
		}
		if handle, err := link.hold.enter(ctx); err != nil || handle != nil {
			return handle, err
		}
	}
	return nil, nil
}

// enter opens a further handle unless the hold is over.
func (h *Hold) enter(ctx context.Context) (*Handle, error) {
	switch err := h.err(); {
	case errors.Is(err, ErrReleased):
		return nil, nil
	case err != nil:
		return nil, err
	}
	handle := &Handle{hold: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.loss != nil:
		return nil, h.loss
	case len(h.handles) == 0: // the last one is being released right now
		return nil, nil
	}
	h.handles[handle] = struct{}{}
	handle.ctx, handle.cancel = context.WithCancelCause(h.bind(ctx))
	return handle, nil
}

// Owner returns the hold of that key that ctx owns, nil if it owns none that was
// not released, or the error of one that was lost.
func Owner(ctx context.Context, key Key) (*Hold, error) {
	for link := chain(ctx); link != nil && link.hold != nil; link = link.outer {
		if !link.hold.Key.equal(key) {
			continue
		}
		switch err := link.hold.err(); {
		case err == nil:
			return link.hold, nil
		case !errors.Is(err, ErrReleased):
			return nil, err
		}
	}
	return nil, nil
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

// EnterAfter is Enter for a context of Outlive, which it ends with the handle.
func EnterAfter(ctx context.Context, done context.CancelFunc, key Key) (*Handle, error) {
	handle, err := Enter(ctx, key)
	if handle == nil {
		done()
		return nil, err
	}
	context.AfterFunc(handle.ctx, done)
	return handle, nil
}
