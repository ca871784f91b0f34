package queue

import "errors"

// Why a position was not admitted.
var (
	// ErrEvicted means that the own node was deleted: join again.
	ErrEvicted = errors.New("own znode was deleted")
	// ErrSteppedBack means that another client has requested that the position leaves,
	// and joins again at the end of the queue.
	ErrSteppedBack = errors.New("asked to join again at the end of the queue")
	// ErrNotFree means that an acquire without a wait would have to wait.
	ErrNotFree = errors.New("not free, and not waited")
)
