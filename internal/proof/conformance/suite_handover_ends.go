package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about what ends while a slot is handed over within a session: the wait of the
// next one, the lease of the last one, the session or the client.
var handoverEnds = rows{
	"the next of a session gives up at a release":       nextGivesUp,
	"a waiter gives up and another one behind it":       givenUpIsConfirmed,
	"a lease that was deleted is not handed over":       deletedIsNotHandedOver,
	"a lease that was suspended is not handed over":     suspendedIsNotHandedOver,
	"the session ends at the moment of a hand-over":     sessionEndsAtHandover,
	"the client is closed at the moment of a hand-over": closedAtHandover,
}

// A giveUp ends the wait of the next one at about the moment of a release, in one of
// several orders.
type giveUp struct {
	timeout time.Duration // of the wait
	order   func(w *World, held *lease.Lease, next *Attempt) (freed <-chan error)
}

var errEnough = errors.New("enough")

var giveUps = map[string]giveUp{
	"before the release": {lease.Forever, func(w *World, held *lease.Lease, next *Attempt) <-chan error {
		next.Cancel(errEnough)
		w.Settle()
		return w.beginFreeing(held)
	}},
	"just before": {lease.Forever, func(w *World, held *lease.Lease, next *Attempt) <-chan error {
		next.Cancel(errEnough)
		return w.beginFreeing(held)
	}},
	"just after": {lease.Forever, func(w *World, held *lease.Lease, next *Attempt) <-chan error {
		freed := w.beginFreeing(held)
		next.Cancel(errEnough)
		return freed
	}},
	"after the release": {lease.Forever, func(w *World, held *lease.Lease, next *Attempt) <-chan error {
		defer next.Cancel(errEnough)
		return w.freeing(held)
	}},
	"by its timeout": {150 * time.Millisecond, func(w *World, held *lease.Lease, _ *Attempt) <-chan error {
		pass(150 * time.Millisecond)
		return w.beginFreeing(held)
	}},
}

// nextGivesUp ends the wait of the next one at the moment of a release. If it has no
// lease, the one behind it gets the slot only when its node is known to be deleted.
func nextGivesUp(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	for range 10 {
		for name, how := range giveUps {
			held := w.Acquire(a)
			before := w.Ephemerals(path)
			next := w.Start(a, how.timeout)
			own := without(w.Ephemerals(path), before)
			require.Len(t, own, 1)
			last := w.Start(a, lease.Forever)
			late := w.Server.On(zktest.OpDelete, own[0]).Client("a").Optional().Delay(500 * time.Millisecond)
			freed := how.order(w, held, next)
			got := w.grantedBehind(t, name, next, last, own[0])
			late.Remove()
			require.NoError(t, <-freed)
			release(t, got)
			w.After(time.Second)
			require.Empty(t, w.Ephemerals(path), name)
		}
	}
}

// without returns the paths that are not in the second list.
func without(all, less []string) (left []string) {
	known := map[string]bool{}
	for _, p := range less {
		known[p] = true
	}
	for _, p := range all {
		if !known[p] {
			left = append(left, p)
		}
	}
	return left
}

// grantedBehind waits for the end of a wait that is given up, which may come too late,
// and for the grant of the one behind it.
func (w *World) grantedBehind(t *testing.T, name string, next, last *Attempt, own string) *lease.Lease {
	t.Helper()
	w.Settle()
	for ; next.Waiting() || last.Waiting(); w.After(5 * time.Millisecond) {
		if !next.Waiting() && next.Err == nil && next.Lease.Err() == nil {
			require.True(t, last.Waiting(), name)
			w.freeing(next.Lease)
			continue
		}
		if _, stands := w.Server.Node(own); stands && (next.Waiting() || next.Lease == nil) {
			require.True(t, last.Waiting(), "%s: granted while the node of the one that gave up stands", name)
		}
	}
	if next.Lease != nil {
		return last.Granted()
	}
	_, stands := w.Server.Node(own)
	require.False(t, stands, name)
	if !errors.Is(next.Err, errEnough) {
		require.ErrorIs(t, next.Failed(), lease.ErrTimeout, name)
	}
	return last.Granted()
}

// givenUpIsConfirmed has one waiter give up, and the holder release, while no delete is
// answered.
func givenUpIsConfirmed(t *testing.T, w *World, r Recipe) {
	c := newParty(w, r)
	own := w.Ephemerals(path)
	c.other.Cancel(nil)
	require.Error(t, c.other.Failed())
	w.After(100 * time.Millisecond)
	require.Len(t, w.Ephemerals(path), len(own)-1)
	w.Server.On(zktest.OpDelete, path).Client("a").Delay(900 * time.Millisecond)
	given := w.Ephemerals(path)
	c.next.Cancel(nil)
	w.Settle()
	freed := w.freeing(c.held)
	for w.After(100 * time.Millisecond); len(w.Ephemerals(path)) == len(given); w.After(10 * time.Millisecond) {
		require.True(t, c.last.Waiting())
	}
	require.NoError(t, <-freed)
	release(t, c.last.Granted())
}

// deletedIsNotHandedOver has an operator delete the node of a lease: before the release
// and unknown at that time.
func deletedIsNotHandedOver(t *testing.T, w *World, r Recipe) {
	for _, known := range []bool{true, false} {
		c := newParty(w, r)
		if !known {
			w.Server.On(zktest.AnyOp, c.held.Path()).Client("a").OnEvent().Delay(500 * time.Millisecond)
		}
		w.Remove(w.Known("b"), c.held.Path())
		w.Settle()
		freed := w.freeing(c.held)
		got := c.next.Granted()
		require.NoError(t, got.Confirm(t.Context()))
		r.requireAnswer(t, <-freed, lease.ErrLost)
		require.True(t, c.other.Waiting())
		c.drain(got)
	}
}

// suspendedIsNotHandedOver breaks the connection of holders whose leases end with it,
// and has them released before or after the client reconnects.
func suspendedIsNotHandedOver(t *testing.T, w *World, r Recipe) {
	for _, first := range []bool{true, false} {
		c := newParty(w, r, func(cfg *framework.Config) { cfg.StopOnSuspend = true })
		w.Server.On(zktest.OpDelete, path).Client("a").Delay(500 * time.Millisecond)
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		w.Settle()
		require.ErrorIs(t, c.held.Err(), lease.ErrSuspended)
		if !first {
			w.Server.RefuseConnections("a", false)
			w.After(60 * time.Millisecond)
		}
		freed := w.freeing(c.held)
		w.Server.RefuseConnections("a", false)
		for all := len(w.Ephemerals(path)); len(w.Ephemerals(path)) == all; w.After(10 * time.Millisecond) {
			require.True(t, c.next.Waiting())
		}
		require.ErrorIs(t, <-freed, lease.ErrSuspended)
		c.drain()
		require.NoError(t, w.Known("a").Close())
	}
}

// sessionEndsAtHandover ends the session at about the moment of a release.
func sessionEndsAtHandover(t *testing.T, w *World, r Recipe) {
	for i := range 12 {
		c := newParty(w, r)
		a := w.Known("a")
		old := map[string]bool{}
		for _, node := range nodesOf(w, "a") {
			old[node] = true
		}
		w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Optional().Delay(900 * time.Millisecond)
		freed := w.beginFreeing(c.held)
		if i%2 == 0 {
			w.Settle()
		}
		w.Expire(a)
		other := c.other.Granted()
		w.After(time.Second)
		if !c.next.Waiting() && old[c.next.Granted().Path()] {
			require.ErrorIs(t, c.next.Lease.Err(), framework.ErrSessionLost)
			require.ErrorIs(t, context.Cause(c.next.Lease.Context()), lease.ErrLost)
		}
		if err := <-freed; err != nil {
			require.ErrorIs(t, err, lease.ErrLost)
		}
		require.NoError(t, other.Confirm(t.Context()))
		c.drain()
	}
}

// closedAtHandover closes the client at about the moment of a release.
func closedAtHandover(t *testing.T, w *World, r Recipe) {
	for i := range 12 {
		c := newParty(w, r)
		freed := w.beginFreeing(c.held)
		if i%2 == 0 {
			w.Settle()
		}
		require.NoError(t, w.Known("a").Close())
		if err := <-freed; err != nil {
			require.ErrorIs(t, err, lease.ErrLost)
		}
		w.Settle()
		if c.next.Waiting() || c.next.Err == nil {
			got := c.next.Granted()
			require.ErrorIs(t, got.Err(), lease.ErrLost)
		}
		require.Error(t, c.last.Failed())
		release(t, c.other.Granted())
		w.After(SessionTimeout)
		require.Empty(t, w.Ephemerals(path))
	}
}
