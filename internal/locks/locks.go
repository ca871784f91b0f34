// Package locks is how mutexes, readers and writers wait in one line: they may share a
// path, and a mutex counts as a writer.
package locks

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Queue returns the line under a path, for those who join it as one kind.
func Queue(client *framework.Client, path, kind string, self lease.Holder) *queue.Queue {
	return &queue.Queue{
		Client: client, Path: path, Kind: kind, Kinds: znode.Locks, Data: queue.DataOf(self),
		Rule: queue.Always(policy), Recheck: mayBeReader,
	}
}

// policy: readers wait for the nearest of those ahead that are no readers, everybody
// else for the nearest ahead. So a release wakes one waiter, or the readers that it
// admits.
func policy(self znode.Name, ahead []znode.Name) (wait []znode.Name) {
	if self.Kind != znode.Reader {
		return queue.Exclusive(self, ahead)
	}
	for i := len(ahead) - 1; i >= 0; i-- {
		if ahead[i].Kind != znode.Reader {
			return ahead[i : i+1]
		}
	}
	return nil
}

// mayBeReader tells of the one case in which somebody gets in line before a node that
// exists: a holder of a write lock can have put a reader in its own place before it
// went, for which a writer has to look.
func mayBeReader(self, gone znode.Name) bool {
	return gone.Kind == znode.Writer && self.Kind != znode.Reader
}
