package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about the error of a wait that times out.
var timeouts = rows{
	"a wait without a server":           waitsWithoutServer,
	"credentials are refused later":     credentialsAreRefusedLater,
	"a wait until a deadline passes":    waitsUntilDeadline,
	"a wait that fails, and times out":  timesOutAfterAFailure,
	"the listing is too large":          listingTooLarge,
	"one timeout covers the whole wait": timeoutIsOneForAll,
	"a wait ends at any moment":         waitEndsAtAnyMoment,
}

// unreached asserts that the error of an attempt says that no server was reached, and
// names the server.
func unreached(t *testing.T, w *World, at *Attempt) {
	t.Helper()
	require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	require.ErrorIs(t, at.Err, framework.ErrNotConnected)
	require.ErrorContains(t, at.Err, w.Server.Addr())
	require.NotErrorIs(t, at.Err, context.DeadlineExceeded)
	require.NotErrorIs(t, at.Err, context.Canceled)
}

// waitsWithoutServer acquires while the connection is broken, and after the session has
// ended.
func waitsWithoutServer(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	a := r.New(c, path)
	inQueue := w.Start(a, 2*time.Second)
	w.Server.RefuseConnections("a", true)
	w.Server.DropConnections("a")
	w.Settle()
	for _, state := range []framework.State{framework.Suspended, framework.Lost} {
		require.Equal(t, state, c.State())
		for _, timeout := range []time.Duration{0, -time.Second} {
			now := w.Start(a, timeout)
			unreached(t, w, now)
			require.Zero(t, now.Took, "it does not wait for a connection")
		}
		later := w.Start(a, 1500*time.Millisecond)
		unreached(t, w, later)
		require.InDelta(t, 1500*time.Millisecond, later.Took, float64(100*time.Millisecond))
		w.After(SessionTimeout)
	}
	unreached(t, w, inQueue)
	var timeout *lease.TimeoutError
	require.ErrorAs(t, inQueue.Err, &timeout)
	require.Positive(t, timeout.Ahead, "and what it had seen before")
	w.Server.RefuseConnections("a", false)
	w.After(2 * time.Second)
	again := w.Start(a, 100*time.Millisecond)
	require.ErrorIs(t, again.Failed(), lease.ErrTimeout)
	require.NotErrorIs(t, again.Err, framework.ErrNotConnected)
	release(t, held...)
}

// A server that can be reached refuses the credentials, because they have changed.
func credentialsAreRefusedLater(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", func(cfg *framework.Config) {
		cfg.Auth = []framework.Credential{framework.DigestAuth("alice", "secret")}
	})
	a := r.New(c, path)
	refused := w.Server.On(zktest.OpAuth, "").Always().Fail(zktest.AuthFailed)
	w.Expire(c)
	w.Settle()
	w.After(100 * time.Millisecond)
	for range 40 {
		now := w.Start(a, 0)
		unreached(t, w, now)
		require.ErrorIs(t, now.Err, framework.ErrAuthFailed, "at any moment")
		w.After(77 * time.Millisecond)
	}
	later := w.Start(a, 5*time.Second)
	unreached(t, w, later)
	require.ErrorIs(t, later.Err, framework.ErrAuthFailed)
	require.NotContains(t, later.Err.Error(), "secret")
	refused.Remove()
	release(t, w.Start(a, time.Minute).Granted())
	require.NoError(t, c.Reachable())
	w.Server.RefuseConnections("a", true)
	w.Server.DropConnections("a")
	w.Settle()
	now := w.Start(a, 0)
	unreached(t, w, now)
	require.NotErrorIs(t, now.Err, framework.ErrAuthFailed, "an earlier refusal is not reported")
}

// The deadline of a context gives the same error as a timeout. The end of a context for
// another reason gives that reason.
func waitsUntilDeadline(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	between := w.Start(r.New(w.Client("b"), path), lease.Forever) // so the holder is not the node ahead
	a := r.New(w.Client("a"), path)
	reason := errors.New("shutting down")
	for _, timeout := range []time.Duration{lease.Forever, time.Hour} {
		for cause, expected := range map[error]error{nil: context.DeadlineExceeded, reason: reason} {
			ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(2*time.Second), cause)
			at := w.StartWith(ctx, a, timeout)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
			require.ErrorIs(t, at.Err, expected)
			require.InDelta(t, 2*time.Second, at.Took, float64(100*time.Millisecond))
			var timedOut *lease.TimeoutError
			require.ErrorAs(t, at.Err, &timedOut)
			require.Positive(t, timedOut.Ahead)
			require.NotEmpty(t, timedOut.Node)
			require.NotZero(t, timedOut.Holder)
			require.GreaterOrEqual(t, timedOut.Waited, 2*time.Second)
			require.Equal(t, expected, timedOut.Cause)
			require.NoError(t, timedOut.Err)
			late := w.StartWith(ctx, a, timeout)
			require.ErrorIs(t, late.Failed(), lease.ErrTimeout, "also if it had ended before")
			require.ErrorIs(t, late.Err, expected)
			cancel()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	at := w.StartWith(ctx, a, lease.Forever)
	at.Cancel(reason)
	require.ErrorIs(t, at.Failed(), reason)
	require.NotErrorIs(t, at.Err, lease.ErrTimeout)
	release(t, held...)
	release(t, between.Granted())
}

// timeoutIsOneForAll moves a waiter forward step by step, and then ends its session
// several times: neither restarts the timeout.
func timeoutIsOneForAll(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	var ahead [][]*Attempt
	for i := range 3 {
		ahead = append(ahead, startFilling(w, r, fmt.Sprint("ahead", i, ".")))
	}
	c := w.Client("a")
	at := w.Start(r.New(c, path), 2500*time.Millisecond)
	for _, next := range ahead {
		w.After(time.Second)
		release(t, held...)
		held = grantedAll(next)
	}
	require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	require.InDelta(t, 2500*time.Millisecond, at.Took, float64(60*time.Millisecond))

	at = w.Start(r.New(c, path), 5*time.Second)
	for range 3 {
		w.After(time.Second)
		w.Expire(c)
	}
	require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	require.InDelta(t, 5*time.Second, at.Took, float64(110*time.Millisecond))
	release(t, held...)
}

// waitEndsAtAnyMoment delays each request and answer, and ends waits after every
// possible time, for a free slot and for a taken one.
func waitEndsAtAnyMoment(t *testing.T, w *World, r Recipe) {
	reason := errors.New("enough")
	c := w.Client("a")
	a := r.New(c, path)
	release(t, w.Acquire(a))
	w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		if call.Client == "a" && (call.Phase == zktest.PhaseBeforeApply || call.Phase == zktest.PhaseAfterApply) {
			return zktest.Delay(5 * time.Millisecond)
		}
		return zktest.Pass
	})
	for _, free := range []bool{true, false} {
		var held []*lease.Lease
		if !free {
			held = fill(w, r)
		}
		w.After(time.Second)
		nodes, granted := w.Ephemerals("/"), 0
		for limit := time.Millisecond; limit < 100*time.Millisecond; limit += time.Millisecond {
			timed, cancelled := w.Start(a, limit), w.Start(a, lease.Forever)
			time.AfterFunc(limit, func() { cancelled.Cancel(reason) })
			w.After(limit + 110*time.Millisecond)
			for at, want := range map[*Attempt]error{timed: lease.ErrTimeout, cancelled: reason} {
				require.False(t, at.Waiting(), "limit %v", limit)
				if at.Err != nil {
					require.ErrorIs(t, at.Err, want)
					continue
				}
				granted++
				release(t, at.Lease)
			}
		}
		require.Equal(t, free, granted > 0)
		w.After(time.Second)
		require.Equal(t, nodes, w.Ephemerals("/"))
		release(t, held...)
	}
}
