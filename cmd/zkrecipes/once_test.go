//go:build unix

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// runA are the flags for the run of a key of testLock.
var runA = []string{"--once", testLock, "--key", "a"}

// waitersAtRunA counts the clients at that run.
func waitersAtRunA(server *zktest.Server) int { return len(server.Children(testLock + "/a.key")) }

// holdRun starts that run with a command that has said that it is ready.
func holdRun(t *testing.T, server *zktest.Server, part string, flags ...string) *started {
	t.Helper()
	p := start(t, server, flagsFor(command(part), slices.Concat(runA, flags)...)...)
	require.Equal(t, "ready", p.line())
	return p
}

// succeed ends a "reader", with exit code 0.
func succeed(t *testing.T, p *started) {
	t.Helper()
	require.NoError(t, p.stdin.Close())
	require.Equal(t, 0, p.end())
}

// requireRecorded fails unless that run is recorded, so that its command does not run.
func requireRecorded(t *testing.T, server *zktest.Server) event {
	t.Helper()
	p := start(t, server, flagsFor(command("touch", "/"), runA...)...)
	require.Equal(t, 0, p.end())
	return p.event("recorded")
}

// requireUnrecorded fails unless that run can still be begun. It fails again.
func requireUnrecorded(t *testing.T, server *zktest.Server) {
	t.Helper()
	p := start(t, server, flagsFor(command("exit", "5"), runA...)...)
	require.Equal(t, 5, p.end())
}

func TestARunIsDoneOnce(t *testing.T) {
	server := zktest.NewServer(t)
	first := holdRun(t, server, "reader", "--label", "the first")
	acquired := first.event("acquired")
	require.Equal(t, "a", acquired.Key)
	require.Equal(t, testLock, acquired.Lock)
	require.Equal(t, lease.KindMutex, acquired.Kind)
	second := start(t, server, flagsFor(command("touch", "/"), runA...)...)
	waiting := second.event("waiting")
	require.Equal(t, "a", waiting.Key)
	require.Equal(t, 1, waiting.Ahead)
	require.Equal(t, "the first", waiting.Holder.Who)
	text := start(t, server, slices.Concat([]string{"run"}, runA, command("touch", "/"))...)
	until(t, "both wait", func() bool { return waitersAtRunA(server) == 3 })
	text.said(1)
	other := start(t, server, flagsFor(command("exit", "5"), "--once", testLock, "--key", "b")...)
	require.Equal(t, 5, other.end(), "another key does not wait")

	succeed(t, first)
	require.Equal(t, 0, *first.event("released").ExitCode)
	require.Equal(t, 0, second.end())
	for _, recorded := range []event{second.event("recorded"), requireRecorded(t, server)} {
		require.Equal(t, "a", recorded.Key)
		require.Equal(t, acquired.Token, recorded.Token)
		require.Equal(t, "the first", recorded.Holder.Who)
		require.Equal(t, first.cmd.Process.Pid, recorded.Holder.PID)
		require.False(t, recorded.Holder.Since.Before(acquired.Time))
		require.Equal(t, 0, *recorded.ExitCode)
		require.Contains(t, recorded.Reason, "recorded as finished")
	}
	require.Equal(t, 0, text.end())
	said := text.said(2)
	require.Regexp(t, `^zkrecipes: waiting for run a of `+testLock+`: [12] ahead, held by the first \(`, said[0])
	require.Regexp(t, `^zkrecipes: run a of `+testLock+` is recorded as finished, by the first \(\S+, pid \d+\), at \d{4}-\S+Z: the command is not run again$`, said[1])
	quiet := start(t, server, slices.Concat([]string{"run", "--quiet"}, runA, command("touch", "/"))...)
	require.Equal(t, 0, quiet.end())
	for range quiet.events { // until all is read
	}
	quiet.said(0)
	require.Empty(t, server.Sessions())
	require.Zero(t, waitersAtRunA(server))
}

// Of those that wait the next one runs a command that has failed.
func TestARunThatFailsIsTakenOver(t *testing.T) {
	server := zktest.NewServer(t)
	first := holdRun(t, server, "polite")
	next := start(t, server, flagsFor(command("reader"), runA...)...)
	until(t, "it waits", func() bool { return waitersAtRunA(server) == 2 })
	require.Empty(t, next.lines)
	first.signal(syscall.SIGTERM)
	require.Equal(t, 3, first.end())
	require.Equal(t, 3, *first.event("released").ExitCode)
	require.Equal(t, "ready", next.line())
	succeed(t, next)
	require.Equal(t, next.event("acquired").Token, requireRecorded(t, server).Token)
}

// A command that was killed with its zkrecipes has not finished.
func TestAKilledRunIsTakenOver(t *testing.T) {
	server := zktest.NewServer(t)
	killed := holdRun(t, server, "reader")
	next := start(t, server, flagsFor(command("reader"), runA...)...)
	until(t, "it waits", func() bool { return waitersAtRunA(server) == 2 })
	killed.signal(syscall.SIGKILL)
	require.Equal(t, -1, killed.end(), "and the command has ended")
	require.Empty(t, next.lines, "it waits for the end of the session")
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, "ready", next.line())
	require.Greater(t, next.event("acquired").Token, killed.event("acquired").Token)
	succeed(t, next)
	require.Equal(t, next.cmd.Process.Pid, requireRecorded(t, server).Holder.PID)
}

// The exit code is that of the command, and only 0 is recorded.
func TestExitCodesOfARun(t *testing.T) {
	server := zktest.NewServer(t)
	for _, args := range [][]string{{"exit", "1"}, {"exit", "75"}, {"exit", "255"}, {"killed"}, {"exit", "0"}} {
		p := start(t, server, flagsFor(command(args[0], args[1:]...), runA...)...)
		want := 128 + 9
		if len(args) > 1 {
			_, err := fmt.Sscan(args[1], &want)
			require.NoError(t, err)
		}
		require.Equal(t, want, p.end())
		require.Equal(t, want, *p.event("released").ExitCode)
		_, done := server.Node(testLock + "/done/a.key")
		require.Equal(t, want == 0, done)
	}
	requireRecorded(t, server)
}

func TestConflictOverARun(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"--try", "--timeout 3s"} {
		server := zktest.NewServer(t)
		holder := holdRun(t, server, "polite", "--label", "a job")
		p := start(t, server, flagsFor(command("exit", "0"), append(strings.Fields(flags), runA...)...)...)
		require.Equal(t, exitConflict, p.end())
		failed := p.event("failed")
		require.Equal(t, causeHeld, failed.Cause)
		require.Equal(t, "a", failed.Key)
		require.Equal(t, 1, failed.Ahead)
		require.Equal(t, "a job", failed.Holder.Who)
		require.Contains(t, failed.Reason, testLock+"/a.key: not acquired in time")
		endPolitely(t, holder)
	}
}

func TestEnvironmentOfARun(t *testing.T) {
	server := zktest.NewServer(t)
	t.Setenv(envLockTick, "of a zkrecipes above")
	p := start(t, server, flagsFor(command("environment", envLockKey, envLockTick), "--once", testLock, "--key", "customer 4711")...)
	require.Equal(t, testLock, p.line())
	acquired := p.event("acquired")
	require.Equal(t, acquired.Token.String(), p.line())
	require.Equal(t, acquired.Session, p.line())
	require.Equal(t, "customer 4711", p.line())
	require.Empty(t, p.line())
	require.Equal(t, 0, p.end())

	const years = "87600h"                                      // so that it does not end during the test
	flags := []string{"--once", "/jobs/other", "--tick", years} // whose records are kept for longer
	t.Setenv(envLockKey, "of a zkrecipes above")
	p = start(t, server, flagsFor(command("environment", envLockKey, envLockTick), flags...)...)
	acquired = p.event("acquired")
	for range 3 {
		p.line()
	}
	require.Empty(t, p.line())
	require.Equal(t, acquired.Key, p.line())
	require.Equal(t, 0, p.end())
	interval, err := parseDuration(years)
	require.NoError(t, err)
	require.Equal(t, tickAt(time.Now(), interval).Format(time.RFC3339), acquired.Key)
	p = start(t, server, flagsFor(command("touch", "/"), flags...)...)
	require.Equal(t, 0, p.end())
	require.Equal(t, acquired.Key, p.event("recorded").Key)

	// A further lock is still a part of the run.
	p = start(t, server, slices.Concat([]string{"run", "--json", "--once", testLock, "--key", "c", "--", os.Args[0], "run", "--json", "--lock", "/locks/other"},
		command("environment", envLockKey, envLockTick))...)
	require.Equal(t, "/locks/other", p.line())
	for range 2 {
		p.line()
	}
	require.Equal(t, "c", p.line())
	require.Empty(t, p.line())
	require.Equal(t, 0, p.end())
}

func TestRunsOfAncestors(t *testing.T) {
	const run = "run --once /locks/test --key "
	for _, test := range []struct {
		levels []string
		says   string // "" if it may be nested
	}{
		{[]string{run + "a", run + "b"}, ""},
		{[]string{run + "a", run + "a"}, "run a of " + testLock + " is held by the zkrecipes run above this one"},
		{[]string{run + "a", run + "b", run + "a --try"}, "run a of " + testLock + " is held by the zkrecipes run above this one"},
	} {
		t.Run(strings.Join(test.levels, ", "), func(t *testing.T) {
			t.Parallel()
			p := start(t, zktest.NewServer(t), nested(test.levels...)...)
			if test.says == "" {
				require.Equal(t, 5, p.end())
				return
			}
			require.Equal(t, exitUsage, p.end(), "the levels above pass it on")
			require.Contains(t, p.event("failed").Reason, test.says)
		})
	}
}

func TestTicks(t *testing.T) {
	at := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return moment
	}
	for _, test := range []struct {
		now      string
		interval time.Duration
		want     string
	}{
		{"2026-11-26T03:00:00Z", time.Hour, "2026-11-26T03:00:00Z"},
		{"2026-11-26T03:00:00.000000001Z", time.Hour, "2026-11-26T03:00:00Z"},
		{"2026-11-26T03:59:59.999999999Z", time.Hour, "2026-11-26T03:00:00Z"},
		{"2026-11-26T03:07:01Z", 5 * time.Minute, "2026-11-26T03:05:00Z"},
		{"2026-11-26T03:59:59.9Z", time.Second, "2026-11-26T03:59:59Z"},
		{"2026-11-26T00:30:00+01:00", 24 * time.Hour, "2026-11-25T00:00:00Z"}, // of UTC
		{"2026-11-26T01:30:00+01:00", 24 * time.Hour, "2026-11-26T00:00:00Z"},
		{"2026-11-26T03:00:00Z", 7 * 24 * time.Hour, "2026-11-26T00:00:00Z"}, // a Thursday, as 1970-01-01
		{"2026-11-25T23:59:59Z", 7 * 24 * time.Hour, "2026-11-19T00:00:00Z"},
		{"1970-01-01T00:00:13Z", 7 * time.Second, "1970-01-01T00:00:07Z"},
	} {
		tick := tickAt(at(test.now), test.interval)
		require.Equal(t, test.want, tick.Format(time.RFC3339Nano), test.now)
		require.Equal(t, tick, tickAt(tick, test.interval))
	}
}

// A tick is that of the start, and records are kept for longer than a tick.
func TestTickAndRetentionOfTheFlags(t *testing.T) {
	for flags, want := range map[string]time.Duration{
		"--key k": 24 * time.Hour, "--tick 5m": 24 * time.Hour, "--tick 168h": 336 * time.Hour,
		"--tick 24h --retention 25h": 25 * time.Hour, "--key k --retention 1m": time.Minute,
	} {
		before := time.Now()
		f, err := (&program{}).parseRun(slices.Concat(strings.Fields(flags), []string{"--once", testLock, "--", "true"}))
		require.NoError(t, err)
		require.Equal(t, want, f.keep(), flags)
		if f.tick.given {
			require.False(t, f.at.Before(tickAt(before, f.tick.value)))
			require.False(t, f.at.After(time.Now()))
			require.Equal(t, f.at.Format(time.RFC3339), f.run)
		}
	}
}

// What a job with --once adds.
func TestPromisedFieldsOfARun(t *testing.T) {
	text, err := quote.JSON(event{Event: "connected", Lock: "/l", Key: "a"}, "")
	require.NoError(t, err)
	require.Contains(t, string(text), `"event":"connected","lock":"/l","key":"a","session":""}`)
}
