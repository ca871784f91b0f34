package faultsweep

import (
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// membersOf are the multi-locks whose leases are also checked on each of their locks,
// by their names: the recipe of each lock, by its path.
var membersOf = map[string]map[string]conformance.Recipe{}

// on names a multi-lock on these locks.
func on(name string, members map[string]conformance.Recipe, r conformance.Recipe) conformance.Recipe {
	r.Name, membersOf[name] = name, members
	return r
}

// followMembers has a referee of its own for each lock of a multi-lock.
func (r *run) followMembers() {
	r.members = map[string]*conformance.Referee{}
	for lock, recipe := range membersOf[r.plan.Recipe.Name] {
		referee := recipe.Referee()
		referee.Excuse = r.excused
		if r.delays != nil {
			referee.Lingers = r.delays.Lingers
		}
		r.members[lock] = referee
	}
}

// parts are the leases that a lease is made of, one on each lock.
func parts(l *lease.Lease) (all []*lease.Lease) {
	n := len(l.Tokens())
	if n == 1 {
		return []*lease.Lease{l}
	}
	for part := range hold.Leases(l.Context()) {
		if all = append(all, part); len(all) == n {
			break
		}
	}
	return all
}

// checkParts checks that the nodes of a lease on several locks exist, and its tokens.
// It reports false for a node that is gone.
func (r *run) checkParts(name string, l *lease.Lease) (exist bool) {
	exist = true
	tokens := l.Tokens()
	for _, part := range parts(l) {
		info, ok := r.server.Node(part.Path())
		exist = exist && ok
		r.mu.Lock()
		r.owners[part] = info.EphemeralOwner
		r.mu.Unlock()
		if ok && info.Czxid != int64(part.Token()) || !slices.Contains(tokens, part.Token()) {
			r.brokenf("I2: %s has token %d of %v, its node %d", name, part.Token(), tokens, info.Czxid)
		}
	}
	return exist
}

// grantMembers records a lease that was granted just now on each lock.
func (r *run) grantMembers(name string, l *lease.Lease) {
	for _, part := range parts(l) {
		if r.delays != nil {
			r.delays.Granted(part)
		}
		for lock, referee := range r.members {
			if strings.HasPrefix(part.Path(), lock+"/") {
				referee.Grant(name, part)
			}
		}
	}
}

// lookAtMembers checks the leases on each lock.
func (r *run) lookAtMembers() {
	for _, referee := range r.members {
		referee.Look()
	}
}

// roots are the paths of all locks.
func (r *run) roots() []string {
	roots := []string{path, second}
	for lock := range membersOf[r.plan.Recipe.Name] {
		if !slices.Contains(roots, lock) {
			roots = append(roots, lock)
		}
	}
	slices.Sort(roots)
	return roots
}
