package queue

import (
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A position waits for the nearest contenders ahead that keep it out. When they have
// left, it needs to know whether all further ones have left as well. As a rule they
// have, one after another. So that it knows it by then, it finds out while the nearest
// one still works: it also waits for the contender that keeps out the nearest one, and
// when that has left it reads what else is ahead and not known to be deleted.
//
// That is not needed if a position of this session waits there: it has found out
// itself, and the view knows it.

// A position reads up to fewReads nodes in place of a listing. It reads more of a long
// queue: a listing of that costs the servers as much as a read for each namesPerRead of
// its names, and holds up all others.
const (
	fewReads     = 12
	namesPerRead = 50
)

// waitFor has the position wait for contenders ahead, and reads or lists what it does
// not know of the others. at is its index. The caller has the lock of the view.
func (p *Position) waitFor(at int, wait []znode.Name, policy Policy) {
	v := p.view
	fresh := p.basis != v.listed // the listing is new for it, and shows what is ahead
	p.basis = v.listed
	next := p.next(at, wait, policy)
	limit := max(fewReads, v.size/namesPerRead)
	switch {
	case fresh:
	case !v.knowsAll(wait):
		if p.recheckDue() || !p.readUnknown(at, limit, policy, true) {
			v.want(p, v.listed)
			return
		}
	case !v.knowsAll(next) && !p.readUnknown(at, limit, policy, false):
		next = nil
	}
	nodes := make([]*node, 0, len(wait)+len(next))
	for _, names := range [][]znode.Name{wait, next} {
		for _, name := range names {
			nodes = append(nodes, v.node(name))
		}
	}
	p.waitAt(nodes, true)
}

// knowsAll reports whether all of these are known.
func (v *view) knowsAll(names []znode.Name) bool {
	return !slices.ContainsFunc(names, func(name znode.Name) bool { return !v.known(name) })
}

// readUnknown reads the contenders ahead that keep the position out and may be deleted,
// if there are not too many.
func (p *Position) readUnknown(at, limit int, policy Policy, urgent bool) bool {
	unknown := p.unknown(at, limit+1, policy)
	if len(unknown) > limit {
		return false
	}
	for _, name := range unknown {
		p.view.node(name).read(urgent)
	}
	return true
}

// next returns the contender behind which the one that the position waits for is, if
// none of the two is a position of this session. The three must be directly one behind
// the other: so at most one position more is told of a deletion than those that wait
// for it.
func (p *Position) next(at int, wait []znode.Name, policy Policy) []znode.Name {
	nearest, _ := p.view.ahead(at).nearest()
	if len(wait) != 1 || wait[0].Node != nearest.Node || p.isLocal(wait[0]) || p.mustRecheck(wait[0]) {
		return nil
	}
	at, _ = p.view.find(wait[0])
	nearest, _ = p.view.ahead(at).nearest()
	next := policy(p.self, p.view.ahead(at))
	if len(next) != 1 || next[0].Node != nearest.Node || p.isLocal(next[0]) {
		return nil
	}
	return next
}

// isLocal reports whether a node is that of a position of this session, which waits or
// has waited.
func (p *Position) isLocal(name znode.Name) bool {
	v := p.view
	n := v.nodes[name.Node]
	return name.Node == v.granted || v.own[protection.Cut(name.Node)] != nil || n != nil && n.heir.Load() != nil
}

// unknown returns at most limit of the contenders ahead that keep the position out and
// are not watched, so that they may be deleted. at is its index.
func (p *Position) unknown(at, limit int, policy Policy) (names []znode.Name) {
	for looked := 0; len(names) < limit && looked < scanLimit+limit; looked++ {
		wait := policy(p.self, p.view.ahead(at))
		if len(wait) == 0 {
			break
		}
		for _, name := range wait {
			if !p.view.known(name) {
				names = append(names, name)
			}
		}
		at, _ = p.view.find(wait[len(wait)-1])
	}
	return names
}

// scanLimit bounds how many contenders ahead are looked at that are watched.
const scanLimit = 64
