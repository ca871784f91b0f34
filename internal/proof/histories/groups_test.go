package histories

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// groups count the groups that begin with a call of a caller beside the threads, and
// the nodes of contenders in these.
type groups struct {
	All      int
	Created  int // nodes of contenders
	Deleted  int
	Repeated int // groups that were refused because of one member
	Listed   int // listings behind groups that travel together
}

func (g *groups) add(more groups) {
	g.All += more.All
	g.Created += more.Created
	g.Deleted += more.Deleted
	g.Repeated += more.Repeated
	g.Listed += more.Listed
}

// requireGroups fails if many histories have too few groups.
func (n *tally) requireGroups(t *testing.T) {
	t.Helper()
	if n.runs < 100 || n.failed > 0 {
		return
	}
	require.Greater(t, n.grouped.All, n.runs, "too few groups")
	require.Greater(t, n.grouped.Listed, n.runs/2, "too few listings travel together")
	require.Greater(t, n.grouped.Repeated, n.runs/4, "too few groups were refused")
	require.Greater(t, n.grouped.Created, n.runs/4, "too few nodes of contenders were created in groups")
	require.Greater(t, n.grouped.Deleted, n.runs/100, "too few nodes of contenders were deleted in groups")
}

// together is what is known of them.
type together struct {
	mu     sync.Mutex
	counts groups
	before map[int64][]string // the nodes of a session before its group
}

// recordGroup records a group: what a session does between the two moments of a call is
// that call.
func (r *run) recordGroup(c zktest.Call) {
	if c.Op == zktest.OpMultiRead && c.Phase == zktest.PhaseAfterApply {
		r.together.mu.Lock()
		r.together.counts.Listed++
		r.together.mu.Unlock()
	}
	if c.Op != zktest.OpMulti || !isBeside(c) {
		return
	}
	now := r.nodesOf(c.Session)
	g := &r.together
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.Phase == zktest.PhaseBeforeApply {
		if g.before == nil {
			g.before = map[int64][]string{}
		}
		g.before[c.Session] = now
		return
	}
	if c.Phase != zktest.PhaseAfterApply {
		return
	}
	g.counts.All++
	if slices.Equal(g.before[c.Session], now) {
		g.counts.Repeated++
	}
	g.counts.Created += r.contendersIn(now, g.before[c.Session])
	g.counts.Deleted += r.contendersIn(g.before[c.Session], now)
}

// nodesOf returns the ephemeral nodes of a session.
func (r *run) nodesOf(session int64) []string {
	for _, s := range r.server.Sessions() {
		if s.ID == session {
			return s.Ephemeral
		}
	}
	return nil
}

// contendersIn counts the nodes of contenders that are in one list and not in another.
func (r *run) contendersIn(some, others []string) (n int) {
	for _, node := range some {
		if strings.HasPrefix(node, path) && !slices.Contains(others, node) && !r.isEvicted(node) {
			n++
		}
	}
	return n
}
