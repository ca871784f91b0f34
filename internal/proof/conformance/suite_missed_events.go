package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// From 3.8.4 on, a server sends no event about a node to a client that may not read it
// at that time. These rows delete nodes so that no client receives an event.
var missedEvents = rows{
	"the node ahead is deleted without an event":            nodeAheadIsDeleted,
	"the node of a waiter is deleted without an event":      nodeOfAWaiterIsDeleted,
	"the node of a busy holder is deleted without an event": nodeOfABusyHolderIsDeleted,
	"the node ahead may not be read":                        nodeAheadMayNotBeRead,
	"second looks are refused":                              looksAreRefused,
	"second looks fail":                                     looksFail,
	"a wait ends during a second look":                      waitEndsInALook,
}

// noticeLimit is the time within which clients notice.
const noticeLimit = SessionTimeout*5/4 + time.Second

// removeWithoutEvent deletes nodes so that no client receives an event for them or for
// their parents.
func removeWithoutEvent(w *World, nodes ...string) {
	w.T.Helper()
	ctx, operator := w.T.Context(), w.Client("operator")
	hide := func(node string) {
		_, err := operator.SetACL(ctx, node, framework.WorldACL(framework.PermAll&^framework.PermRead), framework.AnyVersion)
		require.NoError(w.T, err)
	}
	for _, node := range nodes {
		parent := node[:strings.LastIndexByte(node, '/')]
		hide(parent)
		hide(node)
		w.Remove(operator, node)
		_, err := operator.SetACL(ctx, parent, framework.WorldACL(framework.PermAll), framework.AnyVersion)
		require.NoError(w.T, err)
	}
	w.Settle()
}

// nodesExcept returns the ephemeral nodes of all clients but those named.
func nodesExcept(w *World, except ...string) (nodes []string) {
	for _, s := range w.Server.Sessions() {
		if !slices.Contains(except, s.Client) {
			nodes = append(nodes, s.Ephemeral...)
		}
	}
	return nodes
}

// nodeAheadIsDeleted deletes the nodes ahead of a waiter.
func nodeAheadIsDeleted(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.After(time.Second)
	gone := nodesExcept(w, "a")
	require.NotEmpty(t, gone)
	removeWithoutEvent(w, gone...)
	began := time.Now()
	require.True(t, at.Waiting(), "it received no event")
	got := at.Granted()
	require.Less(t, time.Since(began), noticeLimit)
	for _, l := range held {
		require.ErrorIs(t, l.Err(), lease.ErrLost, "before the next lease begins")
	}
	require.NoError(t, got.Confirm(t.Context()))
	release(t, got)
}

// nodeOfAWaiterIsDeleted deletes the node of a waiter.
func nodeOfAWaiterIsDeleted(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.After(time.Second)
	before := nodesExcept(w, "operator")
	all := w.Ephemerals(path)
	mine := slices.DeleteFunc(slices.Clone(all), func(node string) bool { return slices.Contains(nodesExcept(w, "a"), node) })
	require.Len(t, mine, 1)
	removeWithoutEvent(w, mine...)
	require.Len(t, w.Ephemerals(path), len(before)-1)
	w.After(noticeLimit)
	require.True(t, at.Waiting())
	require.Len(t, w.Ephemerals(path), len(before), "it is in the queue again")
	release(t, held...)
	got := at.Granted()
	require.NoError(t, got.Confirm(t.Context()))
	release(t, got)
}

// nodeOfABusyHolderIsDeleted deletes the node of a holder whose session commits other
// transactions all the time, so that none is made to check the node.
func nodeOfABusyHolderIsDeleted(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	w.After(time.Second)
	nodes := w.Ephemerals(path)
	removeWithoutEvent(w, nodes[len(nodes)-1])
	w.Server.ResetCounts()
	for range noticeLimit / time.Second {
		_, err := c.Create(t.Context(), "/busy-", nil, framework.PersistentSequential)
		require.NoError(t, err)
		w.After(time.Second)
	}
	require.Zero(t, w.Server.CountOf("a", zktest.OpMulti), "no transaction was made to vouch")
	require.ErrorIs(t, held.Err(), lease.ErrDeleted)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
}

// nodeAheadMayNotBeRead has a client acquire that would receive no event when the node
// ahead is deleted.
func nodeAheadMayNotBeRead(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	w.After(time.Second)
	operator := w.Client("operator")
	var hidden []string
	for _, node := range w.Ephemerals(path) {
		hidden = append(hidden, node)
		_, err := operator.SetACL(t.Context(), node, framework.WorldACL(framework.PermDelete), framework.AnyVersion)
		require.NoError(t, err)
	}
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	if strings.Contains(hidden[0], "/leases/") { // of these only their names are read
		require.True(t, at.Waiting())
		release(t, at.afterLoss(w, held))
		return
	}
	err := at.Failed()
	require.ErrorIs(t, err, framework.ErrNoAuth)
	require.ErrorContains(t, err, "the contender ahead cannot be waited for, its acl must let others read")
	w.After(SessionTimeout)
	require.Empty(t, nodesExcept(w, "operator"), "the holders of such nodes have removed them")
}

// afterLoss waits for a grant, which must come after the loss of the held leases.
func (at *Attempt) afterLoss(w *World, held []*lease.Lease) *lease.Lease {
	got := at.Granted()
	for _, l := range held {
		require.ErrorIs(w.T, l.Err(), lease.ErrLost)
	}
	return got
}

// looksAreRefused has a server refuse to say whether a node exists, as servers from
// 3.8.4 on do for a node that the client may not read.
func looksAreRefused(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.After(time.Second)
	w.Server.On(zktest.OpExists, "").Client("a").Optional().Always().Fail(zktest.NoAuth)
	before := w.Ephemerals(path)
	w.After(3 * SessionTimeout)
	require.True(t, at.Waiting())
	require.Equal(t, before, w.Ephemerals(path), "it keeps its queue position")
	release(t, held...)
	got := at.Granted()
	require.NoError(t, got.Err())
	release(t, got)
}

// onLook strikes at the next second look of the waiting client, and waits for it: the
// read of a node, or the listing of a queue.
func onLook(w *World, strike func(r *zktest.Rule)) {
	nodes, queue := w.Server.On(zktest.OpExists, "").Client("a").Optional(), w.Server.On(zktest.OpGetChildren2, "").Client("a").Optional()
	strike(nodes)
	strike(queue)
	select {
	case <-nodes.Fired():
	case <-queue.Fired():
	}
	nodes.Remove()
	queue.Remove()
}

// looksFail has second looks fail in every way; they are made again.
func looksFail(t *testing.T, w *World, r Recipe) {
	for _, strike := range []func(r *zktest.Rule){
		func(r *zktest.Rule) { r.Cut() },
		func(r *zktest.Rule) { r.Mute() },
		func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		func(r *zktest.Rule) { r.Expire() },
	} {
		held := fill(w, r)
		at := w.Start(r.New(w.Client("a"), path), lease.Forever)
		w.After(time.Second)
		onLook(w, strike)
		w.After(SessionTimeout)
		require.True(t, at.Waiting())
		removeWithoutEvent(w, nodesExcept(w, "a")...)
		began := time.Now()
		got := at.Granted()
		require.Less(t, time.Since(began), noticeLimit)
		require.NoError(t, got.Confirm(t.Context()))
		release(t, got)
		for _, l := range held {
			r.requireAnswer(t, l.Release(), lease.ErrLost)
		}
		w.CloseAll()
		w.After(2 * SessionTimeout)
	}
}

// waitEndsInALook ends a wait, by its context and by Close of its client, while a
// second look is not answered.
func waitEndsInALook(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	for _, end := range []func(at *Attempt){
		func(at *Attempt) { at.Cancel(nil) },
		func(*Attempt) { require.NoError(t, w.Known("a").Close()) },
	} {
		c := w.Client("a")
		leavesNothing(t, w, func() {
			at := w.Start(r.New(c, path), lease.Forever)
			w.After(time.Second)
			onLook(w, func(r *zktest.Rule) { r.Delay(time.Second) })
			end(at)
			require.Error(t, at.Failed())
		})
	}
	release(t, held...)
}
