package queue

import (
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Gate is a node under which those are who hold and wait, and what strangers must not
// be allowed there if credentials are to keep them out. ZooKeeper asks the parent who may
// create and delete a node, and to be allowed to change the ACL is to be allowed all.
type Gate struct {
	// Node is its path.
	Node string
	// Harm is the sum of the permissions.
	Harm int32
}

const enter = framework.PermCreate | framework.PermDelete | framework.PermAdmin

// LineGates returns those of a path whose children are the contenders.
func LineGates(path string) []Gate { return []Gate{{path, enter}} }

// SemaphoreGates returns those of a semaphore. The path has the number of permits.
func SemaphoreGates(path string) []Gate {
	return []Gate{{path, enter | framework.PermWrite}, {path + "/" + znode.LineDir, enter}, {path + "/" + znode.PermitsDir, enter}}
}

// warnOfStrangers has the log say whom credentials do not keep out. It delays nothing.
func (p *place) warnOfStrangers() {
	cfg := p.queue.cfg
	gates := LineGates(cfg.Path)
	switch cfg.Root {
	case "":
	case cfg.Path: // the line is right below it
		gates = SemaphoreGates(cfg.Path)[:1]
	default:
		gates = SemaphoreGates(cfg.Root)
	}
	for _, gate := range gates {
		p.client.WarnOfStrangers(gate.Node, gate.Harm)
	}
}
