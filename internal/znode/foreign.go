package znode

import (
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/protection"
)

// ForeignLatchBehind returns the candidate directly behind one of an election, among
// the children of its path, if a client other than this module made that.
//
// A LeaderLatch of Apache Curator watches the node ahead of it for one change. If that
// is of the data, it never notices that the node is deleted, and never leads.
func ForeignLatchBehind(node string, children []string) (behind string, some bool) {
	all := Contenders(children, Latch)
	at := slices.IndexFunc(all, func(name Name) bool { return name.Node == node })
	if at < 0 || at+1 == len(all) || protection.IsOurs(all[at+1].Node) {
		return "", false
	}
	return all[at+1].Node, true
}
