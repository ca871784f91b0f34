package conformance

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows in which the requests fail that make the nodes of a lease.
var creates = rows{
	"an unknown outcome leaves one node":        unknownOutcome,
	"a create is cancelled":                     createIsCancelled,
	"a create is not answered in time":          createIsNotAnswered,
	"a create arrives after the wait has ended": createArrivesLate,
	"all slots are taken during a try":          tryIsOvertaken,
	"the names of nodes":                        namesOfNodes,
}

// steps returns the operations that make the nodes of a lease.
func (r Recipe) steps() []zktest.Op {
	switch {
	case r.Nodes > 0:
		return []zktest.Op{zktest.OpCreate, zktest.OpMulti} // into the queue, and the permits
	case r.Locks > 1:
		return []zktest.Op{zktest.OpMulti}
	}
	return []zktest.Op{zktest.OpCreate}
}

// count returns how many nodes a lease has.
func (r Recipe) count() int { return max(r.Nodes, 1) * max(r.Locks, 1) }

// stands asserts that a lease has all its nodes, in the client's session.
func (r Recipe) stands(w *World, c *framework.Client, held *lease.Lease) {
	w.T.Helper()
	require.NoError(w.T, held.Err())
	require.Len(w.T, nodesOfSession(w, c.Session().ID()), r.count())
	info, ok := w.Server.Node(c.FullPath(held.Path()))
	require.True(w.T, ok)
	require.Equal(w.T, c.Session().ID(), info.EphemeralOwner)
	require.EqualValues(w.T, info.Czxid, held.Token())
}

// nodesOfSession returns the ephemeral nodes of a session.
func nodesOfSession(w *World, id int64) (nodes []string) {
	for _, s := range w.Server.Sessions() {
		if s.ID == id {
			nodes = append(nodes, s.Ephemeral...)
		}
	}
	return nodes
}

// in makes a client that works in a namespace, and acquires the recipe once.
func in(w *World, r Recipe, name, namespace string) *framework.Client {
	c := w.Client(name, func(cfg *framework.Config) {
		cfg.Namespace = namespace
		cfg.Retry = retry.None()
	})
	release(w.T, w.Acquire(r.New(c, path)))
	return c
}

func unknownOutcome(t *testing.T, w *World, r Recipe) {
	for _, namespace := range []string{"", "billing/eu"} {
		c := in(w, r, "a", namespace)
		for _, step := range r.steps() {
			for _, phase := range []func(*zktest.Rule) *zktest.Rule{(*zktest.Rule).Before, (*zktest.Rule).After} {
				for _, action := range []zktest.Action{zktest.CutConnection, zktest.Mute, zktest.Delay(SessionTimeout * 2 / 3), zktest.ExpireSession} {
					phase(w.Server.On(step, c.FullPath(path))).Do(action)
					at := w.Start(r.New(c, path), time.Minute)
					held := at.Granted()
					require.Less(t, at.Took, SessionTimeout)
					w.After(SessionTimeout)
					r.stands(w, c, held)
					require.NoError(t, held.Confirm(t.Context()))
					release(t, held)
				}
			}
		}
		held := w.Acquire(r.New(c, path))
		w.Server.On(r.removal(), c.FullPath(path)).After().Cut()
		release(t, held)
		w.After(SessionTimeout)
		require.Empty(t, w.Ephemerals("/"))
	}
}

// createIsCancelled cancels the wait, or closes its client, while a create is under
// way.
func createIsCancelled(t *testing.T, w *World, r Recipe) {
	other := r.New(w.Client("b"), path)
	release(t, w.Acquire(other))
	reason := errors.New("changed its mind")
	for _, step := range r.steps() {
		for _, strike := range []func(*zktest.Rule){
			func(rule *zktest.Rule) { rule.After().Delay(time.Second) },
			func(rule *zktest.Rule) { rule.Before().Delay(time.Second) },
			func(rule *zktest.Rule) { rule.After().DropReply() },
			func(rule *zktest.Rule) { rule.After().Mute() },
			func(rule *zktest.Rule) { rule.Before().Mute() },
		} {
			for _, closeClient := range []bool{false, true} {
				c := w.Client("a")
				rule := w.Server.On(step, path).Client("a")
				strike(rule)
				at := w.Start(r.New(c, path), lease.Forever)
				<-rule.Fired()
				w.After(100 * time.Millisecond)
				require.True(t, at.Waiting())
				want := reason
				if closeClient {
					want = framework.ErrClosed
					closing(w, c)
				} else {
					at.Cancel(reason)
				}
				w.After(60 * time.Millisecond)
				require.False(t, at.Waiting(), "a cancelled wait does not wait for the server")
				require.ErrorIs(t, at.Failed(), want)
				w.After(2 * SessionTimeout) // if the close is not answered, the server ends the session
				require.Empty(t, w.Ephemerals("/"))
				release(t, w.Acquire(other))
				require.NoError(t, c.Close())
			}
		}
	}
}

// createIsNotAnswered drops the answer to a create, and keeps the server unreachable
// for longer than the caller waits.
func createIsNotAnswered(t *testing.T, w *World, r Recipe) {
	for _, namespace := range []string{"", "billing/eu"} {
		c, other := in(w, r, "a", namespace), r.New(in(w, r, "b", namespace), path)
		for _, step := range r.steps() {
			for timeout, outage := range map[time.Duration]time.Duration{0: time.Second, time.Second: time.Second, 500 * time.Millisecond: 2 * SessionTimeout} {
				w.Settle()
				session := c.Session()
				struck := step
				if timeout == 0 && r.Locks > 1 {
					struck = zktest.OpCreate // it takes one after the other
				}
				lost := w.Server.On(struck, c.FullPath(path)).Client("a").After().Cut()
				w.Server.RefuseConnections("a", true)
				at := w.Start(r.New(c, path), timeout)
				require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
				require.InDelta(t, timeout, at.Took, float64(SessionTimeout/3+100*time.Millisecond))
				if timeout > 0 {
					require.InDelta(t, timeout, at.Took, float64(100*time.Millisecond))
				}
				<-lost.Fired()
				require.NotEmpty(t, nodesOfSession(w, session.ID()), "the create took effect")
				again := w.Start(r.New(c, path), lease.Forever)
				w.After(outage)
				w.Server.RefuseConnections("a", false)
				got := again.Granted()
				require.Less(t, again.Took, outage+5*time.Second, "the node whose create was not answered does not stay")
				if outage < SessionTimeout/2 {
					require.Same(t, session, c.Session())
				}
				w.After(time.Second)
				r.stands(w, c, got)
				release(t, got)
				w.Settle()
				require.Empty(t, w.Ephemerals("/"))
				release(t, w.Acquire(other))
			}
		}
	}
}

// createArrivesLate delivers the bytes of a create when its wait has ended.
func createArrivesLate(t *testing.T, w *World, r Recipe) {
	other := r.New(w.Client("b"), path)
	release(t, w.Acquire(other))
	at := r.New(w.Client("a"), path)
	w.Server.Stall("a", true)
	require.ErrorIs(t, w.Start(at, time.Second).Failed(), lease.ErrTimeout)
	require.Empty(t, w.Ephemerals("/"))
	w.Server.Stall("a", false)
	w.After(SessionTimeout)
	require.Empty(t, w.Ephemerals("/"), "what arrived late was removed")
	release(t, w.Acquire(other))
}

// tryIsOvertaken has other clients take all slots between the listing of a try and its
// create.
func tryIsOvertaken(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	release(t, w.Acquire(a))
	late := w.Server.On(zktest.OpCreate, path).Client("a").Before().Delay(time.Second)
	try := w.Start(a, 0)
	<-late.Fired()
	held := fill(w, r)
	nodes := w.Ephemerals("/")
	require.ErrorIs(t, try.Failed(), lease.ErrTimeout)
	w.Settle()
	require.Equal(t, nodes, w.Ephemerals("/"))
	release(t, held...)
	w.Settle()
	release(t, w.Start(a, 0).Granted())
}

// namesOfNodes checks the names of a holder's node and of a waiter's nodes, through
// several sessions, in each of which the waiter's create fails.
func namesOfNodes(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	at := w.Start(r.New(c, path), lease.Forever)
	seen := map[protection.ID]bool{}
	length := len(nodesOfSession(w, c.Session().ID())[0])
	for round := range 6 {
		mine := nodesOfSession(w, c.Session().ID())
		require.Len(t, mine, 1, "one node each")
		require.Len(t, mine[0], length)
		id, ok := protection.Of(filepath.Base(mine[0]))
		require.True(t, ok, mine[0])
		require.False(t, seen[id], "an id is used once")
		seen[id] = true
		if rule := w.Server.On(zktest.OpCreate, path).Client("a"); round%2 == 0 {
			rule.After().Cut()
		} else {
			rule.Before().Expire()
		}
		w.Expire(c)
		w.After(2 * time.Second)
		require.True(t, at.Waiting())
	}
	for _, node := range w.Ephemerals("/") {
		require.Regexp(t, `/_c_[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-[^/]*[0-9]{10}$`, node)
	}
	release(t, held...)
	got := at.Granted()
	r.stands(w, c, got)
	release(t, got)
}
