// Package locks describes the queue of mutexes, readers and writers: they may share a
// path, and a mutex counts as a writer.
package locks

import (
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Queue returns the queue under a path, with a lock-delay, for contenders that join it
// as one kind.
func Queue(client *framework.Client, path, kind string, self *queue.Process, delay time.Duration) *queue.Queue {
	return &queue.Queue{
		Client: client, Path: path, Kind: kind, Kinds: znode.Locks, Data: self.Data,
		Rule: always, Recheck: mayBeReader, HandsOver: excludesAll, LockDelay: delay,
	}
}

// always is the rule of all of them.
var always = queue.Always(policy)

// policy has readers wait for the nearest contender ahead that is not a reader, and all
// others for the nearest ahead. So a release wakes one waiter, or the readers that it
// admits.
func policy(self znode.Name, ahead queue.Ahead) (wait []znode.Name) {
	if self.Kind != znode.Reader {
		return queue.Exclusive(self, ahead)
	}
	for other := range ahead.All {
		if other.Kind != znode.Reader {
			return []znode.Name{other}
		}
	}
	return nil
}

// Holding returns how many of the contenders hold, which are the first ones: as many as
// policy admits, without asking it for each.
func Holding(names []znode.Name) (n int) {
	readers := true // all before n are
	for ; n < len(names); n++ {
		readers = readers && names[n].Kind == znode.Reader
		if n > 0 && !readers && !names[n].SharesPosition(names[0]) {
			break
		}
	}
	return n
}

// excludesAll reports whether nobody has a lock beside the holder with that node.
func excludesAll(of znode.Name) bool { return of.Kind != znode.Reader }

// mayBeReader reports the one case in which a node is created ahead of one that exists:
// the holder of a write lock may have created a reader's node with its own number
// before it released. A writer has to look for that.
func mayBeReader(self, gone znode.Name) bool {
	return gone.Kind == znode.Writer && self.Kind != znode.Reader
}
