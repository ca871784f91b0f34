package recipepath

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Gate is a node under which those are who hold and wait, and what strangers must not
// be allowed there if credentials are to keep them out. ZooKeeper asks the parent who
// may create and delete a node, and to be allowed to change the ACL is to be allowed
// all.
type Gate struct {
	// Node is its path.
	Node string
	// Harm is the sum of the permissions.
	Harm int32
}

const enter = framework.PermCreate | framework.PermDelete | framework.PermAdmin

// LineGates returns those of a path whose children are the contenders.
func LineGates(path string) []Gate { return []Gate{{path, enter}} }

// SizedGates returns those of a semaphore with a single queue. The path has the number
// of permits.
func SizedGates(path string) []Gate { return []Gate{{path, enter | framework.PermWrite}} }

// SemaphoreGates returns those of a semaphore.
func SemaphoreGates(path string) []Gate {
	return append(SizedGates(path), Gate{path + "/" + znode.LineDir, enter}, Gate{path + "/" + znode.PermitsDir, enter})
}

// WarnOfStrangers has the log say whom credentials do not keep out. It delays nothing.
func WarnOfStrangers(c *framework.Client, gates []Gate) {
	for _, gate := range gates {
		c.WarnOfStrangers(gate.Node, gate.Harm)
	}
}
