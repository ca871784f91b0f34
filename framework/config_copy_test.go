package framework_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A careful program wipes a secret when it has handed it over. In later sessions, and
// on later connections, it must be presented all the same.
func TestConfigIsCopied(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		secrets := []framework.Credential{framework.DigestAuth("alice", secret)}
		servers := []string{s.Addr()}
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Servers, cfg.Auth = servers, secrets
			cfg.ACL = func(string) []framework.ACL { return framework.CreatorACL(framework.PermAll) }
		})
		clear(secrets[0].Secret)
		secrets[0].Scheme = "nonsense"
		servers[0] = "nowhere:1"
		made, err := c.Create(t.Context(), "/mine", nil, framework.Persistent)
		require.NoError(t, err)
		for _, lose := range []func(){
			func() { s.DropConnections("client") },
			func() { s.ExpireSession(c.Session().ID()) },
		} {
			lose()
			time.Sleep(2 * time.Second)
			_, err = c.Set(t.Context(), made.Path, []byte("still mine"), framework.AnyVersion)
			require.NoError(t, err)
		}
	})
}

func TestObserverGetsTheOutcome(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		var calls []framework.Request
		c := connect(t, s, func(cfg *framework.Config) {
			cfg.Observers = []framework.Observer{{RequestEnded: func(_ context.Context, call framework.Request) { calls = append(calls, call) }}}
		})
		for _, tc := range []struct {
			prepare func()
			call    func() error
			err     error
			outcome framework.Outcome
		}{
			{func() {}, func() error { _, _, err := c.Get(t.Context(), "/none"); return err }, framework.ErrNoNode, framework.Failed},
			{func() {}, func() error { return c.Delete(t.Context(), "/none", 1) }, framework.ErrNoNode, framework.Failed},
			{
				func() { s.On(zktest.OpSetData, "/").Fail(zktest.NoAuth) },
				func() error { _, err := c.Set(t.Context(), "/", nil, framework.AnyVersion); return err }, framework.ErrNoAuth, framework.Failed,
			},
			{
				func() { s.On(zktest.OpDelete, "/").Cut() },
				func() error { return c.Delete(t.Context(), "/none", 1) }, framework.ErrUnknownOutcome, framework.Unknown,
			},
		} {
			calls = nil
			tc.prepare()
			require.ErrorIs(t, tc.call(), tc.err)
			require.Len(t, calls, 1)
			require.ErrorIs(t, calls[0].Err, tc.err)
			assert.Equal(t, tc.outcome, framework.OutcomeOf(calls[0].Err), "%v", calls[0].Err)
		}
	})
}
