package hold

import (
	"fmt"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errReplaced is the reason of a loss: the znode is not the one that was granted.
var errReplaced = fmt.Errorf("%w, and there is another of its name", lease.ErrDeleted)

// A releasedError says that a hold, or a handle on it, was released. It is a
// lease.ErrReleased.
type releasedError struct{ hold *Hold }

// Error names the znode.
func (e releasedError) Error() string {
	return fmt.Sprintf("%s: %v", quote.Path(e.hold.Path()), lease.ErrReleased)
}

// Unwrap returns what the error is.
func (e releasedError) Unwrap() error { return lease.ErrReleased }
