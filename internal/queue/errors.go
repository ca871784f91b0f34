package queue

import "errors"

// What becomes of a place that is not admitted.
var (
	// ErrEvicted means that the node in line has gone: join again.
	ErrEvicted = errors.New("own znode was deleted")
	// ErrNotFree means that an acquire that does not wait would have to.
	ErrNotFree = errors.New("not free, and not waited")
)
