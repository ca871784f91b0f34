//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// nested returns the arguments of zkrecipes under zkrecipes, outermost first, with a
// command at the end that exits with 5. Each level is a verb and its flags.
func nested(levels ...string) []string {
	args := []string{}
	for i, level := range levels {
		if i > 0 {
			args = append(args, "--", os.Args[0])
		}
		verb, flags, _ := strings.Cut(level, " ")
		args = append(args, verb, "--json")
		args = append(args, strings.Fields(flags)...)
	}
	return slices.Concat(args, command("exit", "5"))
}

// To wait for a lock of an ancestor would be to wait for ourselves.
func TestWaitForAnAncestorIsRefused(t *testing.T) {
	const path, other = " --lock /locks/test", " --lock /locks/other"
	for _, levels := range [][]string{
		{"run" + path, "run" + path},
		{"run" + path, "run --try" + path},
		{"run" + path, "run --quiet" + path},
		{"run" + path, "run --timeout 1h" + path},
		{"run" + path, "run --shared" + path},
		{"run" + path, "run --write" + path},
		{"run --write" + path, "run --shared" + path},
		{"run" + other + path, "run" + path},
		{"run" + path, "run" + other + path},
		{"run --shared" + path, "run --lock /locks/z --try" + path},
		{"run" + path + other, "run --lock /locks/third", "run --shared" + other + " --lock /locks/z"},
		{"run --shared" + path, "run" + path},
		{"run --permits 1" + path, "run --permits 1" + path},
		{"run --permits 2" + path, "run --permits 2" + path, "run --permits 2" + path},
		{"run" + path, "run" + other, "run" + path},
		{"run" + other, "run" + path, "run --shared" + other},
		{"elect --path /locks/test", "elect --path /locks/test"},
		{"elect --path /locks/test", "run" + other, "elect --path /locks/test"},
	} {
		t.Run(strings.Join(levels, ", "), func(t *testing.T) {
			t.Parallel()
			p := start(t, zktest.NewServer(t), nested(levels...)...)
			require.Equal(t, exitUsage, p.end(), "the levels above pass it on")
			failed := p.event("failed")
			require.Equal(t, exitUsage, *failed.ExitCode)
			require.Equal(t, causeUsage, failed.Cause)
			verb, _, _ := strings.Cut(levels[0], " ")
			require.Contains(t, failed.Reason, "is held by the zkrecipes "+verb+" above this one (")
			require.Contains(t, failed.Reason, "would wait for itself")
			if len(levels) == 2 {
				require.Contains(t, failed.Reason, fmt.Sprintf(", pid %d)", p.cmd.Process.Pid))
			}
		})
	}
}

// What need not wait for an ancestor is not refused.
func TestWhatMayBeNested(t *testing.T) {
	const path, other = " --lock /locks/test", " --lock /locks/other"
	for _, levels := range [][]string{
		{"run" + path, "run" + other},
		{"run" + path, "run" + other, "run --lock /locks/third"},
		{"run --shared" + path, "run --shared" + path, "run --shared" + path},
		{"run --permits 2" + path, "run --permits 2" + path},
		{"run" + path, "run" + other + " --lock /locks/third"},
		{"run --shared" + path, "run --shared" + other + path, "run --shared --try" + path + other},
		{"elect --path /locks/test", "elect --path /locks/other"},
	} {
		t.Run(strings.Join(levels, ", "), func(t *testing.T) {
			t.Parallel()
			p := start(t, zktest.NewServer(t), nested(levels...)...)
			require.Equal(t, 5, p.end())
		})
	}
}

// Locks, permits and elections do not share a path, nested or not.
func TestOneKindToAPath(t *testing.T) {
	for _, levels := range [][]string{
		{"run --lock /locks/test", "elect --path /locks/test"},
		{"run --shared --lock /locks/test", "run --permits 2 --lock /locks/test"},
		{"elect --path /locks/test", "run --try --lock /locks/test"},
		{"run --permits 2 --lock /locks/test", "run --timeout 1m --lock /locks/test"},
	} {
		t.Run(strings.Join(levels, ", "), func(t *testing.T) {
			t.Parallel()
			p := start(t, zktest.NewServer(t), nested(levels...)...)
			require.Equal(t, exitUsage, p.end(), "the level above passes it on")
			failed := p.event("failed")
			require.Equal(t, causeUsage, failed.Cause)
			require.Contains(t, failed.Reason, "the path is in use by another recipe")
		})
	}
}

// A writer waits for the ancestor, and a reader below it would wait for the writer.
func TestReaderBehindAWriterThatWaitsForItsAncestor(t *testing.T) {
	server := zktest.NewServer(t)
	inner := command("zkrecipes", nested("run --shared --lock "+testLock)...)
	outer := start(t, server, flagsFor(inner, "--lock", testLock, "--shared")...)
	require.Equal(t, "ready", outer.line())
	writer := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock)...)
	awaitQueueLength(t, server, 2)
	_, err := outer.stdin.Write([]byte("!"))
	require.NoError(t, err)
	require.Equal(t, exitUsage, outer.end())
	require.Equal(t, 0, writer.end())
}

// nestedJob returns a job below others, with a recipe of the test.
func nestedJob(t *testing.T, env environ, flags string, c recipe) *job {
	t.Helper()
	p := &program{env: env}
	f, err := p.parseRun(slices.Concat(strings.Fields(flags), []string{"--lock", testLock, "--", "true"}))
	require.NoError(t, err)
	j := &job{program: p, jobFlags: &f.jobFlags, recipe: c, report: newReporter(os.Stderr, testLock, true, true)}
	t.Cleanup(j.report.close)
	return j
}

// The same if the writer comes after the reader has checked.
func TestWriterThatArrivesAfterTheCheck(t *testing.T) {
	reader := lease.Contender{Kind: lease.KindReader, Session: 7, Holding: true}
	queue := []lease.Contender{reader}
	shared, err := (&runFlags{shared: true, jobFlags: jobFlags{paths: pathList{testLock}}}).
		newRecipe(connectClient(t, zktest.NewServer(t)))
	require.NoError(t, err)
	shared.contenders = func(context.Context) ([]lease.Contender, error) { return queue, nil }
	shared.acquire = func(_ context.Context, timeout time.Duration) (heldLease, error) {
		require.Zero(t, timeout, "there is nothing to wait for")
		queue = append(queue, lease.Contender{Kind: lease.KindWriter, Session: 8})
		return nil, &lease.TimeoutError{Path: testLock, Ahead: 2}
	}
	j := nestedJob(t, environ{envAncestors + "=0x7:1"}, "--shared", shared)
	_, err = j.acquireAnnounced(t.Context(), waitLimit{})
	require.Equal(t, exitUsage, exitCode(err, exitConflict), "%v", err)
}

// Other clients do not count as ancestors, nor those that have ended.
func TestAncestorsThatHoldNothing(t *testing.T) {
	server := zktest.NewServer(t)
	holder := hold(t, server)
	session := holder.event("acquired").Session
	for _, value := range []string{"", "0x1:1", "garbage", ",,", ":", "0x:1", session, session + ":", session + "0:1", strings.TrimPrefix(session, "0x") + ":1"} {
		t.Setenv(envAncestors, value)
		p := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--try")...)
		require.Equal(t, exitConflict, p.end(), value)
	}
	t.Setenv(envAncestors, "garbage,0x1:2,"+session+":77,0x3:4")
	p := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--try")...)
	require.Equal(t, exitUsage, p.end())
	require.Contains(t, p.event("failed").Reason, "pid 77")
	// The variable still names an ancestor that has released the lock.
	holder.signal(syscall.SIGTERM)
	require.Equal(t, 3, holder.end())
	next := hold(t, server)
	p = start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--try")...)
	require.Equal(t, exitConflict, p.end())
	next.signal(syscall.SIGTERM)
	require.Equal(t, 3, next.end())
}

// Without ancestors no server is asked; with some, an answer is needed.
func TestCheckOfAncestors(t *testing.T) {
	asked := 0
	c := recipe{
		kind: lease.KindMutex, mustWait: anyContender,
		contenders: func(context.Context) ([]lease.Contender, error) { asked++; return nil, errFake },
		acquire:    func(context.Context, time.Duration) (heldLease, error) { return nil, errNoContender },
	}
	for env, want := range map[string]error{"": errNoContender, "0x1:1": errFake} {
		j := nestedJob(t, environ{envAncestors + "=" + env}, "--quiet", c)
		_, err := j.acquireAnnounced(t.Context(), waitLimit{})
		require.ErrorIs(t, err, want)
	}
	require.Equal(t, 1, asked)
}

// The check is part of the wait limit.
func TestCheckOfAncestorsIsBounded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Server.On(zktest.OpSync, testLock).Client("a").Do(zktest.Mute)
		w.Server.On(zktest.OpConnect, "").Client("a").Nth(2).Always().Do(zktest.Mute)
		j, f := virtual(t, w, "a", "--try")
		j.env = environ{envAncestors + "=0x1:1"}
		took, err := awaited(t, j, f)
		requireUnreachable(t, err)
		require.LessOrEqual(t, took, 3*time.Second)
	})
}

// A job may wait for a permit that another client holds, also beside an ancestor.
func TestPermitOfAnotherClientBesideAnAncestor(t *testing.T) {
	server := zktest.NewServer(t)
	other := hold(t, server, "--permits", "2")
	p := start(t, server, nested("run --permits 2 --lock "+testLock, "run --permits 2 --lock "+testLock)...)
	require.Equal(t, 2, p.event("waiting").Ahead)
	other.signal(syscall.SIGTERM)
	require.Equal(t, 3, other.end())
	require.Equal(t, 5, p.end())
}
