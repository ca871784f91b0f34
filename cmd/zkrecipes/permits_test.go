//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestPermitsLimitTheRunsAtATime(t *testing.T) {
	server := zktest.NewServer(t)
	first := hold(t, server, "--permits", "2", "--label", "a")
	require.Equal(t, lease.KindSemaphore, first.event("acquired").Kind)
	second := hold(t, server, "--permits", "2", "--label", "b")
	third := start(t, server, flagsFor(command("polite"), "--lock", testLock, "--permits", "2")...)
	waiting := third.event("waiting")
	require.Equal(t, 2, waiting.Ahead)
	require.Equal(t, "a", waiting.Holder.Who)
	until(t, "the third is in the queue", func() bool { return len(server.Children(testLock+"/locks")) == 1 })
	require.Empty(t, third.lines, "the third must not run")
	l := listed(t, server, testLock)
	require.Equal(t, []string{"1 semaphore held", "2 semaphore held", "3 semaphore waiting"}, states(l))
	require.Equal(t, &permits{Size: 2, Free: 0, Known: true}, l.Semaphore)
	require.Empty(t, l.Others)

	second.signal(syscall.SIGTERM)
	require.Equal(t, 3, second.end())
	require.Equal(t, "ready", third.line())
	for _, p := range []*started{first, third} {
		p.signal(syscall.SIGTERM)
		require.Equal(t, 3, p.end())
	}
	code, stdout, _ := invoke(t, nil, "ls", testLock, "--servers", server.Addr())
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "is free")
	require.Contains(t, stdout, "2 of 2 permits are free")
}

func TestDisagreementOnThePermits(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server, "--permits", "3")
	for _, flags := range [][]string{nil, {"--try"}, {"--timeout", "10s"}} {
		p := start(t, server, flagsFor(command("exit", "0"), append(flags, "--lock", testLock, "--permits", "5", "--conflict-exit-code", "9")...)...)
		require.Equal(t, exitUsage, p.end())
		require.Contains(t, p.event("failed").Reason, "5 given, 3 stored: the stored number is removed when the path has been unused for about a minute")
	}
}

// A run that adopts the stored number waits by that, not by its own. Where none is
// stored it stores its own.
func TestPermitsAdoptTheStoredNumber(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--permits", "stored")...)
	require.Equal(t, exitUsage, p.end())
	failed := p.event("failed")
	require.Equal(t, causeUsage, failed.Cause)
	require.Contains(t, failed.Reason, "no number of permits is stored at the path: --permits stored:N stores N then")

	first := hold(t, server, "--permits", "stored:2", "--label", "a")
	require.Equal(t, 2, listed(t, server, testLock).Semaphore.Size)
	p = start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--permits", "3")...)
	require.Equal(t, exitUsage, p.end(), "without it the numbers still have to agree")
	require.Contains(t, p.event("failed").Reason, `"zkrecipes resize" changes it, and --permits stored:N adopts it`)
	second := hold(t, server, "--permits", "stored")
	third := start(t, server, flagsFor(command("polite"), "--lock", testLock, "--permits", "stored:5")...)
	require.Equal(t, 2, third.event("waiting").Ahead, "although it could be the third of five")
	p = start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--permits", "stored:5", "--try")...)
	require.Equal(t, exitConflict, p.end())
	require.Contains(t, p.event("failed").Reason, "held by a")
	endPolitely(t, second)
	require.Equal(t, "ready", third.line())
	endPolitely(t, first)
	endPolitely(t, third)
}

func TestPermitsBelongToTheCredentials(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	args := append([]string{"run", "--lock", testLock, "--permits", "2"}, command("exit", "5")...)
	code, _, stderr := invoke(t, append(env, envAuth+"=digest:me:hunter2"), args...)
	require.Equal(t, 5, code, stderr)
	code, _, _ = invoke(t, env, args...)
	require.Equal(t, exitNoPerm, code)
	code, stdout, _ := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, "other clients may list it")
	require.Contains(t, stdout, "2 of 2 permits are free")
}

func TestConflictOverPermits(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server, "--permits", "1", "--label", "nightly")
	p := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--permits", "1", "--try")...)
	require.Equal(t, exitConflict, p.end())
	require.Contains(t, p.event("failed").Reason, "held by nightly")
}

func TestLostPermitStopsTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	p := hold(t, server, "--permits", "2")
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, exitLost, p.end())
}

func TestRevokeOfPermits(t *testing.T) {
	server := zktest.NewServer(t)
	first, second := hold(t, server, "--permits", "2"), hold(t, server, "--permits", "2")
	queue := listed(t, server, testLock).Queue
	code, stdout := revoke(t, server, testLock, "--node", queue[1].Node)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(semaphore, held)")
	second.event("revoked")
	require.Equal(t, "got terminated", second.line())
	require.Equal(t, 3, second.end())
	first.signal(syscall.SIGUSR1)
	require.Equal(t, "got user defined signal 1", first.line(), "only one got the request")
	code, _ = revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Equal(t, "got terminated", first.line())
	require.Equal(t, 3, first.end())
	code, _ = revoke(t, server, testLock)
	require.Equal(t, exitNoContender, code)
}

// A semaphore with a single queue, which only programs create.
func TestListingOfASingleQueue(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	s, err := semaphore.New(client, testLock, 5, semaphore.WithSingleQueue())
	require.NoError(t, err)
	for range 2 {
		held, err := s.Weight(2).Acquire(t.Context(), time.Second)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, held.Release()) })
	}
	l := listed(t, server, testLock)
	require.Equal(t, []string{"1 semaphore held", "2 semaphore held"}, states(l))
	require.Equal(t, &permits{Size: 5, Free: 1, Known: true}, l.Semaphore)
	code, stdout := revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Equal(t, 2, strings.Count(stdout, "revocation requested: "))

	_, err = client.Set(t.Context(), testLock, []byte("something else"), framework.AnyVersion)
	require.NoError(t, err)
	l = listed(t, server, testLock)
	require.Equal(t, []string{"1 semaphore unknown", "2 semaphore unknown"}, states(l))
	require.Equal(t, &permits{}, l.Semaphore)
}

// Curator's semaphore stores its size only if it is given a counter for it.
func TestListingOfASemaphoreOfUnknownSize(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	for _, node := range []string{"/locks/_c_x-lock-0000000001", "/leases/_c_x-lease-0000000000"} {
		require.NoError(t, client.CreateParents(t.Context(), testLock+node))
		_, err := client.Create(t.Context(), testLock+node, nil, framework.Ephemeral)
		require.NoError(t, err)
	}
	code, stdout, _ := invoke(t, nil, "ls", testLock, "--servers", server.Addr())
	require.Equal(t, 0, code)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 4)
	require.Regexp(t, `^1 +held +semaphore .* \d+$`, lines[1])
	require.Regexp(t, `^2 +waiting +semaphore .* -$`, lines[2])
	require.Equal(t, "how many permits there are is not stored at "+testLock, lines[3])
}

// Everything at a path is listed, each queue by itself.
func TestListingOfAMixedPath(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/x"))
	for _, node := range []string{"latch-0000000004", "lock-0000000001", "__READ__0000000002", "latch-0000000003", "lock-5", "leases"} {
		_, err := client.Create(t.Context(), testLock+"/"+node, []byte("me"), framework.Ephemeral)
		require.NoError(t, err)
	}
	l := listed(t, server, testLock)
	require.Equal(t, []string{"1 mutex held", "2 reader waiting", "1 leader held", "2 leader waiting"}, states(l))
	require.Equal(t, "me", l.Queue[2].Who)
	require.Equal(t, []string{"lock-5"}, l.Others)
	b, err := json.Marshal(l)
	require.NoError(t, err)
	require.Contains(t, string(b), `"semaphore":{"permits":0,"free":0,"known":false}`)
}
