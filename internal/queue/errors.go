package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// ErrTimeout means that the place did not become free in time.
var ErrTimeout = errors.New("not acquired in time")

// A TimeoutError says what an acquire waited for in vain. It is an ErrTimeout.
type TimeoutError struct {
	// Path is the full path of the recipe.
	Path string
	// Waited is how long.
	Waited time.Duration
	// Ahead is the number of contenders ahead at the last look; -1 if there was none.
	Ahead int
	// Head is the name of the node of the first in line, "" if not known.
	Head string
	// Holder is what the first in line says about itself; zero if not known.
	Holder Holder
	// Err is the last failure met, or nil.
	Err error
	// Cause is that of the caller's context if its deadline ended the wait, else nil.
	Cause error
}

// Error describes the wait in one line: what others have written is escaped, and cut if
// it is too long.
func (e *TimeoutError) Error() string {
	s := fmt.Sprintf("%s: %v", quote.Path(e.Path), ErrTimeout)
	if e.Waited > 0 {
		s += fmt.Sprintf(": waited %v", e.Waited.Round(time.Millisecond))
	}
	if e.Ahead > 0 {
		s += fmt.Sprintf(", %d ahead", e.Ahead)
	}
	switch held := e.Holder.String(); {
	case held != "":
		s += ", held by " + held
	case e.Head != "":
		s += ", held by node " + quote.Brief(e.Head)
	}
	if e.Cause != nil && !errors.Is(e.Cause, context.DeadlineExceeded) { // that says no more than the first words
		s += fmt.Sprintf(": %v", e.Cause)
	}
	if e.Err != nil {
		s += fmt.Sprintf("; last failure: %v", e.Err)
	}
	return s
}

// Is reports whether target is ErrTimeout.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Unwrap returns Err and Cause, as far as there are.
func (e *TimeoutError) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Err, e.Cause}, func(err error) bool { return err == nil })
}

// ErrSequenceExhausted means that the parent's counter has reached its end, so that
// the server cannot number another node. ZooKeeper then gives all new nodes the
// same number, or negative ones, and their order is unknown.
var ErrSequenceExhausted = errors.New("the sequence numbers of the path are used up; delete the path when nobody uses it, and they begin anew")

// ErrForeignData means that the path stores data that is not the recipe's.
var ErrForeignData = errors.New("the path stores data that is not the recipe's")

// ErrOtherRecipe means that the path is in use by another recipe.
var ErrOtherRecipe = errors.New("the path is in use by another recipe")

// ErrOtherLayout means that it is in use by a semaphore of the other layout.
var ErrOtherLayout = fmt.Errorf("%w, a semaphore of the other layout", ErrOtherRecipe)

// What a Door says.
var (
	// ErrEvicted means that the node in line has gone: join again.
	ErrEvicted = errors.New("own znode was deleted")
	// ErrNotFree means that an acquire that does not wait would have to.
	ErrNotFree = errors.New("not free, and not waited")
)

// errWaitOver is the cause of a context that the timeout ends.
var errWaitOver = errors.New("wait is over")
