package framework

import (
	"fmt"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// checkSize returns an error for a request that is too large. The server closes a
// connection that sends a frame larger than it accepts. That looks like any other
// break, and the request would be repeated for ever.
func (s *Session) checkSize(record []byte) error {
	if bytes, limit := guard.HeaderBytes+len(record), s.core.cfg.MaxRequestBytes; bytes > limit {
		return fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, bytes, limit)
	}
	return nil
}

// ephemeralQuota counts the bytes that the paths of a session's ephemeral nodes take in
// the log record of its close: a server cannot read back a record of about a megabyte.
type ephemeralQuota struct {
	limit int

	mu    sync.Mutex
	used  int
	paths map[string]struct{}
}

func ephemeralCost(path string) int { return len(path) + 4 }

// sequenceDigits is how much longer than requested a sequential node's name is, at
// most.
const sequenceDigits = 11

// reserve counts a node that is about to be created, if the limit allows it.
func (q *ephemeralQuota) reserve(path string) error {
	cost := ephemeralCost(path) + sequenceDigits
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.used+cost > q.limit {
		return fmt.Errorf("%w: their paths have %d bytes, the limit is %d", ErrTooManyEphemerals, q.used, q.limit)
	}
	q.used += cost
	return nil
}

// replace replaces a reservation by the node that was created, "" for none.
func (q *ephemeralQuota) replace(asked, created string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used -= ephemeralCost(asked) + sequenceDigits
	if created != "" {
		q.hold(created)
	}
}

// found counts a node that was created although its answer was dropped.
func (q *ephemeralQuota) found(path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hold(path)
}

func (q *ephemeralQuota) hold(path string) {
	if _, ok := q.paths[path]; ok {
		return
	}
	q.paths[path] = struct{}{}
	q.used += ephemeralCost(path)
}

// gone subtracts a deleted node; paths that were not counted do not matter.
func (q *ephemeralQuota) gone(path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.paths[path]; ok {
		delete(q.paths, path)
		q.used -= ephemeralCost(path)
	}
}
