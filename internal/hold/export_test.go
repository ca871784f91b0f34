package hold

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/owner"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Dismiss is the first step of the release of the lease with this context. It returns
// the other.
func Dismiss(ctx context.Context) (leave func() error) {
	for handle := range owner.Claims[*Handle](ctx) {
		handle.hold.dismiss(handle)
		return func() error { return handle.leave(awaited) }
	}
	return nil
}

// Admitted is closed when the fork is admitted.
func (t *ForkWait) Admitted() <-chan struct{} { return t.ready }

// Looking returns how many looks are under way in the session of a client, and how many
// holds there are.
func Looking(c *framework.Client) (looking, holds int) {
	t := tableOf(c, c.Session())
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range t.due {
		if n.cancel != nil {
			looking++
		}
	}
	return looking, len(t.holds())
}

// BeginClose does to the holds of a client what Close does first.
func BeginClose(c *framework.Client) { tableOf(c, c.Session()).close() }

// Removal returns the context for the removal of a node that begins now.
func Removal(c *framework.Client) context.Context {
	return tableOf(c, c.Session()).removal(c.Session().Timeout() / 3)
}

// Listeners returns how many wait for the first request to revoke a lease.
func Listeners(l *lease.Lease) int { return innermost(l.Context()).hold.revocationRequested.Waiting() }
