package leader_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A client with so many candidates that not all of them take part in the queue.
func TestNextWithACrowd(t *testing.T) {
	for range 15 { // it goes wrong in some
		testNextWithACrowd(t)
	}
}

func testNextWithACrowd(t *testing.T) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("d"), "d")
		term := w.Acquire(a)
		many := w.Client("many")
		var all []*conformance.Attempt
		for i := range 100 {
			all = append(all, w.Start(newElection(t, many, fmt.Sprint(i)), lease.Forever))
		}
		named := w.Start(d, lease.Forever)
		w.After(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := a.MakeNext(ctx, "d")
		require.NoError(t, err)
		w.After(time.Second)
		require.Len(t, ids(t, a), 102)
		for _, at := range all {
			at.Cancel(nil)
			_ = at.Failed()
		}
		require.NoError(t, term.Release())
		require.NoError(t, named.Granted().Release())
	})
}

// A request for revocation of a candidate that does not take part in the queue yet is
// seen when it is granted the term.
func TestRevocationOfOneOfACrowd(t *testing.T) {
	for range 15 { // it goes wrong in some
		testRevocationOfOneOfACrowd(t)
	}
}

func testRevocationOfOneOfACrowd(t *testing.T) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := newElection(t, w.Client("a"), "a")
		term := w.Acquire(a)
		many := w.Client("many")
		var all []*conformance.Attempt
		for i := range 100 {
			all = append(all, w.Start(newElection(t, many, fmt.Sprint(i)), lease.Forever))
		}
		w.After(time.Second)
		found, err := a.Contenders(t.Context())
		require.NoError(t, err)
		for _, c := range found[65:] {
			require.NoError(t, lease.RequestRevocation(t.Context(), w.Known("a"), c.Path))
		}
		w.After(time.Second)
		for _, at := range all[:64] {
			at.Cancel(errors.New("left"))
		}
		w.After(time.Second)
		require.NoError(t, term.Release())
		for _, at := range all[64:] {
			held := at.Granted()
			w.After(20 * time.Millisecond)
			require.True(t, conformance.Closed(held.RevocationRequested()))
			require.NoError(t, held.Release())
		}
	})
}

// Long ids of many candidates do not fit into one request.
func TestNextWithLongIDs(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("d"), "d")
		term := w.Acquire(a)
		many := w.Client("many")
		var all []*conformance.Attempt
		for i := range 40 {
			all = append(all, w.Start(newElection(t, many, fmt.Sprintf("%01000d", i)), lease.Forever))
		}
		named := w.Start(d, lease.Forever)
		w.After(time.Second)
		_, err := a.MakeNext(t.Context(), "d")
		require.NoError(t, err)
		for _, at := range all {
			at.Cancel(nil)
			_ = at.Failed()
		}
		require.NoError(t, term.Release())
		require.NoError(t, named.Granted().Release())
	})
}

// Many candidates that step back at once are not waited for one after another.
func TestNextOverASlowNetwork(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("d"), "d")
		operator := newElection(t, w.Client("operator"), "operator")
		term := w.Acquire(a)
		var all []*conformance.Attempt
		for c := range 4 {
			many := w.Client(fmt.Sprint("many", c))
			for i := range 25 {
				all = append(all, w.Start(newElection(t, many, fmt.Sprint(c, i)), lease.Forever))
			}
		}
		named := w.Start(d, lease.Forever)
		w.After(time.Second)
		var alone atomic.Int32 // reads that set a watch, one after another
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "operator" && c.Phase == zktest.PhaseBeforeApply && c.Watch {
				alone.Add(1)
			}
			return zktest.Pass
		})
		_, err := operator.MakeNext(t.Context(), "d")
		w.Server.SetFaults(nil)
		require.NoError(t, err)
		require.Less(t, alone.Load(), int32(30))
		for _, at := range all {
			at.Cancel(nil)
			_ = at.Failed()
		}
		require.NoError(t, term.Release())
		require.NoError(t, named.Granted().Release())
	})
}
