package hold

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Key says what a place is a place of. Two acquirers with equal keys re-enter each
// other's holds.
type Key struct {
	// Client is any view of the client.
	Client *framework.Client
	// Path is the full path of the recipe.
	Path string
	// Kind tells recipes on one path apart.
	Kind string
	// Shared is set if places of that kind do not exclude each other. The forks of an
	// owner then do not either.
	Shared bool
}

func (k Key) equal(other Key) bool {
	return k.Path == other.Path && k.Kind == other.Kind && kit.Of(k.Client).SameClient(other.Client)
}

// Enter returns a new lease on the hold of that key that ctx owns, or the turn to wait
// for if it is a fork's, which has to wait until the forks before it have left. It
// returns neither, and no error, if ctx owns none, or one that was released. If the
// hold was lost the error says so: a stranger's place in the queue is not what the
// caller, who believes to be inside, wants.
func Enter(ctx context.Context, key Key) (*lease.Lease, *ForkWait, error) {
	for claim, forked := range owner.Claims[*Handle](ctx) {
		if !claim.hold.Key.equal(key) {
			continue
		}
		switch handle, turn, err := claim.hold.enter(ctx, claim.owner, forked); {
		case handle != nil:
			return lease.New(handle), nil, nil
		case turn != nil || err != nil:
			return nil, turn, err
		}
	}
	return nil, nil, nil
}

// Owner returns the hold of that key that ctx owns, nil if it owns none that was not
// released, or the error of one that was lost. forked tells that it is not the owner
// that the place was granted to, but a fork.
func Owner(ctx context.Context, key Key) (h *Hold, forked bool, err error) {
	for claim, forked := range owner.Claims[*Handle](ctx) {
		if !claim.hold.Key.equal(key) {
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

// MarkDeleted ends the hold because its znode is gone, unless it was released: who
// releases says so before it removes the znode.
func (h *Hold) MarkDeleted() { h.lose(lease.ErrDeleted) }

// Loss returns the error of the hold's loss, nil if it stands or was released.
func (h *Hold) Loss() error {
	if err := h.err(); !errors.Is(err, lease.ErrReleased) {
		return err
	}
	return nil
}

// Outlive returns a context with the values of ctx, which the hold owns, for work that
// goes on when the hold is released. For any other reason it ends when ctx does. Once
// ctx has ended by a release it ends with the context in which that claim on the hold
// was made. It has the deadline of ctx. The function must be called when the context is
// no longer used.
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
				return // the latter it has of its own
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
