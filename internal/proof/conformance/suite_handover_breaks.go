package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about requests that fail while a slot is handed over within a session.
var handoverBreaks = rows{
	"the connection breaks at the delete of a hand-over":    breaksAtDelete,
	"the connection breaks between a release and its grant": breaksBeforeGrant,
	"an earlier connection hands nothing over":              earlierConnection,
	"the own watch comes after the release":                 ownWatchComesLater,
	"the next one is deleted without knowing it":            deletedUnknown,
	"the next one is deleted before the release":            deletedFirst,
	"the server refuses the delete of a slot that is over":  deleteIsRefused,
}

// breaksAtDelete breaks the connection when the server gets the delete, or when it has
// carried it out. The next one gets the slot, now or when the client has reconnected.
func breaksAtDelete(t *testing.T, w *World, r Recipe) {
	for range 5 {
		for _, strike := range []func(*zktest.Rule){
			func(rule *zktest.Rule) { rule.Before().Cut() },
			func(rule *zktest.Rule) { rule.After().Cut() },
		} {
			c := newParty(w, r)
			strike(w.Server.On(zktest.OpDelete, c.held.Path()).Client("a"))
			freed := w.beginFreeing(c.held)
			got := c.next.Granted()
			require.NoError(t, got.Confirm(t.Context()))
			require.False(t, w.stands(c.held))
			require.NoError(t, <-freed)
			require.True(t, c.other.Waiting())
			require.True(t, w.stands(got))
			c.drain(got)
		}
	}
}

// joinSlowly has a waiter join whose reads, with the watch on its own node, are
// answered late. It returns the attempt and the rule of the reads.
func (c *party) joinSlowly(late time.Duration) (*Attempt, *zktest.Rule) {
	c.w.T.Helper()
	a := c.w.Known("a")
	slow := c.w.Server.On(zktest.OpGetData, path).Client("a").Always().Delay(late)
	at := c.w.Start(c.r.New(a, path), lease.Forever)
	<-slow.Fired()
	c.w.Settle()
	require.True(c.w.T, at.Waiting())
	return at, slow
}

// ownWatchComesLater releases before the watch on the next one's node is set.
func ownWatchComesLater(t *testing.T, w *World, r Recipe) {
	c := newHolder(w, r)
	next, slow := c.joinSlowly(300 * time.Millisecond)
	freed := w.freeing(c.held)
	require.True(t, next.Waiting(), "its own watch is not set")
	slow.Remove()
	got := next.Granted()
	require.NoError(t, <-freed)
	release(t, got)
}

// breaksBeforeGrant breaks the connection when the slot is over, but the watch on the
// next one's node is not set yet, so that it is not granted.
func breaksBeforeGrant(t *testing.T, w *World, r Recipe) {
	for range 5 {
		c := newHolder(w, r)
		next, slow := c.joinSlowly(300 * time.Millisecond)
		freed := w.freeing(c.held)
		slow.Remove()
		w.Server.DropConnections("a")
		got := next.Granted()
		require.False(t, w.stands(c.held), "behind the delete on the next connection")
		require.NoError(t, <-freed)
		require.NoError(t, got.Confirm(t.Context()))
		release(t, got)
	}
}

// earlierConnection has the delete be lost with the connection, and not carried out
// when it comes again, before the own node of the next one is watched. The slot is over
// by the earlier connection only.
func earlierConnection(t *testing.T, w *World, r Recipe) {
	c := newHolder(w, r)
	next, slow := c.joinSlowly(300 * time.Millisecond)
	throttled := w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Always().Fail(zktest.ThrottledOp)
	freed := w.freeing(c.held)
	slow.Remove()
	w.Server.DropConnections("a")
	for range 60 {
		w.After(5 * time.Millisecond)
		require.True(t, next.Waiting())
		require.True(t, w.stands(c.held))
	}
	throttled.Remove()
	got := next.Granted()
	require.False(t, w.stands(c.held))
	require.NoError(t, <-freed)
	release(t, got)
}

// deletedUnknown has an operator delete the next one's node just before the release.
// The event comes after that: then the lease is lost.
func deletedUnknown(t *testing.T, w *World, r Recipe) {
	for _, broken := range []bool{false, true} {
		c := newHolder(w, r)
		before := w.Ephemerals(path)
		c.next = w.Start(c.a, lease.Forever)
		own := without(w.Ephemerals(path), before)
		require.Len(t, own, 1)
		w.After(100 * time.Millisecond)
		w.Server.On(zktest.AnyOp, own[0]).Client("a").OnEvent().Delay(500 * time.Millisecond)
		w.Remove(w.Named("operator"), own[0])
		freed := w.freeing(c.held)
		got := c.next.Granted()
		require.Equal(t, own[0], got.Path(), "handed over, the event is on its way")
		if broken {
			w.Server.DropConnections("a")
			w.After(200 * time.Millisecond)
		} else {
			require.NoError(t, got.Err())
			w.After(500 * time.Millisecond)
		}
		require.ErrorIs(t, got.Err(), lease.ErrDeleted)
		require.ErrorIs(t, got.Release(), lease.ErrLost)
		require.NoError(t, <-freed)
		w.After(SessionTimeout)
		require.Empty(t, w.Ephemerals(path))
	}
}

// deletedFirst has an operator delete the next one's node before the release: the next
// one joins again, at the end.
func deletedFirst(t *testing.T, w *World, r Recipe) {
	for range 5 {
		c := newHolder(w, r)
		before := w.Ephemerals(path)
		c.next = w.Start(c.a, lease.Forever)
		own := without(w.Ephemerals(path), before)
		c.other = w.Start(r.New(w.Named("b"), path), lease.Forever)
		c.last = w.Start(c.a, lease.Forever)
		w.After(100 * time.Millisecond)
		w.Remove(w.Known("b"), own[0])
		freed := w.beginFreeing(c.held)
		other := c.other.Granted()
		require.False(t, w.stands(c.held))
		w.Settle()
		require.True(t, c.next.Waiting() || c.next.Granted().Err() != nil)
		require.NoError(t, <-freed)
		release(t, other)
		release(t, c.last.Granted())
		c.drain()
	}
}

// deleteIsRefused withdraws the permission to delete nodes of the queue. The slot was
// handed over by then. After that, each slot of the path is kept until its deletion.
func deleteIsRefused(t *testing.T, w *World, r Recipe) {
	c := newHolder(w, r)
	operator := w.Client("operator")
	allow := func(perms int32) {
		_, err := operator.SetACL(t.Context(), path+r.Below, framework.WorldACL(perms), framework.AnyVersion)
		require.NoError(t, err)
	}
	next, last := w.Start(c.a, lease.Forever), w.Start(c.a, lease.Forever)
	w.After(100 * time.Millisecond)
	allow(framework.PermAll &^ framework.PermDelete)
	w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Delay(100 * time.Millisecond)
	refused := w.freeing(c.held)
	got := next.Granted()
	r.requireAnswer(t, <-refused, framework.ErrNoAuth)
	w.After(100 * time.Millisecond)
	r.requireAnswer(t, got.Release(), framework.ErrNoAuth)
	w.After(SessionTimeout)
	require.True(t, last.Waiting(), "the nodes ahead stand")
	require.True(t, w.stands(c.held))
	allow(framework.PermAll)
	w.Remove(operator, c.held.Path())
	w.Remove(operator, got.Path())
	held := last.Granted()
	again := w.Start(c.a, lease.Forever)
	w.After(100 * time.Millisecond)
	w.Server.On(zktest.OpDelete, held.Path()).Client("a").Delay(500 * time.Millisecond)
	freed := w.freeing(held)
	for ; w.stands(held); w.After(10 * time.Millisecond) {
		require.True(t, again.Waiting(), "there is no hand-over any more")
	}
	require.NoError(t, <-freed)
	release(t, again.Granted())
}
