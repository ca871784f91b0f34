package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about the nodes, sessions and connections of waiters.
var queues = rows{
	"the node of a waiter is deleted":                   waiterLosesNode,
	"the own node is not in the first listing":          ownNodeIsNotListed,
	"the own node and those ahead are deleted together": ownNodeAndThoseAheadAreDeleted,
	"an old node is listed by a lagging server":         oldNodeIsListed,
	"an old node outlives its client's session":         oldNodeOutlivesSession,
	"a slot becomes free during any request":            slotBecomesFreeDuringARequest,
	"a slot becomes free while disconnected":            slotBecomesFreeWhileDisconnected,
	"the watches of a waiter are not restored":          watchesAreNotRestored,
}

// mine returns the one node of the client named "a" in the first queue, which waits.
func mine(w *World) string {
	w.T.Helper()
	nodes := slices.DeleteFunc(nodesOf(w, "a"), func(node string) bool { return !strings.HasPrefix(node, path+"/") })
	require.Len(w.T, nodes, 1)
	return nodes[0]
}

// waiterLosesNode deletes the node of a waiter, which then joins at the end of the
// queue.
func waiterLosesNode(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	first := w.Start(r.New(w.Client("a"), path), lease.Forever)
	second := w.Start(r.New(w.Client("b"), path), lease.Forever)
	before := mine(w)
	w.Remove(w.Known("b"), before)
	w.After(time.Second)
	require.True(t, first.Waiting())
	require.NotEqual(t, before, mine(w), "it has joined again")
	release(t, held...)
	next := second.Granted()
	w.Settle()
	require.Equal(t, r.Slots == 1, first.Waiting())
	release(t, next)
	got := first.Granted()
	require.Greater(t, got.Token(), next.Token())
	r.stands(w, w.Known("a"), got)
	release(t, got)
}

// ownNodeIsNotListed deletes a node between its create and the listing.
func ownNodeIsNotListed(t *testing.T, w *World, r Recipe) {
	c, operator := w.Client("a"), w.Client("operator")
	release(t, w.Acquire(r.New(operator, path)))
	late := w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(time.Second)
	at := w.Start(r.New(c, path), lease.Forever)
	<-late.Fired()
	w.Remove(operator, mine(w))
	held := fill(w, r)
	w.After(2 * time.Second)
	require.True(t, at.Waiting())
	for _, l := range held {
		require.NoError(t, l.Err())
	}
	release(t, held...)
	release(t, at.Granted())
}

// ownNodeAndThoseAheadAreDeleted deletes the node of a waiter and those that it waits
// for while it is disconnected. The events arrive in any order.
func ownNodeAndThoseAheadAreDeleted(t *testing.T, w *World, r Recipe) {
	for i := range 20 {
		held := fill(w, r)
		at := w.Start(r.New(w.Client("a"), path), lease.Forever)
		own := mine(w)
		behind := startFilling(w, r, "behind")
		operator := w.Named("operator")
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		w.Settle()
		w.Remove(operator, own)
		release(t, held...)
		next := grantedAll(behind)
		// Whatever order they are sent in, the event of the own node comes a little
		// after the others, or not before the test is over; and no listing comes before
		// it.
		late := w.Server.On(zktest.AnyOp, own).Client("a").OnEvent().Optional()
		if i%2 == 0 {
			late.DropReply()
		} else {
			late.Delay(100 * time.Millisecond)
		}
		slow := w.Server.On(zktest.OpGetChildren2, "").Client("a").Optional().Always().Delay(150 * time.Millisecond)
		w.Server.RefuseConnections("a", false)
		for range 400 {
			w.After(time.Millisecond)
			require.True(t, at.Waiting(), "it is not granted beside the holders")
		}
		late.Remove()
		slow.Remove()
		for _, l := range next {
			require.NoError(t, l.Err())
		}
		release(t, next...)
		release(t, at.Granted())
		require.NoError(t, w.Known("a").Close())
	}
}

// oldNodeIsListed has a waiter reconnect with a new session, to a server that still
// lists its old node as the head.
func oldNodeIsListed(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	at := w.Start(r.New(c, path), lease.Forever)
	behind := startFilling(w, r, "behind")
	old := c.Session()
	w.Server.RefuseConnections("a", true)
	w.Server.DropConnections("a")
	release(t, held...)
	w.Server.Lag("a", true)
	w.Expire(c)
	next := grantedAll(behind)
	w.Server.RefuseConnections("a", false)
	w.After(2 * time.Second)
	require.NotSame(t, old, c.Session())
	require.True(t, at.Waiting(), "the old node does not count")
	for _, l := range next {
		require.NoError(t, l.Err())
	}
	release(t, next...)
	w.Server.Lag("a", false)
	got := at.Granted()
	r.stands(w, c, got)
	release(t, got)
}

// oldNodeOutlivesSession has a server end a session late that its client has given up.
func oldNodeOutlivesSession(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	var held []*lease.Lease
	for range max(r.Slots, 1) {
		held = append(held, w.Acquire(r.blocker()(c, path)))
	}
	old, due := c.Session(), 0
	w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		switch {
		case call.Phase == zktest.PhaseExpire && call.Session == old.ID():
			if due++; due == 1 {
				return zktest.Delay(20 * time.Second)
			}
		case call.Phase == zktest.PhaseConnect && call.Session == old.ID():
			return zktest.CutConnection // nor can the client close it
		}
		return zktest.Pass
	})
	w.Server.DropConnections("a")
	<-held[0].Context().Done()
	require.ErrorIs(t, held[0].Err(), lease.ErrLost)
	at := w.Start(r.New(c, path), lease.Forever)
	w.After(5 * time.Second)
	require.NotSame(t, old, c.Session())
	require.True(t, at.Waiting(), "the slot is taken, even if by an old session of the same client")
	got := at.Granted()
	require.Empty(t, nodesOfSession(w, old.ID()))
	r.stands(w, c, got)
	for _, l := range held {
		require.Greater(t, got.Token(), l.Token())
	}
	release(t, got)
}

// slotBecomesFreeDuringARequest delays each request of a waiter in turn, and its
// answer, and frees the slot meanwhile. The delay is shorter than the silence after
// which the client gives the connection up, a sixth of the session timeout.
func slotBecomesFreeDuringARequest(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	for _, phase := range []func(*zktest.Rule) *zktest.Rule{(*zktest.Rule).Before, (*zktest.Rule).After} {
		for nth := 1; ; nth++ {
			held := fill(w, r)
			w.Server.ResetCounts()
			late := phase(w.Server.On(zktest.AnyOp, path).Client("a").Nth(nth).Optional()).Delay(900 * time.Millisecond)
			at := w.Start(r.New(c, path), lease.Forever)
			waits := Closed(late.Fired())
			release(t, held...)
			got := at.Granted()
			require.LessOrEqual(t, w.Server.CountOf("a", zktest.OpCreate), max(r.Locks, 1), "it does not join again")
			late.Remove()
			release(t, got)
			w.Settle()
			if !waits {
				require.Greater(t, nth, 2)
				break
			}
			require.Less(t, at.Took, time.Second)
			require.LessOrEqual(t, w.Server.Watches(), 2*max(r.Known, 1), "no watch is left on a node that is gone for good")
		}
	}
}

// slotBecomesFreeWhileDisconnected breaks the connection of a waiter, frees the slot,
// and lets the waiter reconnect.
func slotBecomesFreeWhileDisconnected(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	for _, strike := range []func(on bool){
		func(on bool) {
			w.Server.RefuseConnections("a", on)
			w.Server.DropConnections("a")
		},
		func(on bool) { w.Server.Partition("a", on) },
		func(on bool) { w.Server.Stall("a", on) },
	} {
		held := fill(w, r)
		at := w.Start(r.New(c, path), lease.Forever)
		session := c.Session()
		w.After(time.Second)
		strike(true)
		w.After(time.Second)
		release(t, held...)
		w.After(time.Second)
		require.True(t, at.Waiting())
		strike(false)
		got := at.Granted()
		require.Less(t, at.Took, SessionTimeout)
		require.Same(t, session, c.Session(), "the queue position was kept")
		release(t, got)
	}
}

// watchesAreNotRestored breaks the connection of a waiter, and in two of three cases
// refuses to set its watches again: then it has to look again, and may conclude
// nothing.
func watchesAreNotRestored(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.After(time.Second)
	nodes := w.Ephemerals("/")
	for i := range 6 {
		if i%3 > 0 {
			refused := w.Server.On(zktest.OpSetWatches, "").Client("a")
			refused.Fail(zktest.RuntimeInconsistency)
			w.Server.DropConnections("a")
			<-refused.Fired()
		} else {
			w.Server.DropConnections("")
		}
		w.After(time.Second)
		require.True(t, at.Waiting())
		require.Equal(t, nodes, w.Ephemerals("/"))
		for _, l := range held {
			require.NoError(t, l.Err())
		}
	}
	release(t, held...)
	release(t, at.Granted())
}
