package recipepath

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A ProtectedNode is a parent of contenders' nodes, with what clients without
// credentials must not be permitted there. For creates and deletes ZooKeeper checks the
// ACL of the parent, and the permission to change an ACL includes all.
type ProtectedNode struct {
	// Path is that of the node.
	Path string
	// Denied is the sum of the permissions.
	Denied int32
}

const enter = framework.PermCreate | framework.PermDelete | framework.PermAdmin

// QueueNodes returns those of a recipe whose contenders are children of its path.
func QueueNodes(path string) []ProtectedNode { return []ProtectedNode{{path, enter}} }

// SizedNodes returns those of a semaphore with a single queue. Its path stores the
// number of permits.
func SizedNodes(path string) []ProtectedNode {
	return []ProtectedNode{{path, enter | framework.PermWrite}}
}

// SemaphoreNodes returns those of a semaphore in Curator's layout.
func SemaphoreNodes(path string) []ProtectedNode {
	return append(SizedNodes(path), ProtectedNode{path + "/" + znode.QueueDir, enter}, ProtectedNode{path + "/" + znode.PermitsDir, enter})
}

// StripeNodes returns those of some of the stripes of a path, which stores their
// number.
func StripeNodes(path string, stripes ...int) []ProtectedNode {
	nodes := SizedNodes(path)
	for _, i := range stripes {
		nodes = append(nodes, ProtectedNode{path + "/" + znode.StripeDir(i), enter})
	}
	return nodes
}

// WarnIfOpen logs a warning for each node that is not protected. It returns at once.
func WarnIfOpen(c *framework.Client, nodes []ProtectedNode) {
	for _, node := range nodes {
		kit.Of(c).WarnIfOpen(node.Path, node.Denied)
	}
}
