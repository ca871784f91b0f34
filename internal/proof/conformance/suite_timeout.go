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

// unreached asserts that an attempt has told that it reached no server, and which.
func unreached(t *testing.T, w *World, at *Attempt) {
	t.Helper()
	require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
	require.ErrorIs(t, at.Err, framework.ErrNotConnected)
	require.ErrorContains(t, at.Err, w.Server.Addr())
	require.NotErrorIs(t, at.Err, context.DeadlineExceeded)
	require.NotErrorIs(t, at.Err, context.Canceled)
}

// From the moment at which the connection breaks until there is another session.
func waitsWithoutServer(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	c := w.Client("a")
	a := r.New(c, path)
	inLine := w.Start(a, 2*time.Second)
	w.Server.RefuseConnections("a", true)
	w.Server.DropConnections("a")
	w.Settle()
	for _, state := range []framework.State{framework.Suspended, framework.Lost} {
		require.Equal(t, state, c.State())
		now := w.Start(a, 0)
		unreached(t, w, now)
		require.Zero(t, now.Took, "it does not wait for a connection")
		later := w.Start(a, 1500*time.Millisecond)
		unreached(t, w, later)
		require.InDelta(t, 1500*time.Millisecond, later.Took, float64(100*time.Millisecond))
		w.After(SessionTimeout)
	}
	unreached(t, w, inLine)
	var timeout *lease.TimeoutError
	require.ErrorAs(t, inLine.Err, &timeout)
	require.Positive(t, timeout.Ahead, "and what it knew before")
	w.Server.RefuseConnections("a", false)
	w.After(2 * time.Second)
	again := w.Start(a, 100*time.Millisecond)
	require.ErrorIs(t, again.Failed(), lease.ErrTimeout)
	require.NotErrorIs(t, again.Err, framework.ErrNotConnected)
	release(t, held...)
}

// A server that can be reached refuses the credentials, because those were changed.
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
	require.NotErrorIs(t, now.Err, framework.ErrAuthFailed, "what was is forgotten")
}

// The deadline of a context tells as much as a timeout does, and the end of a context for
// another reason is just that.
func waitsUntilDeadline(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	between := w.Start(r.New(w.Client("b"), path), lease.Forever) // who holds is not the one waited for
	a := r.New(w.Client("a"), path)
	reason := errors.New("the shop closes")
	for _, timeout := range []time.Duration{lease.Forever, time.Hour} {
		for cause, expected := range map[error]error{nil: context.DeadlineExceeded, reason: reason} {
			ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(2*time.Second), cause)
			at := w.StartWith(ctx, a, timeout)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
			require.ErrorIs(t, at.Err, expected)
			require.InDelta(t, 2*time.Second, at.Took, float64(100*time.Millisecond))
			var told *lease.TimeoutError
			require.ErrorAs(t, at.Err, &told)
			require.Positive(t, told.Ahead)
			require.NotEmpty(t, told.Node)
			require.NotZero(t, told.Holder)
			require.GreaterOrEqual(t, told.Waited, 2*time.Second)
			require.Equal(t, expected, told.Cause)
			require.NoError(t, told.Err)
			late := w.StartWith(ctx, a, timeout)
			require.ErrorIs(t, late.Failed(), lease.ErrTimeout, "also if it was over before")
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
