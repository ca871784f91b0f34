//go:build unix

package main

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

var (
	us       = framework.DigestAuth("me", "hunter2")
	ourACL   = framework.DigestACL(framework.PermAll, "me", "hunter2")
	lookOnly = framework.WorldACL(framework.PermRead)
)

// makeNode creates a node with an ACL, and its missing parents.
func makeNode(t *testing.T, c *framework.Client, path string, acl ...framework.ACL) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path))
	_, err := c.Create(t.Context(), path, nil, framework.Persistent, framework.WithACL(acl))
	require.NoError(t, err)
}

// The ACL of the parent says which clients may delete a node: another client that has
// created the path could take the lock away from a holder with credentials.
func TestOpenPathIsRefused(t *testing.T) {
	for _, args := range []string{"run --lock", "run --shared --lock", "run --try --lock", "run --permits 2 --lock", "elect --path"} {
		t.Run(args, func(t *testing.T) {
			server := zktest.NewServer(t)
			other := connectClient(t, server)
			require.NoError(t, other.CreateParents(t.Context(), "/app"+testLock+"/x"))
			env := []string{envServers + "=" + server.Addr() + "/app", envAuth + "=digest:me:hunter2"}
			args := slices.Concat(strings.Fields(args), []string{testLock}, command("exit", "5"))
			code, _, stderr := invoke(t, env, args...)
			require.Equal(t, exitNoPerm, code, stderr)
			require.Contains(t, stderr, "zkrecipes: the command was not started: /app"+testLock+" is not protected by the credentials")
			require.Contains(t, stderr, "world:anyone:cdrwa")
			require.Contains(t, stderr, "zkCli.sh -server "+server.Addr()+": addauth digest USER:PASSWORD, "+
				"then: setAcl /app"+testLock+" auth::cdrwa,world:anyone:r\n")
			require.NotContains(t, stderr, "hunter2")
			require.Empty(t, server.Children("/app"+testLock))

			// Do what the message says, as zkCli.sh would.
			mender := connectClient(t, server, us)
			_, err := mender.SetACL(t.Context(), "/app"+testLock, append(framework.CreatorACL(framework.PermAll), lookOnly...), framework.AnyVersion)
			require.NoError(t, err)
			code, _, stderr = invoke(t, env, args...)
			require.Equal(t, 5, code, stderr)
			code, _, _ = invoke(t, env[:1], args...)
			require.Equal(t, exitNoPerm, code, "without credentials it is closed now")
		})
	}
}

// What the help promises about clients without credentials.
func TestClientsWithoutCredentialsCanOnlyList(t *testing.T) {
	server := zktest.NewServer(t)
	other := connectClient(t, server)
	t.Setenv(envAuth, "digest:me:hunter2")
	p := hold(t, server)
	node := testLock + "/" + server.Children(testLock)[0]
	require.ErrorIs(t, other.Delete(t.Context(), node, framework.AnyVersion), framework.ErrNoAuth)
	_, err := other.Create(t.Context(), testLock+"/lock-", nil, framework.EphemeralSequential)
	require.ErrorIs(t, err, framework.ErrNoAuth)
	_, err = other.SetACL(t.Context(), testLock, framework.WorldACL(framework.PermAll), framework.AnyVersion)
	require.ErrorIs(t, err, framework.ErrNoAuth)
	_, err = other.Set(t.Context(), node, []byte("__REVOKE__"), framework.AnyVersion)
	require.ErrorIs(t, err, framework.ErrNoAuth)
	require.ErrorIs(t, other.Delete(t.Context(), testLock, framework.AnyVersion), framework.ErrNotEmpty)
	require.Len(t, listed(t, server, testLock).Queue, 1)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
	// When no client is there, one that may delete above can create it anew; the next
	// run notices.
	require.NoError(t, other.Delete(t.Context(), testLock, framework.AnyVersion))
	makeNode(t, other, testLock, framework.WorldACL(framework.PermAll)...)
	p = start(t, server, flagsFor(command("exit", "5"), "--lock", testLock)...)
	require.Equal(t, exitNoPerm, p.end())
	require.Equal(t, causeDenied, p.event("failed").Cause)
}

// virtualWith prepares a "run" with credentials.
func virtualWith(t *testing.T, w *conformance.World, flags ...string) (*job, *runFlags) {
	t.Helper()
	j, f := virtual(t, w, "a", flags...)
	j.cfg.Auth, j.cfg.ACL = []framework.Credential{us}, framework.OwnedBelow(testLock)
	return j, f
}

func requireDenied(t *testing.T, err error, says string) {
	t.Helper()
	cause, code := classify(err, exitConflict)
	require.Equal(t, causeDenied, cause, "%v", err)
	require.Equal(t, exitNoPerm, code)
	require.ErrorContains(t, err, says)
}

// Which entries of an ACL make a path open.
func TestACLsThatAreTooOpen(t *testing.T) {
	world, all := framework.WorldACL, int32(framework.PermAll)
	with := func(acl ...framework.ACL) []framework.ACL { return append(slices.Clone(ourACL), acl...) }
	for _, test := range []struct {
		name  string
		flags string
		node  string // besides the path, which is then closed
		acl   []framework.ACL
		open  string // "" if it is closed
	}{
		{"ours alone", "", "", ourACL, ""},
		{"others list", "", "", with(lookOnly...), ""},
		{"others write", "", "", with(world(framework.PermRead | framework.PermWrite)...), ""},
		{"others create", "", "", with(world(framework.PermCreate)...), "the ACL of " + testLock + " has world:anyone:c"},
		{"others delete", "", "", with(world(framework.PermDelete)...), "the ACL of " + testLock + " has world:anyone:d"},
		{"others set the ACL", "", "", with(world(framework.PermAdmin)...), "the ACL of " + testLock + " has world:anyone:a"},
		{"others do all", "", "", world(all), "the ACL of " + testLock + " has world:anyone:cdrwa"},
		{"an address", "", "", with(framework.ACL{Perms: all, Scheme: "ip", ID: "10.0.0.0/8"}), "the ACL of " + testLock + " has ip:10.0.0.0/8:cdrwa"},
		{"an identity that is named", "", "", with(framework.DigestACL(all, "you", "secret")...), ""},
		{"others change the number of permits", "--permits 2", "", with(world(framework.PermRead | framework.PermWrite)...), "the ACL of " + testLock + " has world:anyone:rw"},
		{"others join the queue", "--permits 2", "/locks", with(world(framework.PermCreate)...), "the ACL of " + testLock + "/locks has world:anyone:c"},
		{"others delete permits", "--permits 2", "/leases", with(world(framework.PermDelete)...), "the ACL of " + testLock + "/leases has world:anyone:d"},
		{"others change the number of stripes", "--stripes 2", "", with(world(framework.PermRead | framework.PermWrite)...), "the ACL of " + testLock + " has world:anyone:rw"},
		{"others join the queue of a stripe", "--stripes 2", "/stripe-0001", with(world(framework.PermCreate)...), "the ACL of " + testLock + "/stripe-0001 has world:anyone:c"},
		{"others join the queue of the key", "--stripes 2 --key d", "/stripe-0001", with(world(framework.PermCreate)...), "the ACL of " + testLock + "/stripe-0001 has world:anyone:c"},
		{"others join the queue of another key", "--stripes 2 --key a", "/stripe-0001", with(world(framework.PermCreate)...), ""},
		{"others join the queue of the run", "--once /locks/test --key d", "/d.key", with(world(framework.PermCreate)...), "the ACL of " + testLock + "/d.key has world:anyone:c"},
		{"others join the queue of another run", "--once /locks/test --key d", "/a.key", with(world(framework.PermCreate)...), ""},
		{"others make records", "--once /locks/test --key d", "/done", with(world(framework.PermCreate)...), "the ACL of " + testLock + "/done has world:anyone:c"},
		{"others say that records were removed", "--once /locks/test --key d", "/done", with(world(framework.PermRead | framework.PermWrite)...), "the ACL of " + testLock + "/done has world:anyone:rw"},
		{"others delete runs", "--once /locks/test --key d", "", with(world(framework.PermDelete)...), "the ACL of " + testLock + " has world:anyone:d"},
		{"others only read the queue", "--permits 2", "/locks", with(lookOnly...), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				ours := w.Client("ours", func(cfg *framework.Config) { cfg.Auth = []framework.Credential{us} })
				if test.node != "" {
					makeNode(t, ours, testLock, append(slices.Clone(ourACL), lookOnly...)...)
				}
				makeNode(t, ours, testLock+test.node, test.acl...)
				j, f := virtualWith(t, w, strings.Fields(test.flags)...)
				_, err := awaited(t, j, f)
				if test.open == "" {
					require.NoError(t, err)
					return
				}
				requireDenied(t, err, "node, as "+test.open+"; to close it")
			})
		})
	}
}

// Another client creates the path after the check, and before we do.
func TestOpenPathIsRefusedAfterTheWait(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		other := w.Client("other")
		j, f := virtualWith(t, w)
		client, err := connect(t.Context(), j.cfg, time.Second)
		require.NoError(t, err)
		j.client = client
		defer j.disconnect()
		j.recipe, err = f.newRecipe(client)
		require.NoError(t, err)
		acquire := j.recipe.acquire
		j.recipe.acquire = func(ctx context.Context, timeout time.Duration) (heldLease, error) {
			makeNode(t, other, testLock, framework.WorldACL(framework.PermAll)...)
			return acquire(ctx, timeout)
		}
		requireDenied(t, j.acquire(t.Context(), f.begin()), "the ACL of "+testLock+" has world:anyone:cdrwa")
		w.Settle()
		require.Empty(t, w.Ephemerals("/"), "the lock is released")
	})
}

// The check of an ACL, first or second, is answered in the end, or limited, or its
// failure is reported.
func TestCheckOfAnACLThatFails(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags string
		fault func(*zktest.Rule)
		stays bool // also on other connections
		check func(t *testing.T, err error, took time.Duration)
	}{
		{"once", "--timeout 5s", func(r *zktest.Rule) { r.Cut() }, false, func(t *testing.T, err error, _ time.Duration) { require.NoError(t, err) }},
		{"for want of permission", "", func(r *zktest.Rule) { r.Fail(zktest.NoAuth) }, false, func(t *testing.T, err error, _ time.Duration) {
			requireDenied(t, err, "not permitted")
		}},
		{"for want of an answer", "--timeout 1s", func(r *zktest.Rule) { r.Mute() }, true, func(t *testing.T, err error, took time.Duration) {
			requireUnreachable(t, err)
			require.LessOrEqual(t, took, 5*time.Second)
		}},
		{"for want of an answer, without waiting", "--try", func(r *zktest.Rule) { r.Mute() }, true, func(t *testing.T, err error, took time.Duration) {
			requireUnreachable(t, err)
			require.LessOrEqual(t, took, 3*time.Second)
		}},
	} {
		for listQueue := 1; listQueue <= 2; listQueue++ {
			t.Run(test.name, func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					rule := w.Server.On(zktest.OpGetACL, testLock).Nth(listQueue)
					test.fault(rule)
					if test.stays {
						w.Server.On(zktest.OpConnect, "").Nth(2).Always().Do(zktest.Mute)
					}
					j, f := virtualWith(t, w, strings.Fields(test.flags)...)
					took, err := awaited(t, j, f)
					<-rule.Fired()
					test.check(t, err, took)
				})
			})
		}
	}
}

// A lock that is lost during the second check is lost.
func TestLockLostDuringTheCheckOfItsACL(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Server.On(zktest.OpGetACL, testLock).Nth(2).Expire()
		j, f := virtualWith(t, w)
		_, err := awaited(t, j, f)
		require.ErrorIs(t, err, lease.ErrLost)
		cause, code := classify(err, exitConflict)
		require.Equal(t, causeLost, cause)
		require.Equal(t, exitLost, code)
	})
}

// Without credentials there is nothing to protect.
func TestWithoutCredentialsNoACLIsRead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, f := virtual(t, w, "a")
		_, err := awaited(t, j, f)
		require.NoError(t, err)
		require.Zero(t, w.Server.Count(zktest.OpGetACL))
	})
}

// A lock that was acquired in the last moment counts.
func TestFinalCheckHasTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, forever, waitLimit{}.withFinalCheck().left())
		late := waitLimit{start: time.Now().Add(-time.Minute), duration: time.Second}
		require.Equal(t, time.Millisecond, late.left())
		require.Equal(t, finalCheckTime, late.withFinalCheck().left())
		early := waitLimit{start: time.Now(), duration: time.Hour}
		require.Equal(t, early, early.withFinalCheck())
	})
}

// An election is checked again for every term.
func TestElectionThatIsOpenedBetweenTwoTerms(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv(envAuth, "digest:me:hunter2")
	p := candidate(t, server, "polite")
	leads(t, p)
	ours := connectClient(t, server, us)
	_, err := ours.SetACL(t.Context(), testLock, framework.WorldACL(framework.PermAll), framework.AnyVersion)
	require.NoError(t, err)
	code, _ := revoke(t, server, testLock)
	require.Equal(t, exitNoPerm, code, "whose node is not open")
	t.Setenv(envAuth, "")
	code, _, _ = invoke(t, []string{envServers + "=" + server.Addr(), envAuth + "=digest:me:hunter2"}, "revoke", testLock)
	require.Equal(t, 0, code)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, exitNoPerm, p.end())
	require.Contains(t, p.event("failed").Reason, "setAcl "+testLock)
}

func TestTextForAnotherScheme(t *testing.T) {
	e := &openPathError{paths: pathList{"/l"}, nodes: []string{"/l", "/l/leases"}, to: []framework.ACL{{Perms: 4, Scheme: "ip", ID: "10.0.0.1"}, {Perms: 9, Scheme: "world", ID: "anyone"}}, servers: "a,b", scheme: "other"}
	require.EqualError(t, e, "/l is not protected by the credentials: clients without them can take part or delete the holder's node, "+
		"as the ACL of /l has ip:10.0.0.1:c, the ACL of /l/leases has world:anyone:dr; to close it, in zkCli.sh -server a,b: addauth other SECRET, "+
		"then: setAcl /l auth::cdrwa,world:anyone:r, then: setAcl /l/leases auth::cdrwa,world:anyone:r")
}

// zkCli.sh splits what is typed, and users type there what is printed here.
func TestPathsForZkCli(t *testing.T) {
	for path, want := range map[string]string{
		"/l": "/l", "/my locks/l": `"/my locks/l"`, `/the "l" lock`: `'/the "l" lock'`, `/it's`: `/it's`, "/it's it": `"/it's it"`,
	} {
		e := &openPathError{paths: pathList{path}, nodes: []string{path}, to: framework.WorldACL(framework.PermAll), servers: "a", scheme: "digest"}
		require.ErrorContains(t, e, "then: setAcl "+want+" auth::cdrwa,world:anyone:r")
	}
}
