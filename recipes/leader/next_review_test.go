package leader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// ctx ends while the queue is read again: the error still names one that is asked.
func TestNextNamesOneThatHasNotSteppedBack(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		w.Server.Partition("b", true)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		call := callNext(ctx, w, q.operator, "c")
		w.After(time.Second)
		w.Server.Partition("operator", true)
		<-call.done
		require.ErrorContains(t, call.err, "not yet stepped back")
		w.Server.Partition("operator", false)
		w.Server.Partition("b", false)
		w.After(10 * time.Second)
		require.NoError(t, q.term.Release())
		releaseAll(t, w, q.waiting["b"], q.waiting["c"])
	})
}

// The error says why the servers were not reached, as that of Contenders does.
func TestNextSaysWhyNothingCouldBeSent(t *testing.T) {
	for _, cause := range []error{nil, errors.New("over")} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			q := newQueued(w, "a", "b", "c")
			w.Server.Partition("operator", true)
			w.After(5 * time.Second)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 4*time.Second, cause)
			defer cancel()
			_, err := q.operator.MakeNext(ctx, "c")
			require.ErrorIs(t, err, framework.ErrNotConnected)
			w.Server.Partition("operator", false)
			w.After(10 * time.Second)
			q.release("b", "c")
		})
	}
}

// The request is overwritten before MakeNext watches the node: it asks again, and does
// not wait for a slow look.
func TestNextWhenTheMarkIsOverwrittenAtOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		b := q.node("b")
		w.Server.On(zktest.AnyOp, b).Client("b").OnEvent().Delay(500 * time.Millisecond)
		slow := w.Server.On(zktest.OpMulti, "").Client("operator").After().Delay(100 * time.Millisecond)
		call := q.makeNext("c")
		<-slow.Fired()
		_, err := w.Named("java").Set(t.Context(), b, []byte("__REVOKE__"), framework.AnyVersion)
		require.NoError(t, err)
		w.After(2 * time.Second)
		require.True(t, conformance.Closed(call.done), "it waits for a slow look")
		<-call.done
		require.NoError(t, q.term.Release())
		releaseAll(t, w, q.waiting["b"], q.waiting["c"])
	})
}

// A session that was lost takes requests for revocation with it, also after a step
// back.
func TestRevocationEndsWithTheSessionAlsoAfterAStepBack(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		b := q.node("b")
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Named("writer"), b))
		w.After(time.Second)
		q.set(b, znode.MarkStepBack)
		w.After(time.Second)
		require.NotEqual(t, b, q.node("b"))
		w.Expire(w.Known("b"))
		w.After(5 * time.Second)
		require.NoError(t, q.term.Release())
		require.NoError(t, q.waiting["c"].Granted().Release())
		held := q.waiting["b"].Granted()
		w.After(time.Second)
		require.False(t, conformance.Closed(held.RevocationRequested()))
		require.NoError(t, held.Release())
	})
}

// A client that is closed while its candidate steps back says so.
func TestClosedWhileSteppingBack(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		b := q.node("b")
		slow := w.Server.On(zktest.OpDelete, b).Client("b").Before().Delay(30 * time.Millisecond)
		q.set(b, znode.MarkStepBack)
		<-slow.Fired()
		require.NoError(t, w.Known("b").Close())
		err := q.waiting["b"].Failed()
		require.ErrorIs(t, err, framework.ErrClosed)
		q.release("c")
	})
}

// The present leader has a mark of an earlier MakeNext in its data; a further MakeNext
// works, and shows none.
func TestNextBehindALeaderThatWasAsked(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		q.set(q.term.Path(), znode.MarkStepBack)
		w.After(time.Second)
		call := q.makeNext("c")
		w.After(time.Second)
		require.True(t, conformance.Closed(call.done))
		require.NoError(t, call.err)
		require.Equal(t, "a", call.leader.Holder.Who)
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Named("writer"), q.term.Path()))
		w.Settle()
		require.True(t, conformance.Closed(q.term.RevocationRequested()))
		q.release("c", "b")
	})
}

// A request for revocation follows that to step back, while the candidate reads that.
func TestRevocationWhileSteppingBack(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "b", "c")
		b := q.node("b")
		slow := w.Server.On(zktest.OpGetData, b).Client("b").After().Delay(100 * time.Millisecond)
		q.set(b, znode.MarkStepBack)
		<-slow.Fired()
		require.NoError(t, lease.RequestRevocation(t.Context(), w.Named("writer"), b))
		w.After(time.Second)
		q.release("c", "b")
	})
}

// The named candidate is dead, and nobody knows yet. MakeNext cannot know either: the
// others step back for it. Once its session has ended they lead, all of them.
func TestNextNamesOneThatHasDied(t *testing.T) {
	for _, resigns := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			q := newQueued(w, "a", "b", "c", "d")
			w.Server.Partition("d", true)
			call := q.makeNext("d")
			w.After(time.Second)
			require.True(t, conformance.Closed(call.done))
			require.NoError(t, call.err)
			require.Equal(t, []string{"a", "d"}, ids(t, q.operator)[:2])
			if resigns {
				require.NoError(t, q.term.Release())
				w.After(time.Second)
				require.True(t, q.waiting["b"].Waiting() && q.waiting["c"].Waiting(), "nobody leads beside it")
			}
			w.After(2 * conformance.SessionTimeout)
			require.NotContains(t, ids(t, q.operator), "d")
			order := ids(t, q.operator)
			if !resigns {
				order = order[1:]
			}
			require.ElementsMatch(t, []string{"b", "c"}, order)
			w.Server.Partition("d", false)
			w.After(time.Second)
			q.release(append(order, "d")...)
		})
	}
}
