package main

import (
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
)

// holders knows who held at the last survey. For most locks it is not stored when the
// holder was granted the lock, only when it joined the queue. So a lock with a long
// queue seems to be held for a long time by each of many clients in turn, each of which
// would get a series. It has held for certain only since it was first seen to.
type holders struct {
	mu    sync.Mutex
	since map[holderNode]time.Time // of the last survey, so that it does not grow
}

// A holderNode is the node of one contender: a name alone can come again.
type holderNode struct {
	path string
	made int64 // when, in the order of the servers
}

// see keeps who holds now, and returns for how long each has held at least. begun is
// when the survey did.
func (h *holders) see(found []inspect.LockInUse, begun time.Time) (atLeast map[string]time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	since := map[holderNode]time.Time{}
	atLeast = map[string]time.Duration{}
	for i := range found {
		l := &found[i]
		if l.HeldSince().IsZero() {
			continue
		}
		node := holderNode{l.Head.Path, int64(l.Head.Token)}
		seen, again := h.since[node]
		switch {
		case !l.Granted.IsZero():
			atLeast[node.path] = age(l.Granted)
		case again:
			atLeast[node.path] = begun.Sub(seen)
		}
		if !again {
			seen = time.Now()
		}
		since[node] = seen
	}
	h.since = since
	return atLeast
}
