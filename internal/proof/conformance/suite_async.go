package conformance

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var asyncReleases = rows{
	"an async release is not answered":      asyncNotAnswered,
	"an acquire behind an async release":    acquiresBehindAsync,
	"too many requests at an async release": asyncAmongMany,
	"an async release fails":                asyncFails,
	"an async release during an outage":     asyncWhileSuspended,
	"a client closes behind async releases": closesBehindAsync,
}

// asyncNotAnswered releases while the delete is not answered. Who waits in another
// client is admitted when it is carried out.
func asyncNotAnswered(t *testing.T, w *World, r Recipe) {
	for name, strike := range unanswered {
		held := fill(w, r)
		at := w.Start(r.New(w.Named("b"), path), lease.Forever)
		w.Settle()
		strike(w.Server.On(zktest.AnyOp, held[0].Path()).Client("holder0"))
		before := time.Now()
		require.NoError(t, held[0].ReleaseAsync())
		if r.removal() == zktest.OpDelete || r.Block != nil && !r.Recorded {
			require.Zero(t, time.Since(before), name)
		}
		require.LessOrEqual(t, time.Since(before), SessionTimeout/3+50*time.Millisecond)
		require.ErrorIs(t, held[0].Err(), lease.ErrReleased)
		require.Error(t, held[0].Context().Err())
		require.ErrorIs(t, held[0].ReleaseAsync(), lease.ErrReleased)
		require.ErrorIs(t, held[0].Release(), lease.ErrReleased)
		w.After(SessionTimeout)
		require.False(t, at.Waiting(), name)
		release(t, append(held[1:], at.Granted())...)
		w.Settle()
		require.Empty(t, w.Ephemerals("/"), name)
	}
}

// acquiresBehindAsync acquires again and again, and waits for no answer in between.
func acquiresBehindAsync(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	release(t, w.Acquire(a))
	w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		if call.Phase == zktest.PhaseAfterApply {
			return zktest.Delay(time.Millisecond) // so that the answer comes when more was sent
		}
		return zktest.Pass
	})
	first := w.Requests(func() { release(t, w.Acquire(a)) })
	const n = 5
	many := w.Requests(func() {
		var token lease.Token
		for range n {
			held := w.Acquire(a)
			require.Greater(t, held.Token(), token)
			require.Len(t, w.Ephemerals("/"), r.count(), "the delete was carried out first")
			token = held.Token()
			require.NoError(t, held.ReleaseAsync())
		}
	})
	require.Equal(t, n*Total(first), Total(many), "%v", many)
	require.Empty(t, w.Ephemerals("/"))
}

// asyncAmongMany releases where no request may be sent until another is answered.
func asyncAmongMany(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", func(cfg *framework.Config) { cfg.MaxOutstanding = 1 })
	held := w.Acquire(r.New(c, path))
	w.Server.On(zktest.OpGetData, "/").Client("a").Delay(time.Second)
	read := make(chan error, 1)
	go func() {
		_, _, err := c.Get(t.Context(), "/")
		read <- err
	}()
	w.Settle()
	before := time.Now()
	require.NoError(t, held.ReleaseAsync())
	require.Equal(t, time.Second, time.Since(before))
	require.False(t, w.stands(held), "it has waited for the answer")
	require.NoError(t, <-read)
}

// asyncFails releases leases whose znodes another client has deleted, or keeps. Only
// the log says so.
func asyncFails(t *testing.T, w *World, r Recipe) {
	if r.removal() != zktest.OpDelete {
		return // it waits for the answer
	}
	var log bytes.Buffer
	c := w.Client("a", func(cfg *framework.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	a := r.New(c, path)
	for code, text := range map[zktest.Code]string{
		zktest.NoNode: lease.ErrDeleted.Error(), zktest.NoAuth: framework.ErrNoAuth.Error(),
	} {
		held := w.Acquire(a)
		w.Server.On(zktest.OpDelete, held.Path()).Fail(code)
		log.Reset()
		require.NoError(t, held.ReleaseAsync())
		w.Settle()
		require.Contains(t, log.String(), "level=WARN")
		require.Contains(t, log.String(), held.Path())
		require.Contains(t, log.String(), text)
		w.Remove(w.Named("operator"), held.Path())
		w.Settle()
	}
	log.Reset()
	held := w.Acquire(a)
	w.Server.On(zktest.OpDelete, held.Path()).Fail(zktest.SessionMoved)
	require.NoError(t, held.ReleaseAsync())
	w.After(SessionTimeout)
	require.False(t, w.stands(held), "it was repeated")
	require.Empty(t, log.String())
}

// asyncWhileSuspended releases while there is no connection.
func asyncWhileSuspended(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	suspended := c.Session().Suspended()
	w.Server.RefuseConnections("a", true)
	w.Server.DropConnections("a")
	<-suspended
	before := time.Now()
	require.NoError(t, held.ReleaseAsync())
	require.Zero(t, time.Since(before))
	require.True(t, w.stands(held))
	w.Server.RefuseConnections("a", false)
	w.After(time.Second)
	require.Empty(t, w.Ephemerals("/"))
}

// closesBehindAsync closes clients that have just released.
func closesBehindAsync(t *testing.T, w *World, r Recipe) {
	for range 3 {
		c := w.Client("a")
		held := w.Acquire(r.New(c, path))
		w.Server.On(zktest.AnyOp, held.Path()).Client("a").Delay(100 * time.Millisecond)
		require.NoError(t, held.ReleaseAsync())
		require.NoError(t, c.Close())
		require.ErrorIs(t, held.Err(), lease.ErrReleased)
		require.Empty(t, w.Ephemerals("/"))
	}
}
