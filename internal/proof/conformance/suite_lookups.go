package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows in which a create is not answered, and its node is searched for.
var lookups = rows{
	"the node that is found is of another session": foundNodeIsOfAnotherSession,
	"a lagging server is searched for a node":      lookupOnLaggingServer,
	"the search for a node fails":                  lookupFails,
}

// foundNodeIsOfAnotherSession replaces the node whose create was not answered by a node
// of the same name of another session, while the client's session lives and when it has
// ended.
func foundNodeIsOfAnotherSession(t *testing.T, w *World, r Recipe) {
	c, forger := w.Client("a"), w.Client("b")
	release(t, w.Acquire(r.New(forger, path)))
	for _, step := range r.steps() {
		for _, ends := range []bool{false, true} {
			lost := w.Server.On(step, path).Client("a").After().Cut()
			w.Server.RefuseConnections("a", true)
			at := w.Start(r.New(c, path), lease.Forever)
			<-lost.Fired()
			left := nodesOfSession(w, c.Session().ID())
			require.NotEmpty(t, left)
			if ends {
				w.Expire(c)
			}
			for _, node := range left {
				if !ends {
					w.Remove(forger, node)
				}
				_, err := forger.Create(t.Context(), node, nil, framework.Ephemeral)
				require.NoError(t, err)
			}
			w.Server.RefuseConnections("a", false)
			w.After(time.Second)
			for _, node := range w.Ephemerals("/") {
				if info, _ := w.Server.Node(node); info.EphemeralOwner == forger.Session().ID() {
					w.Remove(forger, node)
				}
			}
			got := at.Granted()
			require.NotContains(t, left, got.Path(), "it is not adopted")
			r.stands(w, c, got)
			release(t, got)
		}
	}
}

// lookupOnLaggingServer drops the answer to a create; the client reconnects to a server
// that has not seen the node.
func lookupOnLaggingServer(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", w.Elsewhere("a", "a, elsewhere"))
	release(t, w.Acquire(r.New(c, path))) // it knows the parents, so the create is the first that it sends
	held := fill(w, r)
	before := len(w.Ephemerals("/"))
	w.Server.Lag("a, elsewhere", true)
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Op == zktest.OpSync && c.Path == "/" { // nor does it catch up by the client's own syncs
			return zktest.Fail(zktest.OperationTimeout)
		}
		return zktest.Pass
	})
	w.Server.ResetCounts()
	w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
	at := w.Start(r.New(c, path), lease.Forever)
	w.After(time.Second)
	require.Equal(t, 1, w.Server.Count(zktest.OpCreate), "it was found, not made again")
	require.Len(t, w.Ephemerals("/"), before+1)
	release(t, held...)
	w.Server.SetFaults(nil)
	w.Server.Lag("a, elsewhere", false)
	release(t, at.Granted())
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
}

// lookupFails drops the answer to a create, and has the server refuse the search for
// the node.
func lookupFails(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", func(cfg *framework.Config) { cfg.Retry = retry.None() })
	other := r.New(w.Client("b"), path)
	release(t, w.Acquire(other))
	for _, step := range r.steps() {
		for _, code := range []zktest.Code{zktest.OperationTimeout, zktest.SessionMoved} {
			w.Server.On(step, path).Client("a").After().Cut()
			refused := w.Server.On(zktest.OpSync, "").Client("a").Always().Fail(code)
			err := w.Start(r.New(c, path), 3*time.Second).Failed()
			require.ErrorIs(t, err, framework.ErrUnknownOutcome)
			require.NotEmpty(t, w.Ephemerals("/"))
			refused.Remove()
			w.After(3 * time.Second)
			require.Empty(t, w.Ephemerals("/"), "deleted as soon as the server answers")
			release(t, w.Acquire(other))
		}
	}
}
