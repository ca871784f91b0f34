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

func holderCloses(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("b"), path), lease.Forever)
	require.True(t, at.Waiting())
	require.NoError(t, w.clients[0].Close())
	require.ErrorIs(t, held[0].Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held[0].Context()), framework.ErrClosed)
	release(t, at.Granted())
	require.Less(t, at.Took, time.Second, "its places are given away at once")
	require.ErrorIs(t, held[0].Release(), lease.ErrLost)
	release(t, held[1:]...)
}

func waiterCloses(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	leavesNothing(t, w, func() {
		at := w.Start(r.New(c, path), lease.Forever)
		require.NoError(t, c.Close())
		require.ErrorIs(t, at.Failed(), framework.ErrClosed)
	})
	release(t, held...)
}

func serverGone(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.Server.RefuseConnections("", true)
	w.Server.Restart(true)
	w.After(time.Second)
	short := w.Start(r.New(w.clients[0], path), time.Second)
	require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
	require.InDelta(t, time.Second, short.Took, float64(100*time.Millisecond))
	w.Server.RefuseConnections("", false)
	w.After(time.Second)
	require.True(t, at.Waiting())
	for _, l := range held {
		require.NoError(t, l.Err(), "a short outage costs nobody anything")
	}
	release(t, held...)
	release(t, at.Granted())
}

func releasedOnce(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	held := w.Acquire(a)
	require.NoError(t, held.Err())
	require.NoError(t, held.Confirm(t.Context()))
	require.NoError(t, held.Release())
	require.ErrorIs(t, held.Release(), lease.ErrReleased)
	require.ErrorIs(t, held.Err(), lease.ErrReleased)
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrReleased)
	require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrReleased)
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
}

func contextEnds(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	at := w.Start(a, time.Minute)
	held := at.Granted()
	reason := errors.New("work is called off")
	at.Cancel(reason)
	w.Settle()
	require.ErrorIs(t, context.Cause(held.Context()), reason)
	w.After(SessionTimeout)
	require.NoError(t, held.Err(), "the end of the context does not release")
	require.NotEmpty(t, w.Ephemerals(held.Path()))
	release(t, held)

	ended, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	_, err := a.Acquire(ended, time.Minute)
	require.ErrorIs(t, err, reason)
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
}

func reEntry(t *testing.T, w *World, r Recipe) {
	if r.NotReentrant {
		return
	}
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	inner, err := r.New(c, path).Acquire(held.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, held.Token(), inner.Token())
	require.Len(t, w.Ephemerals("/"), 1)
	require.NoError(t, held.Release())
	require.NoError(t, inner.Err(), "the place lasts until its last lease is released")
	require.NotEmpty(t, w.Ephemerals("/"))
	if stranger := r.excluded(c); stranger != nil {
		_, err = stranger.Acquire(lease.WithoutOwner(context.WithoutCancel(inner.Context())), 0)
		require.ErrorIs(t, err, lease.ErrTimeout, "a stranger is not let in")
	}
	w.Expire(c)
	w.After(time.Second)
	_, err = r.New(c, path).Acquire(context.WithoutCancel(inner.Context()), time.Minute)
	require.ErrorIs(t, err, lease.ErrLost, "what is lost is not entered")
	require.ErrorIs(t, inner.Release(), lease.ErrLost)
}

// excluded returns what a stranger cannot acquire while one lease is held, nil if
// there is nothing.
func (r Recipe) excluded(c *framework.Client) lease.Acquirer {
	switch {
	case r.Block != nil:
		return r.Block(c, path)
	case r.Places == 1:
		return r.New(c, path)
	}
	return nil
}

func tokensGrow(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	var tokens []lease.Token
	for range 3 {
		held := w.Acquire(a)
		tokens = append(tokens, held.Token())
		release(t, held)
		require.NoError(t, c.DeleteTree(t.Context(), path))
	}
	require.IsIncreasing(t, tokens)
}

func unknownOutcome(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	release(t, w.Acquire(a))
	for _, rule := range []*zktest.Rule{
		w.Server.On(zktest.OpCreate, path).After(), w.Server.On(zktest.OpCreate, path).Before(),
	} {
		rule.Cut()
		held := w.Acquire(a)
		require.Len(t, w.Ephemerals("/"), max(r.Nodes, 1))
		require.Equal(t, held.Path(), w.Ephemerals("/")[0])
		release(t, held)
	}
	gives := zktest.OpDelete
	if r.Nodes > 1 {
		gives = zktest.OpMulti // all of them at once
	}
	held := w.Acquire(a)
	w.Server.On(gives, path).After().Cut()
	release(t, held)
	w.After(SessionTimeout)
	require.Empty(t, w.Ephemerals("/"))
}
