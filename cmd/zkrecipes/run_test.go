//go:build unix

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const testLock = "/locks/test"

// hold starts a run whose command holds the lock until it gets TERM.
func hold(t *testing.T, server *zktest.Server, flags ...string) *started {
	t.Helper()
	p := start(t, server, flagsFor(command("polite"), append([]string{"--lock", testLock}, flags...)...)...)
	require.Equal(t, "ready", p.line())
	return p
}

func TestRunsExcludeEachOther(t *testing.T) {
	server := zktest.NewServer(t)
	first := hold(t, server, "--label", "first")
	second := start(t, server, flagsFor(command("polite"), "--lock", testLock)...)
	waiting := second.event("waiting")
	require.Equal(t, 1, waiting.Ahead)
	require.Equal(t, "first", waiting.Holder.Who)
	require.Equal(t, first.cmd.Process.Pid, waiting.Holder.PID)
	until(t, "the second is in the queue", func() bool { return len(server.Children(testLock)) == 2 })
	require.Empty(t, second.lines, "the second must not run")

	first.signal(syscall.SIGTERM)
	require.Equal(t, "ready", second.line())
	require.Equal(t, 3, first.end())
	token := first.event("acquired").Token
	got := second.event("acquired")
	require.Greater(t, got.Token, token)
	second.signal(syscall.SIGTERM)
	require.Equal(t, 3, second.end())
	require.Empty(t, server.Children(testLock))
	require.Empty(t, server.Sessions())
}

func TestExitCodeOfTheCommandIsPassedOn(t *testing.T) {
	server := zktest.NewServer(t)
	for _, code := range []int{0, 1, 64, 75, 76, 255} {
		p := start(t, server, flagsFor(command("exit", strconv.Itoa(code)), "--lock", testLock)...)
		require.Equal(t, code, p.end())
		require.Equal(t, code, *p.event("released").ExitCode)
		require.Empty(t, server.Children(testLock))
	}
	p := start(t, server, flagsFor(command("killed"), "--lock", testLock)...)
	require.Equal(t, 128+9, p.end())
}

func TestEnvironmentOfTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv(envLockToken, "someone else's")
	p := start(t, server, flagsFor(command("environment"), "--lock", testLock, "--servers", server.Addr()+"/app")...)
	path, token, session := p.line(), p.line(), p.line()
	require.Equal(t, 0, p.end())
	got := p.event("acquired")
	require.Equal(t, testLock, path)
	require.Equal(t, got.Token.String(), token)
	require.Equal(t, got.Session, session)
	require.Regexp(t, "^0x[0-9a-f]+$", session)
	_, ok := server.Node("/app" + testLock)
	require.True(t, ok)
}

func TestConflictNamesTheHolder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags []string
		code  int
	}{
		{[]string{"--timeout", "5s"}, exitConflict},
		{[]string{"--try"}, exitConflict},
		{[]string{"--try", "--conflict-exit-code", "0"}, 0},
		{[]string{"--timeout", "5s", "--quiet", "--conflict-exit-code", "9"}, 9},
	} {
		t.Run(strings.Join(test.flags, " "), func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			holder := hold(t, server, "--label", "nightly backup")
			p := start(t, server, flagsFor(command("exit", "1"), append(test.flags, "--lock", testLock)...)...)
			require.Equal(t, test.code, p.end())
			failed := p.event("failed")
			require.Contains(t, failed.Reason, "nightly backup")
			require.Contains(t, failed.Reason, "1 ahead")
			require.Contains(t, failed.Reason, fmt.Sprint("pid ", holder.cmd.Process.Pid))
			require.Equal(t, 1, failed.Ahead)
			require.Equal(t, "nightly backup", failed.Holder.Who)
			require.Equal(t, test.code, *failed.ExitCode)
			until(t, "only the holder is left", func() bool { return len(server.Children(testLock)) == 1 && len(server.Sessions()) == 1 })
		})
	}
}

func TestSignalsReachTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server)
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGTERM} {
		p.signal(sig)
		require.Equal(t, fmt.Sprint("got ", sig), p.line())
	}
	require.Equal(t, 3, p.end())
}

func TestSignalEndsTheWait(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		p := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock)...)
		until(t, "it is in the queue", func() bool { return len(server.Children(testLock)) == 2 })
		p.signal(syscall.SIGUSR1) // ignored, because there is no command
		p.signal(sig)
		require.Equal(t, 128+int(sig), p.end())
		require.Len(t, server.Children(testLock), 1)
	}
}

func TestInputIsInherited(t *testing.T) {
	p := start(t, zktest.NewServer(t), flagsFor(command("reader"), "--lock", testLock)...)
	require.Equal(t, "ready", p.line())
	_, err := fmt.Fprintln(p.stdin, "a line")
	require.NoError(t, err)
	require.Equal(t, "read a line", p.line())
	require.NoError(t, p.stdin.Close())
	require.Equal(t, 0, p.end())
}

func TestCommandThatCannotBeExecuted(t *testing.T) {
	server := zktest.NewServer(t)
	file := t.TempDir() + "/garbage"
	require.NoError(t, os.WriteFile(file, []byte("garbage"), 0o700))
	p := start(t, server, flagsFor([]string{"--", file}, "--lock", testLock)...)
	require.Equal(t, exitCannotRun, p.end())
	require.Contains(t, p.event("failed").Reason, "exec format error")
	require.Empty(t, server.Children(testLock))
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	env := []string{envServers + "=127.0.0.1:1,127.0.0.1:2"}
	code, _, stderr := invoke(t, env, "run", "--lock", testLock, "--timeout", "3s", "--conflict-exit-code", "0", "--", os.Args[0])
	require.Equal(t, exitUnavailable, code)
	require.Contains(t, stderr, "no session within 3s")
	require.Contains(t, stderr, "127.0.0.1:1: ")
	require.Contains(t, stderr, "127.0.0.1:2: ")
	require.Contains(t, stderr, "connection refused")
}

func TestCredentialsRefused(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr(), envAuth + "=nonsense:hunter2"}
	code, _, stderr := invoke(t, env, "run", "--lock", testLock, "--", os.Args[0])
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "authentication refused")
	require.NotContains(t, stderr, "hunter2")
}

// A lock that was taken with credentials is closed to clients without them; other paths
// are not.
func TestNotPermitted(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr() + "/app"}
	with := []string{env[0], envAuth + "=digest:me:hunter2"}
	exit := command("exit", "5")
	code, _, _ := invoke(t, with, append([]string{"run", "--lock", testLock}, exit...)...)
	require.Equal(t, 5, code)
	code, _, stderr := invoke(t, env, append([]string{"run", "--lock", testLock}, exit...)...)
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "not permitted")
	code, _, _ = invoke(t, env, append([]string{"run", "--lock", testLock + "2"}, exit...)...)
	require.Equal(t, 5, code)
	code, stdout, _ := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "no client holds it")
}

// connectClient opens a client for what other programs do to the tree.
func connectClient(t *testing.T, server *zktest.Server, auth ...framework.Credential) *framework.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventTimeout)
	defer cancel()
	client, err := framework.Connect(ctx, framework.Config{
		Servers: []string{server.Addr()}, SessionTimeout: 30 * time.Second, Auth: auth, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}
