//go:build unix

package main

import (
	"encoding/json"
	"path"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// force runs "revoke --force" for the path of the tests.
func force(t *testing.T, server *zktest.Server, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return invoke(t, []string{envServers + "=" + server.Addr()}, append([]string{"revoke", testLock, "--force"}, args...)...)
}

// acquired acquires something at the path of the tests.
func acquired(t *testing.T, from lease.Acquirer) *lease.Lease {
	t.Helper()
	held, err := from.Acquire(t.Context(), eventTimeout)
	require.NoError(t, err)
	t.Cleanup(func() { _ = held.Release() })
	return held
}

// lostTo waits for the end of a lease whose node was deleted.
func lostTo(t *testing.T, held *lease.Lease) {
	t.Helper()
	select {
	case <-held.Done():
	case <-time.After(eventTimeout):
		require.Fail(t, "the lease does not end")
	}
	require.ErrorIs(t, held.Err(), lease.ErrDeleted)
}

func made[T any](t *testing.T, value T, err error) T {
	t.Helper()
	require.NoError(t, err)
	return value
}

// forced are all recipes: one holder at a time of each keeps the next one out.
var forced = map[string]func(t *testing.T, c *framework.Client) lease.Acquirer{
	"mutex": func(t *testing.T, c *framework.Client) lease.Acquirer {
		m, err := mutex.New(c, testLock)
		return made(t, m, err)
	},
	"writer": func(t *testing.T, c *framework.Client) lease.Acquirer {
		l, err := rwlock.New(c, testLock)
		return made(t, l, err).Write()
	},
	"permit": func(t *testing.T, c *framework.Client) lease.Acquirer {
		s, err := semaphore.New(c, testLock, 1)
		return made(t, s, err)
	},
	"permit in a single queue": func(t *testing.T, c *framework.Client) lease.Acquirer {
		s, err := semaphore.New(c, testLock, 1, semaphore.WithSingleQueue())
		return made(t, s, err)
	},
	"leadership": func(t *testing.T, c *framework.Client) lease.Acquirer {
		e, err := leader.New(c, testLock)
		return made(t, e, err)
	},
	"stripe": func(t *testing.T, c *framework.Client) lease.Acquirer {
		l, err := striped.New(c, testLock, 4)
		return made(t, l, err).Stripe(2)
	},
	"run": func(t *testing.T, c *framework.Client) lease.Acquirer {
		j, err := once.New(c, testLock)
		return made(t, j, err).Key("k")
	},
}

// The holder notices, and the next one is granted it: by the token, and by the node.
func TestForceTakesAway(t *testing.T) {
	for name, acquirer := range forced {
		for _, by := range []string{"token", "node"} {
			t.Run(name+" by "+by, func(t *testing.T) {
				t.Parallel()
				server := zktest.NewServer(t)
				first := acquired(t, acquirer(t, connectClient(t, server)))
				waiter, next := acquirer(t, connectClient(t, server)), make(chan *lease.Lease, 1)
				go func() {
					held, _ := waiter.Acquire(t.Context(), eventTimeout)
					next <- held
				}()
				until(t, "the next is in the queue", func() bool { return len(listed(t, server, testLock).Queue) == 2 })
				id := map[string]string{"token": first.Token().String(), "node": path.Base(first.Path())}[by]
				code, stdout, stderr := force(t, server, "--node", id, "--json")
				require.Equal(t, 0, code, stderr)
				var done revocation
				require.NoError(t, json.Unmarshal([]byte(stdout), &done))
				require.Empty(t, done.Requested)
				require.Len(t, done.Taken, 1)
				require.Equal(t, path.Base(first.Path()), done.Taken[0].Node)
				require.Equal(t, first.Token(), done.Taken[0].Token)
				lostTo(t, first)
				second := <-next
				require.NotNil(t, second)
				require.NoError(t, second.Err())
				require.Greater(t, second.Token(), first.Token())
				require.NoError(t, second.Release())
				require.NotContains(t, server.Dump(), guardName, "nothing stays")
			})
		}
	}
}

// One of several readers is named; the others are not touched.
func TestForceTakesOneOfSeveral(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	lock, err := rwlock.New(client, testLock)
	require.NoError(t, err)
	var readers []*lease.Lease
	for range 3 {
		readers = append(readers, acquired(t, lock.Read()))
	}
	code, stdout, _ := force(t, server, "--node", readers[1].Token().String())
	require.Equal(t, 0, code)
	require.Regexp(t, `^taken away: _c_[-0-9a-f]+-__READ__0000000001 \(reader, held\): .*\n$`, stdout)
	lostTo(t, readers[1])
	for _, other := range []*lease.Lease{readers[0], readers[2]} {
		require.NoError(t, other.Confirm(t.Context()))
	}
}

// The token must be the one that the holder has now.
func TestForceWithAnotherToken(t *testing.T) {
	server := zktest.NewServer(t)
	m, err := mutex.New(connectClient(t, server), testLock)
	require.NoError(t, err)
	old := acquired(t, m)
	require.NoError(t, old.Release())
	held := acquired(t, m)
	server.ResetCounts()
	for _, node := range []string{old.Token().String(), path.Base(old.Path()), "0", "1", "x", held.Token().String() + "0"} {
		code, stdout, stderr := force(t, server, "--node", node, "--json")
		require.Equal(t, exitNoContender, code, node)
		require.JSONEq(t, `{"lock": "`+testLock+`", "asked": [], "successor": null, "taken": []}`, stdout)
		require.Contains(t, stderr, "nothing was taken away: no client there has the node or token")
	}
	require.Zero(t, server.Count(zktest.OpDelete)+server.Count(zktest.OpMulti)+server.Count(zktest.OpCreate))
	require.NoError(t, held.Confirm(t.Context()))
}

// The permits of one lease have one token: each is named by its node.
func TestForceWithTheTokenOfSeveralNodes(t *testing.T) {
	server := zktest.NewServer(t)
	s, err := semaphore.New(connectClient(t, server), testLock, 3)
	require.NoError(t, err)
	held := acquired(t, s.Weight(2))
	code, _, stderr := force(t, server, "--node", held.Token().String())
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "2: that many nodes have the token "+held.Token().String())
	require.Contains(t, stderr, path.Base(held.Path()))
	require.NoError(t, held.Confirm(t.Context()))
	code, _, _ = force(t, server, "--node", path.Base(held.Path()))
	require.Equal(t, 0, code)
	lostTo(t, held)
}

// A waiter is removed from the queue, and joins it again; the holder is not touched.
func TestForceOfAWaiter(t *testing.T) {
	server := zktest.NewServer(t)
	m, err := mutex.New(connectClient(t, server), testLock)
	require.NoError(t, err)
	held := acquired(t, m)
	waiter := start(t, server, flagsFor(command("polite"), "--lock", testLock)...)
	until(t, "it is in the queue", func() bool { return len(server.Children(testLock)) == 2 })
	node := listed(t, server, testLock).Queue[1].Node
	code, stdout, _ := force(t, server, "--node", node)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "removed from the queue: "+node+" (mutex, waiting)")
	until(t, "it has joined again", func() bool {
		queue := listed(t, server, testLock).Queue
		return len(queue) == 2 && queue[1].Node != node
	})
	require.NoError(t, held.Confirm(t.Context()))
	require.NoError(t, held.Release())
	require.Equal(t, "ready", waiter.line())
	endPolitely(t, waiter)
}

// The command of a job that has lost its lock this way is stopped, and the lock stays
// closed for a lock-delay.
func TestForceStopsACommand(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server, "--lock-delay", "700ms")
	code, stdout, _ := force(t, server, "--node", listed(t, server, testLock).Queue[0].Token.String())
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "\nthe next client can have it after the lock-delay of 700ms\n")
	require.Contains(t, p.event("lost").Reason, lease.ErrDeleted.Error())
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, exitLost, p.end())
	next := hold(t, server, "--lock-delay", "700ms")
	require.GreaterOrEqual(t, next.event("acquired").Waited, 0.7)
	endPolitely(t, next)
}

func TestForceNeedsPermission(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv(envAuth, "digest:me:hunter2")
	p := hold(t, server)
	token := listed(t, server, testLock).Queue[0].Token.String()
	code, _, stderr := force(t, server, "--node", token)
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "only with the credentials of those who use it")
	p.signal(syscall.SIGUSR1)
	require.Equal(t, "got user defined signal 1", p.line(), "nothing has happened to it")
	code, _, stderr = invoke(t, []string{envServers + "=" + server.Addr(), envAuth + "=digest:me:hunter2"}, "revoke", "--force", "--node", token, testLock)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, exitLost, p.end())
}

// Without a terminal the holder has to be named, and on the command line: an
// environment or a file stays when the lock has another holder.
func TestForceIsOnlyOnTheCommandLine(t *testing.T) {
	server := zktest.NewServer(t)
	m, err := mutex.New(connectClient(t, server), testLock)
	require.NoError(t, err)
	held := acquired(t, m)
	env := []string{envServers + "=" + server.Addr(), "ZKRECIPES_FORCE=true", "ZKRECIPES_NODE=" + path.Base(held.Path())}
	code, _, stderr := invoke(t, env, "revoke", testLock, "--force")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--force without a terminal: name the holder with --node TOKEN")
	_, stdout, _ := invoke(t, env, "revoke", testLock)
	require.NotContains(t, stdout, "taken away")
	code, _, _ = invoke(t, env, "revoke", testLock, "--force=false", "--node", path.Base(held.Path()))
	require.Equal(t, 0, code)
	for _, args := range [][]string{{"--all"}, {"--successor", "x"}, {"--node", "x", "--all"}} {
		code, _, stderr := force(t, server, args...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "contradict")
	}
	require.NoError(t, held.Confirm(t.Context()))
}
