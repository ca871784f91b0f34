//go:build unix

package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// shortSession makes losses come soon; the servers must allow it.
const shortSession = 3 * time.Second

// mutedSession lets a command that must be dead before its session ends be killed in
// time on a busy machine too: a sixth of it is left for that.
const mutedSession = 24 * time.Second

func shortLived(t *testing.T) *zktest.Server {
	t.Helper()
	return zktest.NewServer(t, zktest.WithSessionTimeouts(time.Second, time.Minute))
}

func TestExpiredSessionStopsTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server)
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, exitLost, p.end())
	lost := p.event("lost")
	require.Contains(t, lost.Reason, "expired")
	require.Equal(t, testLock, lost.Lock)
	stopped := p.event("stopped")
	require.Equal(t, "exit code 3", stopped.Command)
	require.Equal(t, exitLost, *stopped.ExitCode)
}

func TestDeletedNodeStopsTheCommandAndItsChildren(t *testing.T) {
	server := zktest.NewServer(t)
	operator := connectClient(t, server)
	p := start(t, server, flagsFor(command("parent"), "--lock", testLock, "--grace", "300ms")...)
	require.Equal(t, "ready", p.line(), "of the grandchild, which ignores TERM")
	deleteHolder(t, server, operator)
	require.Equal(t, exitLost, p.end(), "no process holds standard output any more")
	require.Contains(t, p.event("lost").Reason, "deleted by another client")
	require.Contains(t, p.event("stopped").Command, "killed by signal")
}

func deleteHolder(t *testing.T, server *zktest.Server, operator *framework.Client) {
	t.Helper()
	nodes := server.Children(testLock)
	require.Len(t, nodes, 1)
	ctx, cancel := context.WithTimeout(t.Context(), eventTimeout)
	defer cancel()
	require.NoError(t, operator.Delete(ctx, testLock+"/"+nodes[0], framework.AnyVersion))
}

// When the command is dead, a server that stopped answering can still have the session:
// so no other client holds the lock before.
func TestSilentServerStopsTheCommandBeforeTheSessionCanExpire(t *testing.T) {
	t.Parallel()
	server := shortLived(t)
	p := start(t, server, flagsFor(command("stubborn"), "--lock", testLock, "--session-timeout", mutedSession.String())...)
	require.Equal(t, "ready", p.line())
	acquired := p.event("acquired")
	server.Pause()
	deadline := server.Sessions()[0].Deadline
	stopped := p.event("stopped")
	require.True(t, stopped.Time.Before(deadline), "the session could have expired before the command was dead")
	require.Contains(t, stopped.Command, "killed by signal 9")
	server.Resume()
	require.Equal(t, exitLost, p.end())
	require.Equal(t, testLock, acquired.Lock)
}

func TestStoppedWrapperKillsTheCommandWhenItGoesOn(t *testing.T) {
	t.Parallel()
	server := shortLived(t)
	p := start(t, server, flagsFor(command("stubborn"), "--lock", testLock, "--session-timeout", shortSession.String())...)
	require.Equal(t, "ready", p.line())
	p.signal(syscall.SIGSTOP)
	until(t, "the session has expired", func() bool { return len(server.Sessions()) == 0 })
	next := hold(t, server)
	p.signal(syscall.SIGCONT)
	require.Equal(t, exitLost, p.end())
	require.NotNil(t, p.event("lost").KillAt)
	require.Contains(t, p.event("stopped").Command, "killed by signal 9")
	next.signal(syscall.SIGTERM)
	require.Equal(t, 3, next.end(), "the next holder is not disturbed")
}

// The loss is noticed only when the lock is released: too late to stop the command, but
// not too late to report it.
func TestCommandThatEndedWithoutTheLock(t *testing.T) {
	server := zktest.NewServer(t)
	operator := connectClient(t, server)
	p := start(t, server, flagsFor(command("reader"), "--lock", testLock)...)
	require.Equal(t, "ready", p.line())
	unnoticed := server.On(zktest.OpDelete, testLock+"/").OnEvent().DropReply()
	until(t, "the holder watches its node", func() bool { return server.Watches() > 0 })
	deleteHolder(t, server, operator)
	<-unnoticed.Fired()
	require.NoError(t, p.stdin.Close())
	require.Equal(t, exitLost, p.end())
	e := p.event("unprotected")
	require.Equal(t, "exit code 0", e.Command)
	require.Contains(t, e.Reason, "deleted by another client")
	require.Equal(t, exitLost, *e.ExitCode)
}

// A short break does no harm.
func TestReconnectKeepsTheLock(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server)
	server.DropConnections("")
	p.event("suspended")
	p.event("connected")
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
	require.Equal(t, "exit code 3", p.event("released").Command)
}

// Messages for users have the same content as events for programs.
func TestTextOfALoss(t *testing.T) {
	server := zktest.NewServer(t)
	operator := connectClient(t, server)
	args := append([]string{"run", "--lock", testLock, "--label", "x\x1b[31m"}, command("polite")...)
	p := start(t, server, args...)
	require.Equal(t, "ready", p.line())
	deleteHolder(t, server, operator)
	require.Equal(t, exitLost, p.end())
	text := strings.Join(p.said(2), "\n")
	require.Regexp(t, `zkrecipes: \d\d:\d\d:\d\d\.\d{3} lock `+testLock+`: lease lost: .*deleted by another client; stopping the command: TERM now, KILL at \d\d:`, text)
	require.Regexp(t, `the command has ended: exit code 3; exit code 76, for the loss of the lock`, text)
}
