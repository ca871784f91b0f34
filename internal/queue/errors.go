package queue

import "errors"

// What a Door says.
var (
	// ErrEvicted means that the node in line has gone: join again.
	ErrEvicted = errors.New("own znode was deleted")
	// ErrNotFree means that an acquire that does not wait would have to.
	ErrNotFree = errors.New("not free, and not waited")
)

// errWaitOver is the cause of a context that the timeout ends.
var errWaitOver = errors.New("wait is over")
