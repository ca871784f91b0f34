package framework_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var (
	ourCredential = framework.DigestAuth("us", "hunter2")
	open          = framework.WorldACL(framework.PermAll)
	readable      = framework.WorldACL(framework.PermRead)
)

// with presents credentials, and says nothing of ACLs.
func with(credentials ...framework.Credential) setting {
	return func(cfg *framework.Config) { cfg.Auth = credentials }
}

func aclOf(t *testing.T, c *framework.Client, path string) []framework.ACL {
	t.Helper()
	acl, _, err := c.GetACL(t.Context(), path)
	require.NoError(t, err)
	return acl
}

func TestOwnedBelow(t *testing.T) {
	t.Parallel()
	owned := append(framework.CreatorACL(framework.PermAll), readable...)
	for _, test := range []struct {
		paths       []string
		owned, open []string
	}{
		{[]string{"/app/locks/a"}, []string{"/app/locks/a", "/app/locks/a/node"}, []string{"/", "/app", "/app/locks", "/app/locks/ab", "/app/locks/ab/node", "/locks/a"}},
		{[]string{"/a", "/b/c"}, []string{"/a", "/a/x/y", "/b/c/d"}, []string{"/b", "/c"}},
		{[]string{"/"}, []string{"/a", "/a/b"}, nil},
	} {
		acl := framework.OwnedBelow(test.paths...)
		for _, path := range test.owned {
			require.Equal(t, owned, acl(path), path)
		}
		for _, path := range test.open {
			require.Equal(t, open, acl(path), path)
		}
	}
	for _, bad := range [][]string{nil, {"locks/a"}, {"/locks/a/"}, {"/good", ""}} {
		require.Empty(t, framework.OwnedBelow(bad...)("/locks/a/x"), "%q must not make anything open", bad)
	}
	paths := []string{"/a"}
	acl := framework.OwnedBelow(paths...)
	paths[0] = "/b"
	require.Equal(t, owned, acl("/a"))
}

func TestOwnedBelowAPathThatIsNotValidMakesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, with(ourCredential), func(cfg *framework.Config) { cfg.ACL = framework.OwnedBelow("locks") })
		_, err := c.Create(t.Context(), "/locks", nil, framework.Persistent)
		require.ErrorIs(t, err, framework.ErrInvalidACL)
	})
}

// The paths that OwnedBelow is given and gets are those on the server.
func TestOwnedBelowCountsChrootAndNamespace(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		c := connect(t, s, with(ourCredential), func(cfg *framework.Config) {
			cfg.Chroot, cfg.Namespace, cfg.ACL = "/app", "eu", framework.OwnedBelow("/app/eu/locks/a")
		})
		require.NoError(t, c.CreateParents(t.Context(), "/locks/a/x"))
		plain := connectAs(t, s, "plain", with(ourCredential))
		require.Equal(t, open, aclOf(t, plain, "/app/eu"))
		require.Equal(t, open, aclOf(t, plain, "/app/eu/locks"))
		require.Equal(t, append(framework.DigestACL(framework.PermAll, "us", "hunter2"), readable...), aclOf(t, plain, "/app/eu/locks/a"))
	})
}

// Owners of nodes, with credentials and without, where Config.ACL is set and where not.
func TestOwnersOfNodes(t *testing.T) {
	t.Parallel()
	ours := append(framework.DigestACL(framework.PermAll, "us", "hunter2"), readable...)
	both := append(framework.DigestACL(framework.PermAll, "us", "hunter2"), framework.DigestACL(framework.PermAll, "them", "hunter3")...)
	mine := func(cfg *framework.Config) {
		cfg.ACL = func(string) []framework.ACL { return framework.CreatorACL(framework.PermAll) }
	}
	for name, test := range map[string]struct {
		settings   []setting
		contenders []framework.ACL
		others     []framework.ACL
	}{
		"no credentials":      {nil, open, open},
		"a credential":        {[]setting{with(ourCredential)}, ours, open},
		"two credentials":     {[]setting{with(ourCredential, framework.DigestAuth("them", "hunter3"))}, append(both, readable...), open},
		"an ACL":              {[]setting{with(ourCredential), mine}, ours[:1], ours[:1]},
		"one without a right": {[]setting{with(ourCredential, framework.Credential{Scheme: "ip", Secret: []byte("x")})}, ours, open},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				c := connect(t, s, test.settings...)
				made := func(path string, err error) string { require.NoError(t, err); return path }
				plain, err := c.Create(t.Context(), "/plain", nil, framework.Persistent)
				require.Equal(t, test.others, aclOf(t, c, made(plain.Path, err)))
				ephemeral, err := c.Create(t.Context(), "/plain/ephemeral", nil, framework.EphemeralSequential)
				require.Equal(t, test.others, aclOf(t, c, made(ephemeral.Path, err)))
				stays, err := c.CreateProtected(t.Context(), "/plain/x-", nil, framework.PersistentSequential)
				require.Equal(t, test.others, aclOf(t, c, made(stays.Path, err)))
				require.NoError(t, c.CreateParents(t.Context(), "/container/x"))
				require.Equal(t, test.others, aclOf(t, c, "/container"))
				for _, mode := range []framework.Mode{framework.Ephemeral, framework.EphemeralSequential} {
					one, err := c.CreateProtected(t.Context(), "/plain/x-", nil, mode)
					require.Equal(t, test.contenders, aclOf(t, c, made(one.Path, err)))
				}
				all, err := kit.Of(c).CreateProtectedAll(t.Context(), "/plain/x-", nil, 2, nil)
				for _, one := range all {
					require.Equal(t, test.contenders, aclOf(t, c, made(one.Path, err)))
				}
				explicit, err := c.CreateProtected(t.Context(), "/plain/x-", nil, framework.Ephemeral, framework.WithACL(readable))
				require.Equal(t, readable, aclOf(t, c, made(explicit.Path, err)))
			})
		})
	}
}

// An ACL that names the creator needs a session that has proved an identity.
func TestNodeThatNoIdentityCanOwn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		address := framework.Credential{Scheme: "ip", Secret: []byte("hunter2")}
		for name, c := range map[string]*framework.Client{
			"an address only": connectAs(t, s, "address", with(address)),
			"no credentials":  connectAs(t, s, "none", func(cfg *framework.Config) { cfg.ACL = framework.OwnedBelow("/") }),
		} {
			_, err := c.CreateProtected(t.Context(), "/x-", nil, framework.EphemeralSequential)
			require.ErrorIs(t, err, framework.ErrInvalidACL, name)
			require.ErrorContains(t, err, "the session has proved no identity that an acl can name")
			require.NotContains(t, err.Error(), "hunter2")
			require.Equal(t, framework.Failed, framework.OutcomeOf(err))
			_, err = kit.Of(c).CreateProtectedAll(t.Context(), "/x-", nil, 2, nil)
			require.ErrorIs(t, err, framework.ErrInvalidACL, name)
			require.ErrorContains(t, err, "the session has proved no identity that an acl can name")
		}
		_, err := connectAs(t, s, "wrong").Create(t.Context(), "/x", nil, framework.Persistent,
			framework.WithACL([]framework.ACL{{Perms: framework.PermAll, Scheme: "ip", ID: "nowhere"}}))
		require.ErrorIs(t, err, framework.ErrInvalidACL)
		require.NotContains(t, err.Error(), "creator", "that is not what was wrong")
	})
}

// What belongs to credentials goes on doing so when the connection or the session is
// another.
func TestWhatCredentialsOwnAfterABreak(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *zktest.Server) {
		owned := func(cfg *framework.Config) { cfg.ACL = framework.OwnedBelow("/locks") }
		c := connect(t, s, with(ourCredential), owned)
		require.NoError(t, c.CreateParents(t.Context(), "/locks/x"))
		for range 3 {
			made, err := c.CreateProtected(t.Context(), "/locks/x-", nil, framework.EphemeralSequential)
			require.NoError(t, err)
			other := connectAs(t, s, "other")
			require.ErrorIs(t, other.Delete(t.Context(), made.Path, framework.AnyVersion), framework.ErrNoAuth)
			s.DropConnections("client")
			time.Sleep(time.Second)
			require.NoError(t, c.DeleteGuaranteed(t.Context(), made.Path))
		}
		s.ExpireSession(c.Session().ID())
		time.Sleep(time.Second)
		_, err := c.CreateProtected(t.Context(), "/locks/x-", nil, framework.EphemeralSequential)
		require.NoError(t, err)
	})
}
