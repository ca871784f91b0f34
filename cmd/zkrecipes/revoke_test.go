//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// revoke runs "revoke", and returns the exit code and the standard output.
func revoke(t *testing.T, server *zktest.Server, args ...string) (code int, stdout string) {
	t.Helper()
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, append([]string{"revoke"}, args...)...)
	if code == 0 {
		require.Empty(t, stderr)
	}
	return code, stdout
}

// The holder is notified, goes on for as long as it needs, and is not killed.
func TestRevokedCommandDecidesWhenItEnds(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, flagsFor(command("unhurried"), "--lock", testLock, "--label", "a job")...)
	require.Equal(t, "ready", p.line())
	next := start(t, server, flagsFor(command("polite"), "--lock", testLock)...)
	until(t, "the next is in the queue", func() bool { return len(server.Children(testLock)) == 2 })
	code, stdout := revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Regexp(t, `^revocation requested: _c_[-0-9a-f]+-lock-0000000000 \(mutex, held\): a job \(.*pid `+fmt.Sprint(p.cmd.Process.Pid)+`, .*\)\n$`, stdout)
	require.Equal(t, testLock, p.event("revoked").Lock)
	require.Equal(t, "got terminated", p.line())

	code, stdout = revoke(t, server, testLock)
	require.Equal(t, 0, code, "a second request is no error")
	require.Contains(t, stdout, "a job", "the holder is still known")
	require.Empty(t, next.lines, "the lock is held until the command has ended")
	require.NoError(t, p.stdin.Close())
	require.Equal(t, 0, p.end(), "the command's own code")
	released := p.event("released")
	require.Equal(t, "exit code 0", released.Command)
	require.Equal(t, 0, *released.ExitCode)
	require.Equal(t, "ready", next.line())
	next.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", next.line(), "its own TERM, so it got no request")
	require.Equal(t, 3, next.end())
}

func TestIgnoreRevoke(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server, "--ignore-revoke")
	code, _ := revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Equal(t, "ignored", p.event("revoked").Reason)
	p.signal(syscall.SIGUSR1)
	require.Equal(t, "got user defined signal 1", p.line(), "and no TERM before")
	p.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, 3, p.end())
}

// All readers get a request, or one by its node or token; waiting clients only with
// --all or --node.
func TestRevokeChoosesClients(t *testing.T) {
	server := zktest.NewServer(t)
	readers := []*started{hold(t, server, "--shared"), hold(t, server, "--shared"), hold(t, server, "--shared"), hold(t, server, "--shared")}
	writer := start(t, server, flagsFor(command("polite"), "--lock", testLock)...)
	until(t, "the writer is in the queue", func() bool { return len(server.Children(testLock)) == 5 })
	queue := listed(t, server, testLock).Queue
	gone := func(p *started) {
		t.Helper()
		p.event("revoked")
		require.Equal(t, "got terminated", p.line())
		require.Equal(t, 3, p.end())
	}

	code, stdout := revoke(t, server, testLock, "--node", queue[1].Node)
	require.Equal(t, 0, code)
	require.Equal(t, 1, strings.Count(stdout, "revocation requested: "))
	gone(readers[1])
	code, _ = revoke(t, server, testLock, "--node", queue[2].Token.String())
	require.Equal(t, 0, code)
	gone(readers[2])
	code, _ = revoke(t, server, testLock, "--node", queue[1].Node)
	require.Equal(t, exitNoContender, code, "it has gone")

	code, stdout = revoke(t, server, "--json", testLock)
	require.Equal(t, 0, code)
	var requested revocation
	require.NoError(t, json.Unmarshal([]byte(stdout), &requested))
	require.Equal(t, testLock, requested.Lock)
	require.Len(t, requested.Requested, 2)
	require.Equal(t, queue[0].Node, requested.Requested[0].Node)
	require.Equal(t, queue[3].Node, requested.Requested[1].Node)
	gone(readers[0])
	gone(readers[3])
	require.Equal(t, "ready", writer.line())
	writer.signal(syscall.SIGUSR1)
	require.Equal(t, "got user defined signal 1", writer.line(), "the writer got no request")
}

// A waiting client sees the request when it holds.
func TestRevokeAllReachesWaitingClients(t *testing.T) {
	server := zktest.NewServer(t)
	holder := hold(t, server, "--ignore-revoke")
	waiter := start(t, server, flagsFor(command("polite"), "--lock", testLock)...)
	until(t, "it is in the queue", func() bool { return len(server.Children(testLock)) == 2 })
	code, stdout := revoke(t, server, testLock, "--all")
	require.Equal(t, 0, code)
	require.Equal(t, 2, strings.Count(stdout, "revocation requested: "))
	require.Contains(t, stdout, "(mutex, waiting)")
	holder.signal(syscall.SIGTERM)
	waiter.event("acquired")
	waiter.event("revoked")
	code = waiter.end()
	require.Contains(t, []int{3, 128 + 15}, code, "it ends at TERM, which may come before it is ready for it")
}

func TestRevokeWithoutHolders(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr() + "/app"}
	for _, args := range [][]string{{testLock}, {testLock, "--all"}, {testLock, "--node", "x"}} {
		code, stdout, stderr := invoke(t, env, append([]string{"revoke"}, args...)...)
		require.Equal(t, exitNoContender, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, testLock)
		require.Contains(t, stderr, "no revocation was requested: no client")
	}
	code, stdout, _ := invoke(t, env, "revoke", testLock, "--json")
	require.Equal(t, exitNoContender, code)
	require.JSONEq(t, `{"lock": "`+testLock+`", "asked": [], "successor": null, "taken": []}`, stdout)
	_, ok := server.Node("/app")
	require.False(t, ok, "a request creates nothing")
}

func TestRevokeOfANodeThatIsDeletedMeanwhile(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server)
	server.On(zktest.OpSetData, testLock+"/").Fail(zktest.NoNode)
	code, _ := revoke(t, server, testLock)
	require.Equal(t, exitNoContender, code)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
}

func TestRevokeNeedsPermission(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv(envAuth, "digest:me:hunter2")
	hold(t, server)
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, "revoke", testLock)
	require.Equal(t, exitNoPerm, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "not permitted")
	code, _, _ = invoke(t, []string{envServers + "=" + server.Addr(), envAuth + "=digest:me:hunter2"}, "revoke", testLock)
	require.Equal(t, 0, code)
}

// What Java's Revoker writes is understood.
func TestRevokedByCurator(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	p := hold(t, server)
	_, err := client.Set(t.Context(), testLock+"/"+server.Children(testLock)[0], []byte("__REVOKE__"), framework.AnyVersion)
	require.NoError(t, err)
	p.event("revoked")
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, 3, p.end())
}

func TestTextOfARevocation(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, append([]string{"run", "--lock", testLock}, command("polite")...)...)
	require.Equal(t, "ready", p.line())
	code, _ := revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Equal(t, 3, p.end())
	text := strings.Join(p.said(2), "\n")
	require.Regexp(t, `zkrecipes: \d\d:\d\d:\d\d\.\d{3} revocation of `+testLock+` requested: the command gets TERM, once, and keeps the lock until it has ended`, text)
	require.Regexp(t, `the command has ended \(exit code 3\), and `+testLock+` is released`, text)
}
