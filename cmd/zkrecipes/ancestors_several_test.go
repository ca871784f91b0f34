//go:build unix

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// besideAnAncestor starts a run that reads what its ancestor reads, and another lock,
// which a third run has. It returns these two when the inner one waits.
func besideAnAncestor(t *testing.T, server *zktest.Server, other string) (nestedRun, third *started) {
	t.Helper()
	third = start(t, server, flagsFor(command("polite"), "--lock", other)...)
	require.Equal(t, "ready", third.line())
	nestedRun = start(t, server, nested("run --shared --lock "+testLock, "run --shared --lock "+testLock+" --lock "+other)...)
	waiting := nestedRun.event("waiting")
	require.Equal(t, []string{other}, waiting.Contended)
	until(t, "the inner run waits at the other lock only", func() bool {
		return len(server.Children(other)) == 2 && len(server.Children(testLock)) == 1
	})
	return nestedRun, third
}

// Nothing may be waited for at the lock that an ancestor reads, but at others.
func TestWaitForAnotherLockBesideAnAncestor(t *testing.T) {
	for _, other := range []string{"/locks/a", "/locks/z"} {
		server := zktest.NewServer(t)
		p, third := besideAnAncestor(t, server, other)
		third.signal(syscall.SIGTERM)
		require.Equal(t, 3, third.end())
		require.Equal(t, 5, p.end())
		require.Empty(t, server.Children(other))
		require.Empty(t, server.Children(testLock))
		require.Empty(t, server.Sessions())
	}
}

// A writer that comes meanwhile waits for the ancestor, and the inner run does not wait
// for the writer.
func TestWriterThatArrivesDuringTheWaitForAnotherLock(t *testing.T) {
	for _, other := range []string{"/locks/a", "/locks/z"} {
		server := zktest.NewServer(t)
		p, third := besideAnAncestor(t, server, other)
		writer := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock)...)
		awaitQueueLength(t, server, 2)
		third.signal(syscall.SIGTERM)
		require.Equal(t, 3, third.end())
		require.Equal(t, exitUsage, p.end())
		require.Contains(t, p.event("failed").Reason, testLock+" is held by the zkrecipes run above this one")
		require.Equal(t, 0, writer.end())
		require.Empty(t, server.Children(other))
	}
}

// Without waiting, and after the time that there is, the other lock is a conflict.
func TestConflictBesideAnAncestor(t *testing.T) {
	for _, flag := range []string{"--try", "--timeout 3s"} {
		server := zktest.NewServer(t)
		third := start(t, server, flagsFor(command("polite"), "--lock", "/locks/z")...)
		require.Equal(t, "ready", third.line())
		p := start(t, server, nested("run --shared --lock "+testLock, "run --shared --lock "+testLock+" --lock /locks/z "+flag)...)
		require.Equal(t, exitConflict, p.end())
		require.Equal(t, []string{"/locks/z"}, p.event("failed").Contended)
	}
}
