package recipepath

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A ProtectedNode is a node under which those are who hold and wait, and what strangers
// must not be allowed there if credentials are to keep them out. ZooKeeper asks the
// parent who may create and delete a node, and to be allowed to change the ACL is to be
// allowed all.
type ProtectedNode struct {
	// Path is its path.
	Path string
	// Denied is the sum of the permissions.
	Denied int32
}

const enter = framework.PermCreate | framework.PermDelete | framework.PermAdmin

// QueueNodes returns those of a path whose children are the contenders.
func QueueNodes(path string) []ProtectedNode { return []ProtectedNode{{path, enter}} }

// SizedNodes returns those of a semaphore with a single queue. The path has the number
// of permits.
func SizedNodes(path string) []ProtectedNode {
	return []ProtectedNode{{path, enter | framework.PermWrite}}
}

// SemaphoreNodes returns those of a semaphore.
func SemaphoreNodes(path string) []ProtectedNode {
	return append(SizedNodes(path), ProtectedNode{path + "/" + znode.QueueDir, enter}, ProtectedNode{path + "/" + znode.PermitsDir, enter})
}

// WarnIfOpen has the log say whom credentials do not keep out. It delays nothing.
func WarnIfOpen(c *framework.Client, gates []ProtectedNode) {
	for _, gate := range gates {
		kit.Of(c).WarnIfOpen(gate.Path, gate.Denied)
	}
}
