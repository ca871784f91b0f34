package conformance

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// After a long wait, a quorum has to vouch for the session before the grant, by a
// transaction. In these rows that transaction fails in every way.

var vouched = rows{
	"a transaction fails at a grant after a long wait": vouchingFails,
	"a grant after a long wait is cancelled":           vouchingIsCancelled,
	"no quorum vouches for a grant after a long wait":  noQuorumVouches,
	"the node is deleted at a grant after a long wait": nodeIsDeletedInVouching,
	"the node of a holder is deleted without an event": nodeIsDeletedWithoutEvent,
	"a grant after a break in an idle session":         grantAfterABreak,
	"the node of a holder may not be read any more":    nodeMayNotBeRead,
}

// afterLongWait fills all slots, and has a client named "a" wait behind them for long.
// free releases them.
func afterLongWait(w *World, r Recipe, timeout time.Duration) (at *Attempt, free func()) {
	w.T.Helper()
	held := fill(w, r)
	at = w.Start(r.New(w.Client("a"), path), timeout)
	w.After(2 * SessionTimeout)
	require.True(w.T, at.Waiting())
	return at, func() {
		release(w.T, held...)
		w.Settle()
	}
}

func vouchingFails(t *testing.T, w *World, r Recipe) {
	for _, strike := range []func(r *zktest.Rule){
		func(r *zktest.Rule) { r.Cut() },
		func(r *zktest.Rule) { r.After().Cut() },
		func(r *zktest.Rule) { r.Mute() },
		func(r *zktest.Rule) { r.Delay(SessionTimeout / 2) },
		func(r *zktest.Rule) { r.Fail(zktest.ThrottledOp) },
		func(r *zktest.Rule) { r.Expire() },
		func(r *zktest.Rule) { r.After().Expire() },
	} {
		at, free := afterLongWait(w, r, lease.Forever)
		rule := w.Server.On(zktest.OpMulti, "").Client("a")
		strike(rule)
		free()
		<-rule.Fired()
		got := at.Granted()
		require.NoError(t, got.Err())
		require.NoError(t, got.Confirm(t.Context()))
		info, ok := w.Server.Node(got.Path())
		require.True(t, ok)
		require.Equal(t, w.Known("a").Session().ID(), info.EphemeralOwner)
		release(t, got)
		w.CloseAll()
		w.clients = nil
		w.After(2 * SessionTimeout)
		require.Empty(t, w.Ephemerals("/"))
	}
}

// nothingIsReliedOn checks that sessions are as if there had been no lease: no node is
// left, no transaction is made to vouch for them, and they live.
func nothingIsReliedOn(t *testing.T, w *World) {
	t.Helper()
	var before, after []int64
	for _, s := range w.Server.Sessions() {
		before = append(before, s.ID)
	}
	w.After(2 * SessionTimeout)
	require.Empty(t, w.Ephemerals("/"))
	w.Server.ResetCounts()
	w.After(2 * SessionTimeout)
	require.Zero(t, w.Server.Count(zktest.OpMulti))
	for _, s := range w.Server.Sessions() {
		after = append(after, s.ID)
	}
	require.Equal(t, before, after)
}

func vouchingIsCancelled(t *testing.T, w *World, r Recipe) {
	at, free := afterLongWait(w, r, lease.Forever)
	reason := errors.New("changed its mind")
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client == "a" && c.Op == zktest.OpMulti && c.Phase == zktest.PhaseBeforeApply {
			at.Cancel(reason)
			return zktest.Delay(time.Millisecond)
		}
		return zktest.Pass
	})
	free()
	require.ErrorIs(t, at.Failed(), reason)
	w.Server.SetFaults(nil)
	nothingIsReliedOn(t, w)
	release(t, w.Acquire(r.New(w.Known("a"), path)))
}

// noQuorumVouches frees a slot while no transaction of the waiter is answered.
func noQuorumVouches(t *testing.T, w *World, r Recipe) {
	at, free := afterLongWait(w, r, 4*SessionTimeout)
	rule := w.Server.On(zktest.OpMulti, "").Client("a").Always()
	rule.Mute()
	free()
	require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	require.InDelta(t, 4*SessionTimeout, at.Took, float64(200*time.Millisecond))
	rule.Remove()
	nothingIsReliedOn(t, w)
}

func nodeIsDeletedInVouching(t *testing.T, w *World, r Recipe) {
	operator := w.Client("operator")
	at, free := afterLongWait(w, r, lease.Forever)
	gone := map[string]bool{}
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Client == "a" && c.Op == zktest.OpMulti && c.Phase == zktest.PhaseBeforeApply && len(gone) == 0 {
			for _, session := range w.Server.Sessions() {
				if session.Client != "a" {
					continue
				}
				for _, node := range session.Ephemeral {
					gone[node] = true
					require.NoError(t, operator.Delete(t.Context(), node, framework.AnyVersion))
				}
			}
		}
		return zktest.Pass
	})
	free()
	got := at.Granted()
	require.NotEmpty(t, gone)
	require.False(t, gone[got.Path()], "the deleted node is not granted")
	require.NoError(t, got.Confirm(t.Context()))
	release(t, got)
}

// nodeIsDeletedWithoutEvent deletes a holder's node so that the holder receives no
// event: from 3.8.4 on, servers send none if it may not read the node any more.
func nodeIsDeletedWithoutEvent(t *testing.T, w *World, r Recipe) {
	held := w.Acquire(r.New(w.Client("a"), path))
	operator := w.Client("operator")
	w.After(time.Second)
	hidden := []framework.ACL{{Perms: framework.PermAll, Scheme: "ip", ID: "192.0.2.1"}}
	node := held.Path()
	for _, other := range w.Ephemerals(path) {
		if other != node { // another one of several
			node = other
			break
		}
	}
	_, err := operator.SetACL(t.Context(), node, hidden, framework.AnyVersion)
	require.NoError(t, err)
	w.Remove(operator, node)
	w.After(SessionTimeout * 5 / 16)
	require.ErrorIs(t, held.Err(), lease.ErrDeleted)
	nothingIsReliedOn(t, w)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
}

// nodeMayNotBeRead withdraws a holder's permission to read its node.
func nodeMayNotBeRead(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	w.After(time.Second)
	_, err := w.Client("operator").SetACL(t.Context(), held.Path(), framework.WorldACL(framework.PermDelete), framework.AnyVersion)
	require.NoError(t, err)
	w.After(SessionTimeout * 5 / 16)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.ErrorIs(t, held.Err(), framework.ErrNoAuth)
	require.NoError(t, c.Session().Err(), "only that lease is lost")
	require.ErrorIs(t, held.Release(), lease.ErrLost)
}

// grantAfterABreak acquires right after a reconnect, in a session that has held nothing
// for long. The leader might be about to end that session, so the grant takes a moment,
// and no longer.
func grantAfterABreak(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	for _, timeout := range []time.Duration{lease.Forever, 0} {
		w.After(3 * SessionTimeout)
		w.Server.DropConnections("a")
		w.After(100 * time.Millisecond)
		require.Equal(t, framework.Connected, c.State())
		at := w.Start(r.New(c, path), timeout)
		held := at.Granted()
		require.Greater(t, at.Took, SessionTimeout/5)
		require.Less(t, at.Took, SessionTimeout/2)
		release(t, held)
		again := w.Start(r.New(c, path), 0)
		release(t, again.Granted())
		require.Less(t, again.Took, SessionTimeout/100)
	}
}
