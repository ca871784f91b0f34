package lockdelay

import (
	"cmp"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A ClosedError says that a slot is closed after an unclean end. It is a
// lease.ErrLockDelay.
type ClosedError struct {
	// Delay is for how long.
	Delay time.Duration
	// Node is the name of the holder's znode, which is gone.
	Node string
	// Holder is what the holder said about itself.
	Holder lease.Holder
}

// Error names the holder.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("%v of %v: %s has ended without a release", lease.ErrLockDelay, e.Delay, cmp.Or(e.Holder.String(), "node "+quote.Brief(e.Node)))
}

// Unwrap returns what the error is.
func (e *ClosedError) Unwrap() error { return lease.ErrLockDelay }
