package histories

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestMakeNext has clients name the next leader of an election, often several at once.
// In every fourth history no fault keeps candidates from stepping back.
func TestMakeNext(t *testing.T) {
	n := explore(t, "next leader", func(s *subject, seed uint64) Scenario {
		sc := random(s, seed)
		if seed%4 == 1 {
			sc.Faults, sc.Troubles, sc.Deletes, sc.Groups = nil, nil, nil, nil
		}
		return sc
	})
	require.True(t, n.made > n.runs/2 || n.failed > 0, "MakeNext has succeeded only %d times", n.made)
	require.True(t, n.steppedBack > n.runs/8 || n.failed > 0, "only %d candidates have stepped back", n.steppedBack)
}

// nextSubject is a leader election in which clients name the next leader.
func nextSubject() *subject {
	s := leaderSubject()
	s.name = "next leader"
	s.choose = func(d die, st, outer *Step) {
		switch n := d.IntN(100); {
		case outer != nil && n < 40, outer == nil && n < 25:
			st.Do, st.N = Name, d.IntN(8)
		case outer == nil && n < 40:
			st.Do, st.Cancel, st.Wait = Campaign, d.upTo(4*time.Second), 0
			st.Hold = min(st.Hold, time.Second)
		case d.chance(60): // so that there is a queue
			st.Wait, st.Hold = lease.Forever, max(st.Hold, d.upTo(2*time.Second))
		}
	}
	s.watch = func(r *run, c zktest.Call) {
		if c.Op != zktest.OpPing {
			r.namings.record(r)
		}
	}
	return s
}

// A contender is a node of an election.
type contender struct {
	sequence int64
	node, id string
	session  int64
	asked    bool // to step back
}

// namings is what is known of the calls of MakeNext, and of the queue.
type namings struct {
	mu    sync.Mutex
	queue []contender // at the last call to the server
	past  []sighting

	made, steppedBack int
}

// A sighting is that a node was in the queue, and not asked to step back, from one
// moment on to another.
type sighting struct {
	contender
	from, to int64 // to is 0 while it lasts
}

// candidates returns the queue as the server has it.
func (r *run) candidates() (queue []contender) {
	for _, child := range r.server.Children(path) {
		info, exists := r.server.Node(path + "/" + child)
		if name, ok := znode.Parse(child, znode.Latch); ok && exists {
			id, asked := string(znode.Unmarked(info.Data)), znode.StepBackRequested(info.Data)
			queue = append(queue, contender{int64(name.Sequence), child, id, info.EphemeralOwner, asked})
		}
	}
	slices.SortFunc(queue, func(a, b contender) int { return cmp.Compare(a.sequence, b.sequence) })
	return queue
}

// record records the queue.
func (n *namings) record(r *run) {
	n.mu.Lock()
	defer n.mu.Unlock()
	queue, alive := r.candidates(), map[int64]bool{}
	for _, s := range r.server.Sessions() {
		alive[s.ID] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, _ := r.nextLocked()
	for _, was := range n.queue {
		if slices.Contains(queue, was) {
			continue
		}
		n.changed(was, now)
		gone := !slices.ContainsFunc(queue, func(c contender) bool { return c.node == was.node })
		if gone && was.asked && alive[was.session] && len(r.slots[path+"/"+was.node]) == 0 {
			n.steppedBack++
		}
	}
	for _, is := range queue {
		if !is.asked && !slices.Contains(n.queue, is) {
			n.past = append(n.past, sighting{is, now, 0})
		}
	}
	n.queue = queue
}

// changed ends the sighting of a node.
func (n *namings) changed(was contender, now int64) {
	for i := range n.past {
		if n.past[i].contender == was {
			n.past[i].to = now
		}
	}
}

// wasMade tells whether a candidate with the id was behind the leader during the call o
// with nobody between the two when it returned. As nobody comes between them, these
// need not be the same moment.
func (r *run) wasMade(present lease.Contender, id string, o op) bool {
	n := &r.namings
	n.record(r)
	n.mu.Lock()
	defer n.mu.Unlock()
	head, _ := znode.Parse(present.Node, znode.Latch)
	from := int64(head.Sequence)
	return slices.ContainsFunc(n.past, func(s sighting) bool {
		during := s.from < o.Return && (s.to == 0 || s.to > o.Call)
		between := func(c contender) bool { return from < c.sequence && c.sequence < s.sequence }
		return during && s.id == id && s.sequence > from && !slices.ContainsFunc(n.queue, between)
	})
}

// toName returns the id of a candidate, in most cases of one that is in the queue.
func (r *run) toName(n int) string {
	r.namings.record(r)
	r.namings.mu.Lock()
	defer r.namings.mu.Unlock()
	if queue := r.namings.queue; len(queue) > 1 {
		return queue[1+n%(len(queue)-1)].id
	}
	return clientName(n % len(r.clients))
}

var errNotMade = errors.New("no more time to make the next leader")

// isQuiet tells whether no fault keeps candidates from stepping back. Those behind the
// front of their client's crowd come to the front when the others leave.
func (s Scenario) isQuiet() bool {
	return len(s.Faults)+len(s.Troubles)+len(s.Deletes)+len(s.Groups) == 0
}

// name makes another client's candidate the next leader, or one of its own.
func (c candidate) name(ctx context.Context, th *thread, st Step) {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Second, errNotMade)
	defer cancel()
	id := th.toName(st.N)
	o := th.call(op{Thread: th.number, What: opName})
	present, err := c.MakeNext(ctx, id)
	o.Token, o.Err = int64(present.Token), err
	switch {
	case errors.Is(err, leader.ErrNoCandidate), errors.Is(err, leader.ErrStepsBack), errors.Is(err, leader.ErrLeadsAlready):
	case errors.Is(err, errNotMade) && th.scenario.isQuiet():
		th.brokenf("I8: thread %d could not make %s the next leader: %v", th.number, id, err)
	default:
		th.checkOtherError(ctx, o)
	}
	o = th.returned(o)
	if err != nil || th.wasCutOff(o) {
		return
	}
	if !th.wasMade(present, id, o) {
		th.brokenf("I8: thread %d made %s the next leader behind %s, and it is not", th.number, id, present.Node)
	}
	th.namings.count()
}

func (n *namings) count() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.made++
}
