package leader_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The request comes first, and then the leader resigns, while the candidate is cut off:
// it is at the head when it reads the request, and leads or steps back.
func TestNextWhileACandidateIsCutOff(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "d")
		w.Server.Partition("b", true)
		n := q.makeNext("d")
		require.NoError(t, q.term.Release())
		w.After(500 * time.Millisecond)
		w.Server.Partition("b", false)
		<-n.done
		require.NoError(t, n.err)
		w.After(time.Second)
		releaseAll(t, w, q.waiting["b"], q.waiting["d"])
	})
}

// releaseAll has each be granted the term, in any order, and releases it.
func releaseAll(t *testing.T, w *conformance.World, all ...*conformance.Attempt) {
	t.Helper()
	for began := time.Now(); len(all) > 0; w.After(10 * time.Millisecond) {
		require.Less(t, time.Since(began), time.Minute, "somebody is not granted the term")
		if i := slices.IndexFunc(all, func(at *conformance.Attempt) bool { return !at.Waiting() }); i >= 0 {
			require.NoError(t, all[i].Granted().Release())
			all = slices.Delete(all, i, i+1)
		}
	}
}

// A leader and all candidates of one client, whose nodes are young: the slot is handed
// over in memory, without a look at the data.
func TestNextWhileAYoungCandidateIsHandedTheTerm(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		one := w.Client("one")
		a, b, d := newElection(t, one, "a"), newElection(t, one, "b"), newElection(t, one, "d")
		operator := newElection(t, w.Client("operator"), "operator")
		term := w.Acquire(a)
		second, named := w.Start(b, lease.Forever), w.Start(d, lease.Forever)
		n := callNext(t.Context(), w, operator, "d")
		require.NoError(t, term.Release())
		held := second.Granted()
		<-n.done
		require.NoError(t, n.err)
		require.NoError(t, held.Release())
		require.NoError(t, named.Granted().Release())
	})
}

// A request for revocation of a candidate that waits is not lost because it is asked to
// step back.
func TestNextKeepsARequestForRevocation(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "d")
		all, err := q.operator.Contenders(t.Context())
		require.NoError(t, err)
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Known("operator"), all[1].Path))
		w.Settle()
		_, err = q.operator.MakeNext(t.Context(), "d")
		require.NoError(t, err)
		require.NoError(t, q.term.Release())
		require.NoError(t, q.waiting["d"].Granted().Release())
		held := q.waiting["b"].Granted()
		w.After(time.Second)
		require.True(t, conformance.Closed(held.RevocationRequested()), "the request is lost")
		require.NoError(t, held.Release())
	})
}

// Stepping back is no failure of the wait.
func TestNextIsNoFailureOfTheWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("b"), "b"), newElection(t, w.Client("d"), "d")
		term := w.Acquire(a)
		second, named := w.Start(b, time.Minute), w.Start(d, lease.Forever)
		w.After(time.Second)
		_, err := a.MakeNext(t.Context(), "d")
		require.NoError(t, err)
		err = second.Failed()
		late := (*lease.TimeoutError)(nil)
		require.ErrorAs(t, err, &late)
		require.NoError(t, late.Err)
		require.NoError(t, term.Release())
		require.NoError(t, named.Granted().Release())
	})
}

// A mark that another client overwrites is written again.
func TestNextAfterTheMarkIsOverwritten(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "d")
		all, err := q.operator.Contenders(t.Context())
		require.NoError(t, err)
		w.Server.Partition("b", true)
		n := q.makeNext("d")
		w.After(100 * time.Millisecond)
		_, err = w.Client("java").Set(t.Context(), all[1].Path, []byte("__REVOKE__"), framework.AnyVersion) // Curator's Revoker
		require.NoError(t, err)
		w.Server.Partition("b", false)
		<-n.done
		require.NoError(t, n.err)
		q.release("d", "b")
	})
}

// A candidate that is asked while it waits for a lock-delay at the head leads after it:
// the delay does not pass twice.
func TestNextDoesNotPassALockDelayTwice(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		const delay = 30 * time.Second
		election := func(id string) *leader.Election {
			return newElection(t, w.Client(id), id, leader.WithLockDelay(delay))
		}
		w.Acquire(election("a"))
		q := &queued{w: w, operator: election("operator")}
		b, d := w.Start(election("b"), lease.Forever), w.Start(election("d"), lease.Forever)
		w.After(time.Second)
		w.Expire(w.Known("a"))
		began := time.Now()
		w.After(time.Second)
		q.set(q.node("b"), znode.MarkStepBack)
		held := b.Granted()
		require.Less(t, time.Since(began), delay+5*time.Second)
		require.NoError(t, held.Release())
		require.NoError(t, d.Granted().Release())
	})
}

// Who is asked is shown by its id.
func TestNextShowsNoMark(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "d")
		w.Server.Partition("b", true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := q.operator.MakeNext(ctx, "d")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotContains(t, err.Error(), "STEP")
		require.NoError(t, q.term.Release())
		last := newElection(t, w.Client("e"), "e")
		err = w.Start(last, time.Second).Failed()
		require.Contains(t, err.Error(), "held by b")
		require.NotContains(t, err.Error(), "STEP")
		found, err := inspect.Path(t.Context(), w.Known("a"), path)
		require.NoError(t, err)
		text := fmt.Sprintf("%+v", found)
		require.NotContains(t, text, "STEP")
		w.Server.Partition("b", false)
		w.After(time.Second)
		releaseAll(t, w, q.waiting["b"], q.waiting["d"])
	})
}
