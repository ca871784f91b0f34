//go:build unix

package main

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two locks of a job; it acquires that of the cart first.
const (
	cart  = "/locks/cart"
	stock = "/locks/stock of all"
)

// holdBoth starts a run whose command holds both locks until it gets TERM.
func holdBoth(t *testing.T, server *zktest.Server, flags ...string) *started {
	t.Helper()
	p := start(t, server, flagsFor(command("polite"), append([]string{"--lock", stock, "--lock", cart}, flags...)...)...)
	require.Equal(t, "ready", p.line())
	return p
}

// free reports that no client is at either lock.
func free(server *zktest.Server) bool {
	return len(server.Children(cart))+len(server.Children(stock)) == 0
}

// requireConflict fails unless the flags ask for what another client holds.
func requireConflict(t *testing.T, server *zktest.Server, flags ...string) event {
	t.Helper()
	p := start(t, server, flagsFor(command("exit", "0"), append(flags, "--try")...)...)
	require.Equal(t, exitConflict, p.end())
	return p.event("failed")
}

func TestSeveralLocksAreHeldWhileTheCommandRuns(t *testing.T) {
	server := zktest.NewServer(t)
	p := holdBoth(t, server, "--label", "order")
	acquired := p.event("acquired")
	require.Equal(t, []string{stock, cart}, acquired.Locks)
	require.Equal(t, stock, acquired.Lock)
	require.Len(t, acquired.Tokens, 2)
	require.Greater(t, acquired.Tokens[0], acquired.Tokens[1], "the cart was acquired first")
	require.Equal(t, acquired.Tokens[0], acquired.Token)
	for i, path := range acquired.Locks {
		holder := listed(t, server, path).Queue[0]
		require.Equal(t, acquired.Tokens[i], holder.Token)
		require.Equal(t, "order", holder.Who)
		require.Equal(t, acquired.Session, holder.Session)
		failed := requireConflict(t, server, "--lock", path)
		require.Equal(t, path, failed.Lock)
		require.Empty(t, failed.Locks, "with one lock there is no such field")
		failed = requireConflict(t, server, "--lock", "/locks/a", "--lock", path)
		require.Equal(t, []string{"/locks/a", path}, failed.Locks)
		require.Equal(t, []string{path}, failed.Contended)
		require.Equal(t, "order", failed.Holder.Who)
	}
	require.Empty(t, server.Children("/locks/a"))
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
	require.Equal(t, acquired.Locks, p.event("released").Locks)
	require.True(t, free(server))
	require.Empty(t, server.Sessions())
}

func TestSeveralSharedLocks(t *testing.T) {
	for _, flag := range []string{"--shared", "--write"} {
		server := zktest.NewServer(t)
		holdBoth(t, server, flag)
		if flag == "--shared" {
			holdBoth(t, server, flag)
		} else {
			requireConflict(t, server, "--lock", cart, "--shared")
		}
		require.Equal(t, map[string]string{"--shared": lease.KindReader, "--write": lease.KindWriter}[flag], listed(t, server, stock).Queue[0].Kind)
		requireConflict(t, server, "--lock", stock, "--write")
	}
}

// Whatever the order on the command line, none waits for another for ever. Each round
// is two processes that begin at the same time.
func TestSeveralLocksInOppositeOrder(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	for range 15 {
		one := start(t, server, flagsFor(command("exit", "0"), "--lock", cart, "--lock", stock)...)
		other := start(t, server, flagsFor(command("exit", "0"), "--lock", stock, "--lock", cart)...)
		require.Equal(t, 0, one.end())
		require.Equal(t, 0, other.end())
		require.True(t, free(server))
	}
}

func TestWaitForOneOfSeveralLocks(t *testing.T) {
	server := zktest.NewServer(t)
	other := start(t, server, flagsFor(command("polite"), "--lock", stock, "--label", "inventory")...)
	require.Equal(t, "ready", other.line())
	flags := []string{"run", "--lock", "/locks/a", "--lock", stock, "--lock", cart}
	p := start(t, server, slices.Concat(flags, []string{"--json"}, command("polite"))...)
	require.Equal(t, []string{stock}, p.event("waiting").Contended)
	text := start(t, server, slices.Concat(flags, command("exit", "0"))...)
	require.Regexp(t, `^zkrecipes: waiting for .*: \d ahead, held by .*; not free: \d of 3 locks$`, text.said(1)[0])
	other.signal(syscall.SIGTERM)
	require.Equal(t, 3, other.end())
	require.Equal(t, "ready", p.line())
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
	require.Equal(t, 0, text.end())
	require.Regexp(t, `^zkrecipes: acquired /locks/a, `+stock+` and `+cart+` after .*, tokens \d+, \d+ and \d+$`, text.said(2)[1])
}

// The first that is not free is the first that is acquired.
func TestWaitForSeveralOfSeveralLocks(t *testing.T) {
	server := zktest.NewServer(t)
	others := map[string]*started{}
	for _, path := range []string{cart, stock} {
		others[path] = start(t, server, flagsFor(command("polite"), "--lock", path, "--label", path)...)
		require.Equal(t, "ready", others[path].line())
	}
	p := start(t, server, flagsFor(command("exit", "0"), "--lock", stock, "--lock", "/locks/a", "--lock", cart)...)
	waiting := p.event("waiting")
	require.Equal(t, []string{cart, stock}, waiting.Contended)
	require.Equal(t, cart, waiting.Holder.Who)
	text := start(t, server, slices.Concat([]string{"run", "--lock", stock, "--lock", cart}, command("exit", "0"))...)
	require.Regexp(t, `^zkrecipes: waiting for `+cart+`: \d ahead, held by `+cart+` .*; not free: 2 of 2 locks$`, text.said(1)[0])
	for _, other := range others {
		other.signal(syscall.SIGTERM)
		require.Equal(t, 3, other.end())
	}
	require.Equal(t, 0, p.end())
	require.Equal(t, 0, text.end())
}

// The error names the lock that is not free, and nothing is left at the other.
func TestTimeoutOfSeveralLocks(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--timeout", "2500ms"}, {"--try"}} {
		server := zktest.NewServer(t)
		other := start(t, server, flagsFor(command("polite"), "--lock", stock, "--label", "inventory")...)
		require.Equal(t, "ready", other.line())
		p := start(t, server, flagsFor(command("exit", "0"), append(flags, "--lock", stock, "--lock", cart)...)...)
		if flags[0] != "--try" {
			waiting := p.event("waiting")
			require.Equal(t, []string{stock}, waiting.Contended)
			require.Equal(t, "inventory", waiting.Holder.Who)
			require.Equal(t, 1, waiting.Ahead)
		}
		require.Equal(t, exitConflict, p.end())
		failed := p.event("failed")
		require.Equal(t, []string{stock}, failed.Contended)
		require.Contains(t, failed.Reason, stock+": not acquired in time")
		require.Contains(t, failed.Reason, "1 ahead, held by inventory")
		require.Equal(t, 1, failed.Ahead)
		until(t, "only the other is left", func() bool {
			return len(server.Children(cart)) == 0 && len(server.Children(stock)) == 1 && len(server.Sessions()) == 1
		})
	}
}

// The same if the time is over before the first limit for a wait that keeps a lock. In
// virtual time, as a process may need that long to start.
func TestShortTimeoutOfSeveralLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		release := heldBy(t, w, "other")
		j, f := virtual(t, w, "a", "--lock", "/locks/first", "--timeout", "400ms")
		took, err := awaited(t, j, f)
		requireHeld(t, err)
		require.ErrorContains(t, err, testLock+": not acquired in time")
		require.ErrorContains(t, err, "1 ahead, held by ")
		require.GreaterOrEqual(t, took, f.timeout.value)
		w.Settle()
		require.Empty(t, w.Ephemerals("/locks/first"))
		require.Len(t, w.Ephemerals(testLock), 1)
		release()
	})
}

func TestEnvironmentOfACommandUnderSeveralLocks(t *testing.T) {
	server := zktest.NewServer(t)
	names := []string{envLockCount, numbered(envLockPath, 1), numbered(envLockToken, 1), numbered(envLockPath, 2), numbered(envLockToken, 2), numbered(envLockPath, 3)}
	t.Setenv(numbered(envLockPath, 3), "someone else's")
	p := start(t, server, flagsFor(command("environment", names...), "--lock", stock, "--lock", cart)...)
	got := p.event("acquired")
	for _, want := range []string{stock, got.Tokens[0].String(), got.Session, "2", stock, got.Tokens[0].String(), cart, got.Tokens[1].String(), ""} {
		require.Equal(t, want, p.line())
	}
	require.Equal(t, 0, p.end())
}

func TestRevocationOfOneOfSeveralLocks(t *testing.T) {
	for _, path := range []string{cart, stock} {
		server := zktest.NewServer(t)
		p := start(t, server, slices.Concat([]string{"run", "--lock", cart, "--lock", stock}, command("polite"))...)
		require.Equal(t, "ready", p.line())
		code, _ := revoke(t, server, path)
		require.Equal(t, 0, code)
		require.Equal(t, "got terminated", p.line())
		require.Equal(t, 3, p.end())
		text := p.said(2)
		require.Contains(t, text[0], "revocation of "+cart+" or "+stock+" requested: the command gets TERM, once, and keeps the lock")
		require.Contains(t, text[1], cart+" and "+stock+" are released")
		require.True(t, free(server))
	}
}

// The loss of one lock stops the command, and the other is free then.
func TestLossOfOneOfSeveralLocks(t *testing.T) {
	for _, path := range []string{cart, stock} {
		server := zktest.NewServer(t)
		p := holdBoth(t, server)
		require.NoError(t, connectClient(t, server).Delete(t.Context(), path+"/"+server.Children(path)[0], framework.AnyVersion))
		require.Equal(t, "got terminated", p.line())
		require.Equal(t, exitLost, p.end())
		lost := p.event("lost")
		require.Contains(t, lost.Reason, path)
		require.Contains(t, lost.Reason, "deleted by another client")
		require.Equal(t, exitLost, *p.event("stopped").ExitCode)
		until(t, "nothing is left", func() bool { return free(server) })
	}
}

// Each path is closed, and each is checked.
func TestCredentialsWithSeveralLocks(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv(envAuth, "digest:me:hunter2")
	both := flagsFor(command("exit", "5"), "--lock", stock, "--lock", cart)
	require.Equal(t, 5, start(t, server, both...).end())
	other := connectClient(t, server)
	for _, path := range []string{cart, stock} {
		_, err := other.Create(t.Context(), path+"/lock-", nil, framework.EphemeralSequential)
		require.ErrorIs(t, err, framework.ErrNoAuth)
	}
	ours := connectClient(t, server, us)
	opened := func(path string) string {
		_, err := ours.SetACL(t.Context(), path, framework.WorldACL(framework.PermAll), framework.AnyVersion)
		require.NoError(t, err)
		p := start(t, server, both...)
		require.Equal(t, exitNoPerm, p.end())
		return p.event("failed").Reason
	}
	reason := opened(cart)
	require.Contains(t, reason, cart+" is not protected by the credentials")
	require.NotContains(t, reason, stock)
	reason = opened(stock)
	require.Contains(t, reason, stock+" and "+cart+" are not protected by the credentials")
	require.Contains(t, reason, `then: setAcl "`+stock+`" auth::cdrwa,world:anyone:r, then: setAcl `+cart+" auth::cdrwa,world:anyone:r")
	require.True(t, free(server))
}

// While some locks are held, the waits for the others leave time for the command.
func TestWaitsLeaveTimeBeforeTheEndOfTheMaximumHoldTime(t *testing.T) {
	for wait := time.Second; wait < 20*time.Second; wait += 700 * time.Millisecond {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			release := heldBy(t, w, "other")
			time.AfterFunc(wait, release)
			j, f := virtual(t, w, "a", "--lock", "/locks/first", "--max-hold", "2s", "--grace", "400ms")
			require.NoError(t, j.await(t.Context(), f.begin()))
			require.GreaterOrEqual(t, time.Until(j.held.TrustedUntil()), 1600*time.Millisecond, "after %v", wait)
			j.disconnect()
		})
	}
}
