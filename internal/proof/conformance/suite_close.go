package conformance

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows in which a client is closed.
var closings = rows{
	"the client of a holder is closed":              holderCloses,
	"the client of a waiter is closed":              waiterCloses,
	"all leases end before the session of a client": leasesEndBeforeSession,
	"a closing client waits for releases":           closeAwaitsReleases,
	"a closing client does not wait for ever":       closeDoesNotWaitForEver,
	"the session ends while a client closes":        sessionEndsInClose,
	"the close of a connection blocks":              closeOfAConnectionBlocks,
}

func holderCloses(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("b"), path), lease.Forever)
	require.True(t, at.Waiting())
	require.NoError(t, w.clients[0].Close())
	require.ErrorIs(t, held[0].Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held[0].Context()), framework.ErrClosed)
	release(t, at.Granted())
	require.Less(t, at.Took, time.Second, "its slots become free at once")
	require.ErrorIs(t, held[0].Release(), lease.ErrLost)
	release(t, held[1:]...)
}

// waiterCloses closes a client while one Acquire waits in the queue and another has
// just begun, in every state of the client.
func waiterCloses(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	for _, strike := range []func(){
		func() {},
		func() {
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
		},
		func() { w.Server.On(zktest.OpCreate, path).Client("a").Optional().Always().Fail(zktest.ThrottledOp) },
	} {
		c := w.Client("a")
		leavesNothing(t, w, func() {
			early := w.Start(r.New(c, path), lease.Forever)
			strike()
			late := w.Start(r.New(c, path), lease.Forever)
			w.After(time.Second)
			require.LessOrEqual(t, <-closing(w, c), 1100*time.Millisecond)
			require.ErrorIs(t, early.Failed(), framework.ErrClosed)
			require.ErrorIs(t, late.Failed(), framework.ErrClosed)
			require.ErrorIs(t, w.Start(r.New(c, path), time.Hour).Failed(), framework.ErrClosed)
			w.Heal()
		})
	}
	release(t, held...)
}

// leasesEndBeforeSession closes a client with many leases, so that ending them takes
// some time. None may be valid when the server receives the close request.
func leasesEndBeforeSession(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	held := make([]*lease.Lease, 40)
	for i := range held {
		held[i] = w.Acquire(r.New(c, fmt.Sprintf("%s%d", path, i)))
	}
	var valid, requests atomic.Int32
	w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		if call.Op == zktest.OpClose && call.Phase == zktest.PhaseBeforeApply {
			requests.Add(1)
			for _, l := range held {
				if l.Context().Err() == nil {
					valid.Add(1)
				}
			}
		}
		return zktest.Pass
	})
	require.NoError(t, c.Close())
	require.EqualValues(t, 1, requests.Load())
	require.Zero(t, valid.Load(), "leases whose contexts have not ended")
	for _, l := range held {
		require.ErrorIs(t, l.Err(), framework.ErrClosed)
		require.ErrorIs(t, l.Release(), lease.ErrLost)
	}
}

// closeGrace is longer than the time that work has to stop when a lease is lost, and
// shorter than a session timeout.
const closeGrace = SessionTimeout / 2

// holderWithGrace returns a client with a CloseGrace that holds all slots of the
// recipe.
func holderWithGrace(w *World, r Recipe) (c *framework.Client, held []*lease.Lease) {
	c = w.Client("closing", func(cfg *framework.Config) { cfg.CloseGrace = closeGrace })
	for range max(r.Slots, 1) {
		held = append(held, w.Acquire(r.blocker()(c, path)))
	}
	return c, held
}

// closing closes a client in the background and returns how long that takes.
func closing(w *World, c *framework.Client) <-chan time.Duration {
	began, took := time.Now(), make(chan time.Duration, 1)
	go func() {
		_ = c.Close()
		took <- time.Since(began)
	}()
	w.Settle()
	return took
}

func closeAwaitsReleases(t *testing.T, w *World, r Recipe) {
	c, held := holderWithGrace(w, r)
	next := w.Start(r.New(w.Client("b"), path), lease.Forever)
	mine := w.Start(r.New(c, path), lease.Forever)
	took := closing(w, c)
	for _, l := range held {
		require.ErrorIs(t, context.Cause(l.Context()), framework.ErrClosed)
		require.ErrorIs(t, l.Err(), lease.ErrLost)
	}
	require.False(t, mine.Waiting(), "a waiter does not go on")
	require.ErrorIs(t, mine.Failed(), framework.ErrClosed)
	late := w.Start(r.New(c, path), time.Minute)
	require.False(t, late.Waiting())
	require.ErrorIs(t, late.Failed(), framework.ErrClosed)
	again := w.StartWith(context.WithoutCancel(held[0].Context()), r.New(c, path), 0)
	require.ErrorIs(t, again.Failed(), framework.ErrClosed, "it cannot be re-entered")

	stopping := closeGrace * 2 / 3 // more than a sixth of the timeout
	w.After(stopping)
	require.True(t, next.Waiting(), "the work goes on")
	for _, l := range held {
		require.ErrorIs(t, l.Release(), framework.ErrClosed)
	}
	require.InDelta(t, stopping, <-took, float64(50*time.Millisecond), "no longer than until all are released")
	release(t, next.Granted())
}

func closeDoesNotWaitForEver(t *testing.T, w *World, r Recipe) {
	c, held := holderWithGrace(w, r)
	next := w.Start(r.New(w.Client("b"), path), lease.Forever)
	took := closing(w, c)
	w.After(closeGrace - 10*time.Millisecond)
	require.True(t, next.Waiting())
	require.Empty(t, took)
	release(t, next.Granted())
	require.InDelta(t, closeGrace, <-took, float64(50*time.Millisecond))
	for _, l := range held {
		require.ErrorIs(t, l.Release(), framework.ErrClosed)
	}
}

func sessionEndsInClose(t *testing.T, w *World, r Recipe) {
	c, held := holderWithGrace(w, r)
	took := closing(w, c)
	w.After(time.Second)
	w.Expire(c)
	require.Less(t, <-took, 2*time.Second, "there is nothing left to wait for")
	require.ErrorIs(t, held[0].Release(), framework.ErrClosed)
}

// stuckConn is a connection whose Close takes as long as its test.
type stuckConn struct {
	net.Conn
	test <-chan struct{}
}

func (c *stuckConn) Close() error {
	<-c.test
	return c.Conn.Close()
}

// closeOfAConnectionBlocks dials connections whose Close blocks, as that of an SSH
// channel does while the connection below it is stuck.
func closeOfAConnectionBlocks(t *testing.T, w *World, r Recipe) {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	stuck := func(cfg *framework.Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			return &stuckConn{conn, over}, err
		}
	}
	c := w.Client("a", stuck)
	a := r.blocker()
	var held []*lease.Lease
	for range max(r.Slots, 1) {
		held = append(held, w.Acquire(a(c, path)))
	}
	next := w.Start(r.New(w.Client("b"), path), lease.Forever)
	w.After(SessionTimeout)
	before := c.Session()
	w.Server.Partition("a", true)
	got := next.Granted()
	for _, l := range held {
		require.ErrorIs(t, context.Cause(l.Context()), framework.ErrTrustExpired, "it ended before the next grant")
	}
	release(t, got)

	w.Server.Partition("a", false)
	release(t, w.Acquire(a(c, path)))
	require.NotEqual(t, before.ID(), c.Session().ID(), "the client goes on in the next session")
	require.LessOrEqual(t, <-closing(w, c), 7*time.Second)
}
