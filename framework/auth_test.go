package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func authenticated(cfg *framework.Config) {
	cfg.Auth = []framework.Credential{framework.DigestAuth("user", "password")}
	cfg.ACL = func(string) []framework.ACL { return framework.CreatorACL(framework.PermAll) }
}

// Credentials come first in every session and on every connection.
func TestCredentialsArePresentedWheneverTheyMustBe(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, authenticated)
		mine := func() {
			t.Helper()
			_, _, err := c.Get(t.Context(), "/mine")
			require.NoError(t, err)
		}
		_, err := c.Create(t.Context(), "/mine", []byte("x"), framework.Persistent)
		require.NoError(t, err)
		_, _, err = connectAs(t, s, "other").Get(t.Context(), "/mine")
		require.ErrorIs(t, err, framework.ErrNoAuth)
		mine()
		for range 3 {
			s.DropConnections("client")
			mine()
			time.Sleep(time.Second)
		}
		s.ExpireSession(c.Session().ID())
		mine()
		require.NotEqual(t, 1, s.CountOf("client", zktest.OpAuth))
		// Read off the trace: no other request comes before it on any connection.
		fresh := false
		for _, e := range s.Trace() {
			switch {
			case e.Client != "client" || e.Op == zktest.OpPing:
			case e.Op == zktest.OpConnect:
				fresh = true
			case e.Op == zktest.OpAuth:
				fresh = false
			case e.Op == zktest.OpClose:
			default:
				assert.False(t, fresh, "%v before authentication", e)
			}
		}
	})
}

func TestCredentialsThatAreRefusedAtTheFirstConnect(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		begun := time.Now()
		_, err := framework.Connect(t.Context(), config(s, "client", func(cfg *framework.Config) {
			cfg.Auth = []framework.Credential{framework.DigestAuth("u", "p"), {Scheme: "kerberos", Secret: []byte("x")}}
		}))
		require.ErrorIs(t, err, framework.ErrAuthFailed)
		assert.Contains(t, err.Error(), "credential 2")
		assert.Contains(t, err.Error(), "kerberos")
		assert.Less(t, time.Since(begun), time.Second+100*time.Millisecond)
		time.Sleep(time.Second)
		assert.Empty(t, s.Sessions(), "nothing is left of the attempts")
	})
}

// The servers' configuration may be wrong for a while.
func TestCredentialsThatAreRefusedLaterAreTriedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, authenticated)
		refuse := s.On(zktest.OpAuth, "").Always().Fail(zktest.AuthFailed)
		s.ExpireSession(c.Session().ID())
		time.Sleep(time.Minute)
		assert.NotEqual(t, connected, c.State())
		assert.Less(t, s.Count(zktest.OpAuth), 120, "not too often")
		refuse.Remove()
		time.Sleep(3 * time.Second)
		assert.Equal(t, connected, c.State())
	})
}

func TestACLs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c, other := connect(t, s, authenticated), connectAs(t, s, "other")
		_, err := c.Create(t.Context(), "/n", nil, framework.Persistent, framework.WithACL(framework.WorldACL(framework.PermRead)))
		require.NoError(t, err)
		_, _, err = other.Get(t.Context(), "/n")
		require.NoError(t, err)
		_, err = other.Set(t.Context(), "/n", nil, -1)
		require.ErrorIs(t, err, framework.ErrNoAuth)
		acl, stat, err := other.GetACL(t.Context(), "/n")
		require.NoError(t, err)
		assert.Equal(t, framework.WorldACL(framework.PermRead), acl)
		assert.Zero(t, stat.Aversion)

		digest := framework.DigestACL(framework.PermAll, "user", "password")
		_, err = c.Create(t.Context(), "/d", nil, framework.Persistent, framework.WithACL(digest))
		require.NoError(t, err)
		_, _, err = c.Get(t.Context(), "/d")
		require.NoError(t, err, "the hash is the one the server makes")
		stat, err = c.SetACL(t.Context(), "/d", framework.WorldACL(framework.PermAll), 0)
		require.NoError(t, err)
		assert.EqualValues(t, 1, stat.Aversion)
		_, err = c.SetACL(t.Context(), "/d", digest, 0)
		require.ErrorIs(t, err, framework.ErrBadVersion)

		for name, bad := range map[string][]framework.ACL{
			"empty": {}, "scheme": {{Perms: 1, Scheme: "wrold"}}, "permissions": {{Perms: 64, Scheme: "world", ID: "anyone"}},
			"none": {{Perms: 0, Scheme: "world", ID: "anyone"}}, "digest": {{Perms: 1, Scheme: "digest", ID: "user"}},
		} {
			s.ResetCounts()
			_, err = c.SetACL(t.Context(), "/d", bad, -1)
			require.ErrorIs(t, err, framework.ErrInvalidACL, name)
			_, err = c.Create(t.Context(), "/x", nil, framework.Persistent, framework.WithACL(bad))
			require.ErrorIs(t, err, framework.ErrInvalidACL, name)
			assert.Empty(t, requests(s))
		}
	})
}
