package framework_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// sendDelete sends the delete of a node, and returns what the answer will be.
func (r *releaser) sendDelete(t *testing.T, name string, over bool) <-chan error {
	t.Helper()
	answer := make(chan error, 2)
	require.True(t, r.SendDelete(t.Context(), "/queue/"+name, over, func(err error) { answer <- err }))
	return answer
}

// The delete is on its way when SendDelete returns, with or without listeners. The
// answer comes later.
func TestSendDelete(t *testing.T) {
	releasing(t, "a b", func(t *testing.T, r *releaser) {
		began := time.Now()
		r.server.On(zktest.OpDelete, "").Delay(time.Second)
		plain := r.sendDelete(t, "a", false)
		require.Empty(t, r.heard())
		over := r.sendDelete(t, "b", true)
		require.Equal(t, "over b", r.heard())
		require.Zero(t, time.Since(began))
		require.Empty(t, plain)
		require.Empty(t, over)
		require.NoError(t, <-plain)
		require.NoError(t, <-over)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, "deleted a, deleted b", r.heard())
		require.Empty(t, r.nodes())
	})
}

// What is refused is not repeated. What has no answer, or may be tried again, goes on
// in the background.
func TestSendDeleteThatFails(t *testing.T) {
	for name, tc := range map[string]struct {
		strike func(rule *zktest.Rule)
		err    error
		stays  bool
	}{
		"no node":    {func(rule *zktest.Rule) { rule.Fail(zktest.NoNode) }, framework.ErrNoNode, true},
		"refused":    {func(rule *zktest.Rule) { rule.Fail(zktest.NoAuth) }, framework.ErrNoAuth, true},
		"throttled":  {func(rule *zktest.Rule) { rule.Fail(zktest.ThrottledOp) }, framework.ErrThrottled, false},
		"lost":       {func(rule *zktest.Rule) { rule.Before().Cut() }, framework.ErrUnknownOutcome, false},
		"answered":   {func(rule *zktest.Rule) { rule.After().Cut() }, framework.ErrUnknownOutcome, false},
		"not at all": {func(rule *zktest.Rule) { rule.Before().Mute() }, framework.ErrUnknownOutcome, false},
	} {
		for _, over := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				releasing(t, "a", func(t *testing.T, r *releaser) {
					tc.strike(r.server.On(zktest.OpDelete, ""))
					answer := r.sendDelete(t, "a", over)
					require.ErrorIs(t, <-answer, tc.err)
					time.Sleep(9 * time.Second)
					require.Equal(t, tc.stays, len(r.nodes()) == 1)
					require.Empty(t, answer)
					require.NoError(t, r.session.Err())
				})
			})
		}
	}
}

// What cannot be sent now is not sent, and leaves nothing.
func TestSendDeleteDoesNotWait(t *testing.T) {
	releasing(t, "a b", func(t *testing.T, r *releaser) {
		never := func(error) { panic("answered") }
		for _, want := range []error{nil, framework.ErrNoNode, framework.ErrNoNode} {
			r.server.On(zktest.OpDelete, "").Delay(time.Second)
			answer := r.sendDelete(t, "b", false)
			require.False(t, r.SendDelete(t.Context(), "/queue/a", true, never), "one is under way")
			require.ErrorIs(t, <-answer, want)
		}
		require.Equal(t, "deleted b, deleted b, deleted b", r.heard(), "each slot is given back")
		r.server.RefuseConnections("", true)
		r.server.DropConnections("")
		<-r.session.Suspended()
		require.False(t, r.SendDelete(t.Context(), "/queue/a", true, never), "there is no connection")
		r.server.RefuseConnections("", false)
		require.NoError(t, r.Sync(t.Context(), "/"))
		require.False(t, r.SendDelete(t.Context(), "/queue/"+strings.Repeat("x", 2000), false, never), "it is too large")
		require.Len(t, r.nodes(), 1)
		require.NoError(t, <-r.sendDelete(t, "a", true))
		require.Equal(t, "over later a, deleted a", r.heard())
	}, func(cfg *framework.Config) { cfg.MaxOutstanding, cfg.MaxRequestBytes = 1, 2000 })
}

// When the session is over there is nothing more to do.
func TestSendDeleteAcrossTheEndOfTheSession(t *testing.T) {
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Fail(zktest.SessionExpired)
		require.ErrorIs(t, <-r.sendDelete(t, "a", true), framework.ErrSessionExpired)
		require.False(t, r.SendDelete(t.Context(), "/queue/a", true, func(error) { panic("answered") }))
		synctest.Wait()
		require.Equal(t, "over a", r.heard())
	})
}

// Observers get the request with the context that it was sent with.
func TestSendDeleteIsObserved(t *testing.T) {
	type key struct{}
	observer := framework.Observer{RequestEnded: func(ctx context.Context, r framework.Request) {
		if ended, ok := ctx.Value(key{}).(chan framework.Request); ok {
			ended <- r
		}
	}}
	releasing(t, "a", func(t *testing.T, r *releaser) {
		r.server.On(zktest.OpDelete, "").Delay(time.Second)
		ended, answer := make(chan framework.Request, 2), make(chan error, 1)
		ctx := context.WithValue(t.Context(), key{}, ended)
		require.True(t, r.SendDelete(ctx, "/queue/a", true, func(err error) { answer <- err }))
		require.NoError(t, <-answer)
		require.Equal(t, framework.Request{Op: "delete", Path: r.FullPath("/queue/a"), Session: r.session.ID(), Attempt: 1, Duration: time.Second}, <-ended)
		synctest.Wait()
		require.Empty(t, ended)
	}, func(cfg *framework.Config) { cfg.Observers = []framework.Observer{observer} })
}
