package znode

import (
	"path"
	"time"
)

// LockDelayDir is the name of the node that stores the lock-delay of a queue, below the
// path of that. Its children are the names of the nodes of holders.
const LockDelayDir = "lock-delay"

// HolderRecord returns the path of the record of a holder's node.
func HolderRecord(node string) string {
	return path.Join(path.Dir(node), LockDelayDir, path.Base(node))
}

// LockDelay is what a path stores for a lock-delay.
func LockDelay(d time.Duration) []byte { return []byte(d.String()) }

// ParseLockDelay is the inverse of LockDelay.
func ParseLockDelay(data []byte) (d time.Duration, ok bool) {
	d, err := time.ParseDuration(string(data))
	return d, err == nil && d > 0
}
