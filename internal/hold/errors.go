package hold

import (
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errReplaced is the reason of a loss.
var errReplaced = errors.New("its znode is not the one that was granted")

// A releasedError says that a hold, or a handle on it, was released. It is a
// lease.ErrReleased.
type releasedError struct{ hold *Hold }

// Error names the znode.
func (e releasedError) Error() string {
	return fmt.Sprintf("%s: %v", quote.Path(e.hold.Path), lease.ErrReleased)
}

// Unwrap returns what the error is.
func (e releasedError) Unwrap() error { return lease.ErrReleased }
