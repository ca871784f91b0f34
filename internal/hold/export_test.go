package hold

import (
	"context"

	"github.com/zkrecipes/zkrecipes/internal/owner"
)

// Dismiss is the first step of the release of the lease with this context. It returns
// the other.
func Dismiss(ctx context.Context) (leave func() error) {
	for handle := range owner.Claims[*Handle](ctx) {
		handle.hold.dismiss(handle)
		return handle.leave
	}
	return nil
}

// Admitted is closed when the fork is admitted.
func (t *ForkWait) Admitted() <-chan struct{} { return t.ready }
