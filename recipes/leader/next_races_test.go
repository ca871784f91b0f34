package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A queued election has a leader and candidates behind it, each in a client of its own,
// and an operator that calls MakeNext.
type queued struct {
	w        *conformance.World
	term     *lease.Lease                    // of the first
	waiting  map[string]*conformance.Attempt // the others, by their ids
	operator *leader.Election
}

func newQueued(w *conformance.World, first string, others ...string) *queued {
	w.T.Helper()
	q := &queued{w: w, waiting: map[string]*conformance.Attempt{}, operator: newElection(w.T, w.Client("operator"), "operator")}
	q.term = w.Acquire(newElection(w.T, w.Client(first), first))
	for _, id := range others {
		q.waiting[id] = w.Start(newElection(w.T, w.Client(id), id), lease.Forever)
	}
	w.After(time.Second)
	return q
}

// A called is a MakeNext that goes on.
type called struct {
	leader lease.Contender
	err    error
	done   chan struct{}
}

// callNext starts MakeNext, which may take a minute.
func callNext(ctx context.Context, w *conformance.World, e *leader.Election, id string) *called {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	c := &called{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		defer cancel()
		c.leader, c.err = e.MakeNext(ctx, id)
	}()
	w.Settle()
	return c
}

func (q *queued) makeNext(id string) *called {
	return callNext(q.w.T.Context(), q.w, q.operator, id)
}

// release lets all lead, one after the other, in that order.
func (q *queued) release(order ...string) {
	q.w.T.Helper()
	if q.term.Err() == nil {
		require.NoError(q.w.T, q.term.Release())
	}
	for _, id := range order {
		require.NoError(q.w.T, q.waiting[id].Granted().Release())
	}
}

// node returns the candidate's node.
func (q *queued) node(id string) string {
	q.w.T.Helper()
	for _, child := range children(q.w) {
		info, _ := q.w.Server.Node(path + "/" + child)
		if string(znode.Unmarked(info.Data)) == id {
			return info.Path
		}
	}
	q.w.T.Fatalf("%s has no node", id)
	return ""
}

// set writes a node's data.
func (q *queued) set(node string, change func(data []byte) (marked []byte, changed bool)) {
	q.w.T.Helper()
	info, _ := q.w.Server.Node(node)
	data, _ := change(info.Data)
	_, err := q.w.Named("writer").Set(q.w.T.Context(), node, data, framework.AnyVersion)
	require.NoError(q.w.T, err)
}

// The leader may resign while the next one is asked to step back, which then leads, and
// ignores that. It is the leader whom MakeNext returns.
func TestNextWhileTheLeaderResigns(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c", "d")
		slow := w.Server.On(zktest.OpMulti, "").Client("operator").Before().Delay(300 * time.Millisecond)
		call := q.makeNext("d")
		<-slow.Fired()
		require.NoError(t, q.term.Release())
		b := q.waiting["b"].Granted()
		w.After(2 * time.Second)
		require.True(t, conformance.Closed(call.done), "it does not wait for the end of b's term")
		require.NoError(t, call.err)
		require.Equal(t, b.Path(), call.leader.Path)
		require.Equal(t, []string{"b", "d", "c"}, ids(t, q.operator))
		require.NoError(t, b.Release())
		q.release("d", "c")
	})
}

// A candidate that was asked may lead before it is notified, if the leader resigns
// meanwhile, in the same client. Then nobody waits for it.
func TestNextWhileOneThatIsNotNotifiedLeads(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a")
		q.waiting["b"] = w.Start(newElection(t, w.Known("a"), "b"), lease.Forever)
		q.waiting["c"] = w.Start(newElection(t, w.Client("c"), "c"), lease.Forever)
		w.After(time.Second)
		late := w.Server.On(zktest.AnyOp, q.node("b")).Client("a").OnEvent().Delay(300 * time.Millisecond)
		call := q.makeNext("c")
		<-late.Fired()
		require.False(t, conformance.Closed(call.done))
		require.NoError(t, q.term.Release())
		b := q.waiting["b"].Granted()
		w.After(time.Second)
		require.NoError(t, b.Err())
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		require.Equal(t, b.Path(), call.leader.Path)
		require.NoError(t, b.Release())
		q.release("c")
	})
}

// Once the named candidate has left, nobody steps back for it.
func TestNextWhenTheNamedOneHasLeft(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		gone := q.node("c")
		b := q.node("b")
		slow := w.Server.On(zktest.OpMulti, "").Client("operator").Before().Delay(300 * time.Millisecond)
		call := q.makeNext("c")
		<-slow.Fired()
		w.Server.Partition("c", true)
		w.Remove(w.Named("writer"), gone)
		w.After(2 * time.Second)
		require.True(t, conformance.Closed(call.done))
		require.ErrorIs(t, call.err, leader.ErrNoCandidate)
		require.Equal(t, b, q.node("b"), "it was not asked")
		w.Server.Partition("c", false)
		q.release("b", "c")
	})
}

// While a candidate does not step back, the named one may leave: there is nothing more
// to wait for then.
func TestNextWhileTheNamedOneLeaves(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		w.Server.Partition("b", true)
		call := q.makeNext("c")
		require.False(t, conformance.Closed(call.done))
		w.Server.Partition("c", true)
		w.Remove(w.Named("writer"), q.node("c"))
		w.After(time.Second)
		require.True(t, conformance.Closed(call.done))
		require.ErrorIs(t, call.err, leader.ErrNoCandidate)
		w.Server.Partition("b", false)
		w.After(time.Second)
		w.Server.Partition("c", false)
		w.After(time.Second)
		q.release("b", "c")
	})
}

// A candidate that leads meanwhile keeps the request for revocation that another client
// has written before MakeNext writes.
func TestNextKeepsAConcurrentRequestForRevocation(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		slow := w.Server.On(zktest.OpMulti, "").Client("operator").Before().Delay(300 * time.Millisecond)
		call := q.makeNext("c")
		<-slow.Fired()
		require.NoError(t, q.term.Release())
		b := q.waiting["b"].Granted()
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Named("writer"), b.Path()))
		w.After(2 * time.Second)
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		info, _ := w.Server.Node(b.Path())
		require.True(t, znode.RevocationRequested(info.Data), "%q", info.Data)
		require.NoError(t, b.Release())
		q.release("c")
	})
}

// The named candidate may have been asked to step back itself, by another MakeNext: it
// is not the next one, until it has joined again.
func TestNextWasAskedItself(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b")
		w.Server.Partition("b", true)
		before := q.node("b")
		q.set(before, znode.MarkStepBack)
		call := q.makeNext("b")
		require.True(t, conformance.Closed(call.done))
		require.ErrorIs(t, call.err, leader.ErrStepsBack)
		w.Server.Partition("b", false)
		w.After(time.Second)
		require.NotEqual(t, before, q.node("b"))
		call = q.makeNext("b")
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		q.release("b")
	})
}

// No event says that a candidate has stepped back.
func TestNextWithoutAnEvent(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		w.Server.On(zktest.AnyOp, q.node("b")).Client("b").OnEvent().Delay(100 * time.Millisecond) // it leaves when it is watched
		w.Server.On(zktest.AnyOp, q.node("b")).Client("operator").OnEvent().DropReply()
		call := q.makeNext("c")
		w.After(2 * conformance.SessionTimeout)
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		require.Equal(t, []string{"a", "c", "b"}, ids(t, q.operator))
		q.release("c", "b")
	})
}

// The server of the caller may be behind.
func TestNextAtALaggingServer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b")
		w.Server.Lag("operator", true)
		q.waiting["c"] = w.Start(newElection(t, w.Client("c"), "c"), lease.Forever)
		call := q.makeNext("c")
		w.Server.Lag("operator", false)
		w.After(time.Second)
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		require.Equal(t, []string{"a", "c", "b"}, ids(t, q.operator))
		q.release("c", "b")
	})
}

// Of several candidates with the id the first behind the leader counts, whose own id
// may be the same.
func TestNextWithTheIDOfTheLeader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b")
		again := w.Start(newElection(t, w.Client("another a"), "a"), lease.Forever)
		last := w.Start(newElection(t, w.Client("the last a"), "a"), lease.Forever)
		w.After(time.Second)
		call := q.makeNext("a")
		w.After(time.Second)
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		require.Equal(t, q.term.Path(), call.leader.Path)
		require.Equal(t, []string{"a", "a", "a", "b"}, ids(t, q.operator))
		require.NoError(t, q.term.Release())
		require.NoError(t, again.Granted().Release())
		require.NoError(t, last.Granted().Release())
		q.release("b")
	})
}
