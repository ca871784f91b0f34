//go:build unix

package main

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// resize runs "resize" for the path of the tests.
func resize(t *testing.T, server *zktest.Server, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return invoke(t, []string{envServers + "=" + server.Addr()}, append([]string{"resize", testLock}, args...)...)
}

// beforeFirst calls do when the first request of a kind at a path has arrived, and has
// done nothing yet.
func beforeFirst(server *zktest.Server, op zktest.Op, path string, do func()) {
	var begun atomic.Bool
	server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Op == op && c.Phase == zktest.PhaseBeforeApply && strings.HasPrefix(c.Path, path) && begun.CompareAndSwap(false, true) {
			do()
		}
		return zktest.Pass
	})
}

// store has the path of the tests be a persistent node with some data.
func store(t *testing.T, client *framework.Client, data []byte) {
	t.Helper()
	makeNode(t, client, testLock, framework.WorldACL(framework.PermAll)...)
	_, err := client.Set(t.Context(), testLock, data, framework.AnyVersion)
	require.NoError(t, err)
}

func TestResizeOfPermits(t *testing.T) {
	server := zktest.NewServer(t)
	first := hold(t, server, "--permits", "stored:1")
	second := start(t, server, flagsFor(command("polite"), "--lock", testLock, "--permits", "stored:1")...)
	second.event("waiting")
	code, stdout, _ := resize(t, server, "2")
	require.Equal(t, 0, code)
	require.Equal(t, testLock+": 2 permits, 1 before\n", stdout)
	require.Equal(t, "ready", second.line(), "it need not wait for the first")
	code, stdout, _ = resize(t, server, "--json", "1")
	require.Equal(t, 0, code)
	require.JSONEq(t, `{"lock": "`+testLock+`", "kind": "semaphore", "before": 2, "after": 1}`, stdout)
	third := start(t, server, flagsFor(command("polite"), "--lock", testLock, "--permits", "stored:9")...)
	require.Equal(t, 2, third.event("waiting").Ahead, "nobody has been stopped")
	server.ResetCounts()
	code, stdout, _ = resize(t, server, "1")
	require.Equal(t, 0, code)
	require.Equal(t, testLock+": 1 permits already, nothing was changed\n", stdout)
	require.Zero(t, server.Count(zktest.OpSetData))
	endPolitely(t, first)
	require.Empty(t, third.lines, "one permit is held, of one")
	endPolitely(t, second)
	require.Equal(t, "ready", third.line())
	endPolitely(t, third)
}

// What is no number of permits or stripes is not overwritten.
func TestResizeIsRefused(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	refused := func(want string, args ...string) {
		t.Helper()
		code, stdout, stderr := resize(t, server, args...)
		require.Equal(t, exitUsage, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, want)
	}
	refused("there is no such node: the first run with --permits N or --stripes N creates it", "2")
	_, ok := server.Node("/locks")
	require.False(t, ok, "nothing is created")
	store(t, client, nil)
	refused("it stores no number of permits or stripes", "2")
	for _, text := range []string{"0010", "settings", "12 stripe", "0 stripes"} {
		_, err := client.Set(t.Context(), testLock, []byte(text), framework.AnyVersion)
		require.NoError(t, err)
		refused(`it stores "`+text+`", which is no number of permits or stripes`, "2")
	}
	for _, name := range []string{"x-lock-0000000001", "latch-0000000001"} {
		_, err := client.Set(t.Context(), testLock, znode.Size(3), framework.AnyVersion)
		require.NoError(t, err)
		made, err := client.Create(t.Context(), testLock+"/"+name, nil, framework.Ephemeral)
		require.NoError(t, err)
		refused("it is the path of a lock or an election, which has no number: "+name, "2")
		require.NoError(t, client.Delete(t.Context(), made.Path, framework.AnyVersion))
	}
	refused("825307441 permits: stored, that would be the text \"1111\"", "825307441")
	_, err := client.Set(t.Context(), testLock, znode.Stripes(3), framework.AnyVersion)
	require.NoError(t, err)
	refused("there are at most 1024 stripes", "1025")
	node, _ := server.Node(testLock)
	require.Equal(t, znode.Stripes(3), node.Data)
	for _, test := range [][]string{{}, {"0"}, {"--", "-1"}, {"x"}, {"3000000000"}, {"2", "3"}, {"2", "--timeout", "0s"}} {
		refused("", test...)
	}
}

// Whatever happens to the write, the number is the new one in the end, and the one
// before is reported.
func TestResizeOfUnknownOutcome(t *testing.T) {
	for name, strike := range map[string]func(*zktest.Rule){
		"cut before":     func(r *zktest.Rule) { r.Before().Cut() },
		"cut after":      func(r *zktest.Rule) { r.After().Cut() },
		"expired before": func(r *zktest.Rule) { r.Before().Expire() },
		"expired after":  func(r *zktest.Rule) { r.After().Expire() },
	} {
		server := zktest.NewServer(t)
		store(t, connectClient(t, server), znode.Size(3))
		strike(server.On(zktest.OpSetData, testLock))
		code, stdout, stderr := resize(t, server, "5")
		require.Equal(t, 0, code, "%s: %s", name, stderr)
		require.Equal(t, testLock+": 5 permits, 3 before\n", stdout, name)
		node, _ := server.Node(testLock)
		require.Equal(t, znode.Size(5), node.Data, name)
	}
}

// It gives up before the client, which would connect again and ask what has happened.
func TestResizeWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	store(t, connectClient(t, server), znode.Size(3))
	server.On(zktest.OpSetData, testLock).After().DropReply()
	code, stdout, stderr := resize(t, server, "5", "--timeout", "5s")
	require.Equal(t, exitUnavailable, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "it is not known whether the number has changed, try again")
}

// The number that is replaced is the one that is there when it is written, and a node
// that is gone by then is not made again.
func TestResizeBesideOthers(t *testing.T) {
	for name, other := range map[string]struct {
		does func(c *framework.Client) error
		code int
		says string
	}{
		"another number": {func(c *framework.Client) error {
			_, err := c.Set(t.Context(), testLock, znode.Size(7), framework.AnyVersion)
			return err
		}, 0, "5 permits, 7 before"},
		"other data": {func(c *framework.Client) error {
			_, err := c.Set(t.Context(), testLock, []byte("mine"), framework.AnyVersion)
			return err
		}, exitUsage, `it stores "mine"`},
		"removed": {func(c *framework.Client) error {
			return c.Delete(t.Context(), testLock, framework.AnyVersion)
		}, exitUsage, "its node has been removed"},
	} {
		server := zktest.NewServer(t)
		client := connectClient(t, server)
		store(t, client, znode.Size(3))
		result := make(chan error, 1)
		beforeFirst(server, zktest.OpSetData, testLock, func() { result <- other.does(client) })
		code, stdout, stderr := resize(t, server, "5")
		require.NoError(t, <-result, name)
		require.Equal(t, other.code, code, name)
		require.Contains(t, stdout+stderr, other.says, name)
		node, ok := server.Node(testLock)
		require.Equal(t, name != "removed", ok, name)
		require.Equal(t, code == 0, string(node.Data) == string(znode.Size(5)), name)
	}
}

func TestResizeNeedsPermission(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	args := append([]string{"run", "--lock", testLock, "--permits", "2"}, command("exit", "5")...)
	code, _, _ := invoke(t, append(env, envAuth+"=digest:me:hunter2"), args...)
	require.Equal(t, 5, code)
	code, _, stderr := resize(t, server, "3")
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "only with the credentials of its users")
	code, _, stderr = invoke(t, append(env, envAuth+"=digest:me:hunter2"), "resize", testLock, "3")
	require.Equal(t, 0, code, stderr)
}

// The number of stripes changes when nobody holds one.
func TestResizeOfStripes(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	holder := hold(t, server, "--stripes", "3", "--label", "nightly")
	code, stdout, stderr := resize(t, server, "4", "--timeout", "10s")
	require.Equal(t, exitConflict, code, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "held by nightly")
	until(t, "it has left nothing behind", func() bool {
		return len(server.Sessions()) == 1 && len(listed(t, server, testLock).Queue) == 1
	})
	require.Equal(t, 3, listed(t, server, testLock).Stripes.Size)
	code, stdout, _ = resize(t, server, "3")
	require.Equal(t, 0, code, "there is nothing to wait for")
	require.Equal(t, testLock+": 3 stripes already, nothing was changed\n", stdout)

	p := start(t, server, "resize", testLock, "4", "--json", "--timeout", "2m")
	until(t, "it waits", func() bool { return len(listed(t, server, testLock).Queue) > 1 })
	endPolitely(t, holder)
	require.Equal(t, 0, p.end())
	require.Equal(t, 4, listed(t, server, testLock).Stripes.Size)
	code, _, stderr = resize(t, server, "4")
	require.Equal(t, 0, code, stderr)
	late := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--stripes", "3")...)
	require.Equal(t, exitUsage, late.end())
	endPolitely(t, hold(t, server, "--stripes", "4"))
}

// Another client changes the number of stripes after it was read.
func TestResizeOfStripesBesideAnother(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	store(t, client, znode.Stripes(3))
	result := make(chan error, 1)
	beforeFirst(server, zktest.OpCreate, testLock+"/stripe-", func() {
		_, err := client.Set(t.Context(), testLock, znode.Stripes(2), framework.AnyVersion)
		result <- err
	})
	code, stdout, stderr := resize(t, server, "4")
	require.NoError(t, <-result)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, testLock+": 4 stripes, 2 before\n", stdout)
}

// A signal that ends the wait for stripes leaves no node behind, which would keep them
// closed until the session's timeout.
func TestResizeOfStripesIsInterrupted(t *testing.T) {
	server := zktest.NewServer(t)
	holder := hold(t, server, "--stripes", "3")
	p := start(t, server, "resize", testLock, "4", "--timeout", "2m", "--session-timeout", "40s")
	until(t, "it waits", func() bool { return len(listed(t, server, testLock).Queue) > 1 })
	p.signal(os.Interrupt)
	require.Equal(t, exitSignal+2, p.end())
	require.Len(t, listed(t, server, testLock).Queue, 1)
	require.Equal(t, 3, listed(t, server, testLock).Stripes.Size)
	endPolitely(t, holder)
}

// An empty path, as of a variable of the shell that is not set, is not the chroot.
func TestResizeOfAnEmptyPath(t *testing.T) {
	server := zktest.NewServer(t)
	store(t, connectClient(t, server), znode.Size(3))
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr() + testLock}, "resize", "", "5")
	require.Equal(t, exitUsage, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "resize: a path is empty")
	node, _ := server.Node(testLock)
	require.Equal(t, znode.Size(3), node.Data)
}
