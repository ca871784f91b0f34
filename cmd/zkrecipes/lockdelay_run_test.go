//go:build unix

package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// kinds are the command lines of all that has a lock-delay.
var kinds = map[string]string{
	"mutex":     "run --lock " + testLock,
	"writer":    "run --write --lock " + testLock,
	"reader":    "run --lock " + testLock, // behind one
	"permit":    "run --permits 1 --lock " + testLock,
	"stripe":    "run --stripes 2 --key k --lock " + testLock,
	"any":       "run --stripes 1 --lock " + testLock,
	"run":       "run --key k --once " + testLock,
	"tick":      "run --tick 1000000h --once " + testLock,
	"several":   "run --lock /locks/other --lock " + testLock,
	"candidate": "elect --path " + testLock,
}

// withDelay is a command line of one of the kinds.
func withDelay(kind, delay string, command []string, flags ...string) []string {
	return slices.Concat(strings.Fields(kinds[kind]), []string{"--json", "--lock-delay", delay}, flags, command)
}

// endWithin has the session of a holder expire, as if its machine had died. Its command
// has the time that a loss leaves it.
func endWithin(t *testing.T, server *zktest.Server, kind, delay string, flags ...string) {
	t.Helper()
	p := start(t, server, withDelay(kind, delay, command("polite"), flags...)...)
	require.Equal(t, "ready", p.line())
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, "got terminated", p.line())
	if strings.HasPrefix(kinds[kind], "run") {
		require.Equal(t, exitLost, p.end())
		return
	}
	p.event("campaigning")
	p.signal(syscall.SIGTERM)
	require.Equal(t, exitSignal+int(syscall.SIGTERM), p.end())
}

// Nobody holds it, and it is not to be had: the exit code, the event and the text say
// so, for how long, and after whose end.
func TestLockThatIsClosed(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			name := map[bool]string{true: "--label", false: "--id"}[strings.HasPrefix(kinds[kind], "run")]
			flags := []string{name, "nightly backup"}
			if kind == "reader" {
				flags = append(flags, "--shared")
			}
			endWithin(t, server, kind, "1h", flags...)
			for _, wait := range []string{"--try", "--timeout"} {
				args := []string{wait}
				if wait == "--timeout" {
					args = []string{wait, "6s"}
				} else if kind == "candidate" {
					continue
				}
				p := start(t, server, withDelay(kind, "1h", command("exit", "0"), args...)...)
				require.Equal(t, exitConflict, p.end())
				if wait == "--timeout" {
					closed := p.event("closed")
					require.Equal(t, "nightly backup", closed.Holder.Who)
					require.InDelta(t, 3600, closed.LockDelay, 0)
					require.Zero(t, closed.Ahead)
				}
				failed := p.event("failed")
				require.Equal(t, causeClosed, failed.Cause)
				require.Contains(t, failed.Reason, "no client is ahead, but it is closed for 1h0m0s (--lock-delay), because nightly backup")
				require.Contains(t, failed.Reason, " ended without releasing it (node _c_")
				require.Contains(t, failed.Reason, "): who waits longer than that gets it, and so does who comes after 20")
				require.Zero(t, failed.Ahead)
				require.InDelta(t, 3600, failed.LockDelay, 0)
				require.Equal(t, "nightly backup", failed.Holder.Who)
				require.Equal(t, exitConflict, *failed.ExitCode)
				if kind == "several" {
					require.Len(t, failed.Contended, 1)
				}
			}
			require.Empty(t, ephemerals(server))
		})
	}
}

// The texts without --json, and another exit code.
func TestTextAboutALockThatIsClosed(t *testing.T) {
	server := zktest.NewServer(t)
	endWithin(t, server, "mutex", "1h", "--label", hostile)
	p := start(t, server, slices.Concat([]string{"run", "--lock", testLock, "--lock-delay", "1h", "--try", "--conflict-exit-code", "9"}, command("exit", "0"))...)
	require.Equal(t, 9, p.end())
	requireLines(t, 1, p.said(1)[0])
	require.Regexp(t, `^zkrecipes: the command was not started: `+testLock+`: not acquired in time: no client is ahead, but it is closed for 1h0m0s \(--lock-delay\), because `, p.said(1)[0])
	p = start(t, server, slices.Concat([]string{"run", "--lock", testLock, "--lock-delay", "1h", "--timeout", "3s"}, command("exit", "0"))...)
	require.Equal(t, exitConflict, p.end())
	said := p.said(2)
	require.Regexp(t, `^zkrecipes: waiting for `+testLock+`: it is closed for 1h0m0s \(--lock-delay\), because `, said[0])
	require.Regexp(t, `: waited [\d.]+m?s: no client is ahead, but it is closed for 1h0m0s `, said[1])
	for _, line := range said {
		requireLines(t, 1, line)
	}
}

// Who waits for long enough gets it.
func TestRunAfterTheLockDelay(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	endWithin(t, server, "mutex", "2s")
	p := start(t, server, withDelay("mutex", "2s", command("exit", "5"))...)
	p.event("closed")
	require.Equal(t, 5, p.end())
	require.GreaterOrEqual(t, p.event("acquired").Waited, 2.0)
	p = start(t, server, withDelay("mutex", "2s", command("exit", "5"), "--try")...)
	require.Equal(t, 5, p.end(), "that one has released it")
}

// A lock that was lost is closed, although its session lasts and the command has ended;
// not one whose command was stopped in time.
func TestLockDelayAfterTheCommandHasEnded(t *testing.T) {
	t.Parallel()
	for _, lose := range []string{"", "--max-hold"} {
		server := zktest.NewServer(t)
		flags := []string{"--grace", "1s"}
		if lose != "" {
			flags = append(flags, lose, "5s")
		}
		p := start(t, server, withDelay("mutex", "1h", command("polite"), flags...)...)
		require.Equal(t, "ready", p.line())
		if lose == "" {
			require.NoError(t, connectClient(t, server).Delete(t.Context(), ephemerals(server)[0], framework.AnyVersion))
		}
		require.Equal(t, "got terminated", p.line())
		require.Equal(t, exitLost, p.end())
		next := start(t, server, withDelay("mutex", "1h", command("exit", "0"), "--try")...)
		if lose != "" {
			require.Equal(t, 0, next.end())
			continue
		}
		require.Equal(t, exitConflict, next.end())
		require.Equal(t, causeClosed, next.event("failed").Cause)
	}
}

// All have to give the same, and permits are of the layout that has it.
func TestDisagreementOnTheLockDelay(t *testing.T) {
	for _, test := range []struct{ holder, flags, says string }{
		{"--lock-delay 1h", "--lock-delay 2h", "2h0m0s given, 1h0m0s stored"},
		{"--permits 2 --lock-delay 1h", "--permits 2 --lock-delay 30m", "30m0s given, 1h0m0s stored"},
		{"--permits 2 --lock-delay 1h", "--permits 2", "a semaphore of the other layout"},
		{"--permits 2", "--permits 2 --lock-delay 1h", "a semaphore of the other layout"},
	} {
		server := zktest.NewServer(t)
		holder := hold(t, server, strings.Fields(test.holder)...)
		for _, wait := range []string{"--try", "--timeout=10s"} {
			if wait == "--try" && !strings.HasPrefix(test.says, "a ") {
				continue // that it is held comes first
			}
			p := start(t, server, flagsFor(command("exit", "0"), append(strings.Fields(test.flags), "--lock", testLock, wait, "--conflict-exit-code", "9")...)...)
			require.Equal(t, exitUsage, p.end(), test.says)
			failed := p.event("failed")
			require.Equal(t, causeUsage, failed.Cause)
			require.Contains(t, failed.Reason, test.says)
			require.Regexp(t, `(all who give a --lock-delay for `+testLock+` have|--permits with --lock-delay .*: all have) to give the same( --lock-delay)?$`, failed.Reason)
		}
		holder.signal(syscall.SIGTERM)
		require.Equal(t, 3, holder.end())
	}
}

// A holder that has ended keeps out only those that it would keep out if it lasted.
func TestRunsThatAnEndDoesNotConcern(t *testing.T) {
	server := zktest.NewServer(t)
	endWithin(t, server, "mutex", "1h", "--shared")
	p := start(t, server, withDelay("mutex", "1h", command("exit", "0"), "--shared")...)
	require.Equal(t, 0, p.end())
	for e := range p.events {
		require.NotEqual(t, "closed", e.Event)
	}

	server = zktest.NewServer(t)
	endWithin(t, server, "mutex", "1h", "--permits", "2")
	holder := start(t, server, withDelay("mutex", "1h", command("polite"), "--permits", "2", "--label", "holder")...)
	require.Equal(t, "ready", holder.line())
	p = start(t, server, withDelay("mutex", "1h", command("exit", "0"), "--permits", "2", "--try")...)
	require.Equal(t, exitConflict, p.end())
	failed := p.event("failed")
	require.Equal(t, causeClosed, failed.Cause)
	require.Contains(t, failed.Reason, "1 ahead, and it is closed for 1h0m0s")
	require.Equal(t, 1, failed.Ahead)
}

// Of any of some stripes, all of which are held or closed.
func TestStripesThatAreClosed(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	stripes := func(flags ...string) *started {
		return start(t, server, withDelay("mutex", "1h", command("polite"), append(flags, "--stripes", "2")...)...)
	}
	endWithin(t, server, "mutex", "1h", "--stripes", "2", "--label", "ended")
	holder := stripes("--label", "holder")
	require.Equal(t, "ready", holder.line())
	p := stripes("--try")
	require.Equal(t, exitConflict, p.end())
	failed := p.event("failed")
	require.Equal(t, causeClosed, failed.Cause)
	require.Equal(t, "ended", failed.Holder.Who)
	require.Equal(t, 1, failed.Ahead)
	p = stripes("--timeout", "4s")
	require.Equal(t, exitConflict, p.end())
	require.Contains(t, []string{causeClosed, causeHeld}, p.event("failed").Cause, "by where it has waited")
	holder.signal(syscall.SIGTERM)
	require.Equal(t, 3, holder.end())
	require.Equal(t, 0, start(t, server, withDelay("mutex", "1h", command("exit", "0"), "--stripes", "2")...).end(), "the other is free")
}

// Another client could remove the records of holders.
func TestLockDelayWithCredentials(t *testing.T) {
	for _, kind := range []string{"mutex", "permit", "stripe", "any", "run", "candidate", "several"} {
		t.Run(kind, func(t *testing.T) {
			server := zktest.NewServer(t)
			t.Setenv(envAuth, "digest:me:hunter2")
			other, ours := connectClient(t, server), connectClient(t, server, us)
			require.Equal(t, 5, start(t, server, withDelay(kind, "1h", command("exit", "5"))...).end())
			at := testLock + map[string]string{"stripe": "/stripe-0000", "any": "/stripe-0000", "run": "/k.key"}[kind] + "/lock-delay"
			_, err := other.Create(t.Context(), at+"/x", nil, framework.Persistent)
			require.ErrorIs(t, err, framework.ErrNoAuth)
			_, err = other.Set(t.Context(), at, nil, framework.AnyVersion)
			require.ErrorIs(t, err, framework.ErrNoAuth)

			_, err = ours.SetACL(t.Context(), at, append(framework.CreatorACL(framework.PermAll), framework.WorldACL(framework.PermRead|framework.PermDelete)...), framework.AnyVersion)
			require.NoError(t, err)
			p := start(t, server, withDelay(kind, "1h", command("exit", "5"))...)
			require.Equal(t, exitNoPerm, p.end())
			require.Contains(t, p.event("failed").Reason, "the ACL of "+at+" has world:anyone:dr")
		})
	}
}

// Programs that use the library wait, as runs do.
func TestLockDelayOfAProgram(t *testing.T) {
	server := zktest.NewServer(t)
	endWithin(t, server, "mutex", "1h")
	client := connectClient(t, server)
	m, err := mutex.New(client, testLock)
	require.NoError(t, err)
	_, err = m.Acquire(t.Context(), time.Second)
	require.ErrorIs(t, err, lease.ErrLockDelay, "it obeys the one that is stored")
	m, err = mutex.New(client, testLock, mutex.WithLockDelay(time.Hour))
	require.NoError(t, err)
	_, err = m.Acquire(t.Context(), 0)
	require.ErrorIs(t, err, lease.ErrLockDelay)
}
