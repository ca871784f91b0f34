package striped_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A call that belonged to the front of the crowd may stand behind it after it has
// looked: the create of an earlier one was answered later. Its node and what it waits
// for may change then, as at any time.
func TestCallThatComesToStandBehindTheFront(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		queue.SetFront(a, 1)
		blocking := w.Acquire(newLocks(t, b, 1).For("key"))
		l := anyStripe(newLocks(t, a, 1))

		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && c.Op == zktest.OpGetChildren2 && c.Phase == zktest.PhaseAfterApply {
				return zktest.Delay(60 * time.Millisecond)
			}
			return zktest.Pass
		})
		dropped := w.Server.On(zktest.OpCreate, path).Client("a").After().Cut()
		first := w.Begin(t.Context(), l, lease.Forever)
		<-dropped.Fired()
		second := w.Begin(t.Context(), l, lease.Forever)
		w.After(time.Second)
		w.Server.SetFaults(nil)
		waiting := contenders(t, b)
		require.Len(t, waiting, 3)
		for _, node := range waiting[1:] { // as who requests revocation
			_, err := b.Set(t.Context(), node, []byte("changed"), framework.AnyVersion)
			require.NoError(t, err)
		}
		w.After(time.Second)
		require.NoError(t, blocking.Release())
		require.NoError(t, first.Granted().Release())
		require.NoError(t, second.Granted().Release())
	})
}

// contenders returns the nodes at the first stripe, in order.
func contenders(t *testing.T, c *framework.Client) (nodes []string) {
	t.Helper()
	const dir = path + "/stripe-0000"
	q := &queue.Queue{Client: c, Path: dir, Kind: "lock-", Kinds: []string{"lock-"}}
	names, err := q.Names(t.Context(), c)
	require.NoError(t, err)
	for _, name := range names {
		nodes = append(nodes, dir+"/"+name.Node)
	}
	return nodes
}
