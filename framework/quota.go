package framework

import (
	"fmt"
	"slices"
	"sync"
)

// An ephemeralQuota counts the bytes that the paths of a session's ephemeral nodes take
// in the log record of its close: a server cannot read back a record of more than twice
// its jute.maxbuffer, or of a megabyte before 3.5.7. It keeps only hashes of the paths:
// there may be many, and if two are taken for one the count is off by the length of a
// path.
type ephemeralQuota struct {
	limit int

	mu    sync.Mutex
	used  int
	paths map[uint64]struct{}
	below map[uint64]int32 // how many there are below each parent, with those reserved
}

func newQuota(limit int) ephemeralQuota {
	return ephemeralQuota{limit: limit, paths: map[uint64]struct{}{}, below: map[uint64]int32{}}
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
	q.below[hashOf(parentOf(path))]++
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
	q.leave(asked)
}

// found counts a node that was created although its answer was dropped.
func (q *ephemeralQuota) found(path string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hold(path)
}

func (q *ephemeralQuota) hold(path string) {
	key := hashOf(path)
	if _, ok := q.paths[key]; ok {
		return
	}
	q.paths[key] = struct{}{}
	q.used += ephemeralCost(path)
	q.below[hashOf(parentOf(path))]++
}

// gone subtracts a deleted node; paths that were not counted do not matter.
func (q *ephemeralQuota) gone(path string) {
	key := hashOf(path)
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.paths[key]; ok {
		delete(q.paths, key)
		q.used -= ephemeralCost(path)
		q.leave(path)
	}
}

// leave subtracts a node from those below its parent.
func (q *ephemeralQuota) leave(path string) {
	parent := hashOf(parentOf(path))
	if q.below[parent]--; q.below[parent] == 0 {
		delete(q.below, parent)
	}
}

// holds reports whether there are any nodes, or there may soon be.
func (q *ephemeralQuota) holds() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used > 0
}

// A sparedPart of a session is kept free for nodes that have to be of this session,
// such as the second one of a downgrade, or those that the program makes itself in the
// main one.
const sparedPart = 16

// fits reports whether there is room for contenders that need so many bytes, and may as
// well go elsewhere. For a single one there is if there are no nodes: then whatever
// fits in a session fits in this one.
func (q *ephemeralQuota) fits(bytes int, single bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return single && q.used == 0 || q.used+bytes <= q.limit-q.limit/sparedPart
}

// hasBelow reports whether there are nodes below any of these parents, or may soon be.
func (q *ephemeralQuota) hasBelow(parents []string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.ContainsFunc(parents, func(parent string) bool { return q.below[hashOf(parent)] > 0 })
}
