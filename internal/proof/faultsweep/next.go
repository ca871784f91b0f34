package faultsweep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// maker is the name of the client that calls MakeNext, if the leader does not.
const maker = "maker"

// A naming is the one call of MakeNext of a run.
type naming struct {
	begun atomic.Bool

	mu      sync.Mutex
	granted map[string]bool // nodes, by their paths
	next    string          // the node that has to be granted next, "" for none
	session int64           // of that
	after   lease.Token     // what the leader's grant has
}

// campaign runs a client that takes part in the election once. The first leader makes
// another candidate the next one, or has another client do so.
func (r *run) campaign(ctx context.Context, name string, c *framework.Client) {
	term, err := r.election(c, name).Acquire(ctx, lease.Forever)
	if err != nil {
		r.brokenf("I4: %s was never granted a term: %v", name, err)
		return
	}
	r.recordGrant(name, term)
	r.checkNext(name, term)
	if r.naming.begun.CompareAndSwap(false, true) {
		r.makeNext(ctx, name, c)
	}
	if !r.plan.Lean {
		r.confirm(name, term)
	}
	r.look()
	r.releasing(term)
	switch err := term.Release(); {
	case err == nil:
		<-time.After(1700 * time.Microsecond) // see hold
	case errors.Is(err, lease.ErrLost):
		r.mu.Lock()
		r.report.Lost++
		r.mu.Unlock()
	default:
		r.brokenf("errors: release failed with %v", err)
	}
}

// makeNext makes the last candidate the next leader, or the one before it, when all are
// in the queue. An odd seed has another client than the leader call MakeNext.
func (r *run) makeNext(ctx context.Context, name string, c *framework.Client) {
	if r.plan.Seed%2 == 1 {
		other, err := framework.Connect(ctx, r.config(maker))
		if err != nil {
			r.brokenf("I4: the maker could not connect: %v", err)
			return
		}
		defer func() { _ = other.Close() }()
		name, c = maker, other
	}
	for range Past / (10 * time.Millisecond) {
		if len(r.queue()) == r.plan.Clients {
			break
		}
		<-time.After(10 * time.Millisecond)
	}
	queue := r.queue()
	if len(queue) == 0 {
		return
	}
	at := len(queue) - 1
	if r.plan.Seed%4 > 1 && at > 1 {
		at--
	}
	id := queue[at].id
	present, err := r.election(c, name).MakeNext(ctx, id)
	switch {
	case err == nil:
		r.checkMade(present, id)
	case errors.Is(err, leader.ErrNoCandidate), errors.Is(err, leader.ErrStepsBack), errors.Is(err, leader.ErrLeadsAlready):
		// Its session, or that of the leader, was lost.
	default:
		r.brokenf("I8: MakeNext failed with %v", err)
	}
}

// A candidate is one node of the queue.
type candidate struct {
	znode.Name
	id      string
	session int64
}

// queue returns the queue of the election, as the server has it.
func (r *run) queue() (all []candidate) {
	for _, child := range r.server.Children(path) {
		info, exists := r.server.Node(path + "/" + child)
		if name, ok := znode.Parse(child, znode.Latch); ok && exists {
			all = append(all, candidate{name, string(znode.Unmarked(info.Data)), info.EphemeralOwner})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all
}

// checkMade checks what is between the leader and the named candidate when MakeNext has
// succeeded: nothing, ever since.
func (r *run) checkMade(present lease.Contender, id string) {
	head, _ := znode.Parse(present.Node, znode.Latch)
	behind := slices.DeleteFunc(r.queue(), func(c candidate) bool { return c.Sequence <= head.Sequence })
	at := slices.IndexFunc(behind, func(c candidate) bool { return c.id == id })
	if at < 0 {
		return // its session has ended
	}
	if at > 0 {
		r.brokenf("I8: %v are between %s and %s, which was made the next leader", behind[:at], present.Node, id)
	}
	r.mu.Lock()
	r.report.Made++
	r.mu.Unlock()
	n := &r.naming
	n.mu.Lock()
	defer n.mu.Unlock()
	n.session, n.after = behind[at].session, present.Token
	if node := path + "/" + behind[at].Node; !n.granted[node] {
		n.next = node
	}
}

// checkNext checks at a grant that it is that of the candidate that MakeNext has named,
// unless the session of this has ended.
func (r *run) checkNext(name string, term *lease.Lease) {
	alive := map[int64]bool{}
	for _, s := range r.server.Sessions() {
		alive[s.ID] = true
	}
	n := &r.naming
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.granted == nil {
		n.granted = map[string]bool{}
	}
	n.granted[term.Path()] = true
	if n.next == "" || term.Token() <= n.after {
		return
	}
	if term.Path() != n.next && alive[n.session] {
		r.brokenf("I8: %s was granted %s instead of %s, which MakeNext has named", name, term.Path(), n.next)
	}
	n.next = ""
}
