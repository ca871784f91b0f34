//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

func TestExitCodes(t *testing.T) {
	broken := &framework.ConnectError{}
	refused := &lease.TimeoutError{Ahead: -1, Err: &framework.ConnectError{
		Attempts: []framework.ConnectAttempt{{Addr: "a:1", Err: fmt.Errorf("x: %w", framework.ErrAuthFailed)}},
	}}
	for _, test := range []struct {
		err   error
		cause string
		code  int
	}{
		{nil, "", 0},
		{flag.ErrHelp, "", 0},
		{errNoContender, causeNoContender, 1},
		{usageErrorf("no"), causeUsage, 64},
		{fmt.Errorf("x: %w", framework.ErrInvalidPath), causeUsage, 64},
		{fmt.Errorf("x: %w", once.ErrForgotten), causeUsage, 64},
		{fmt.Errorf("x: %w", once.ErrTooManyRecords), causeUsage, 64},
		{broken, causeUnreachable, 69},
		{fmt.Errorf("connect: %w: %w", unanswered("no session within 1s"), broken), causeUnreachable, 69},
		{unanswered("no answer"), causeUnreachable, 69},
		{fmt.Errorf("acquire: %w", errUnanswered), causeUnreachable, 69},
		{framework.ErrTrustExpired, causeUnreachable, 69},
		{errFake, causeOther, 69},
		// A server did answer.
		{&framework.OpError{Outcome: framework.Failed, Err: framework.ErrReplyTooLarge}, causeOther, 69},
		// No client ahead is known.
		{&lease.TimeoutError{Ahead: -1, Err: broken}, causeUnreachable, 69},
		{&lease.TimeoutError{Ahead: -1}, causeUnreachable, 69},
		// A client was ahead, but at the end no server could confirm it.
		{&lease.TimeoutError{Ahead: 2, Err: broken}, causeUnreachable, 69},
		{&unreachableError{&lease.TimeoutError{Ahead: 2}, errUnanswered}, causeUnreachable, 69},
		{&lease.TimeoutError{Ahead: 0}, causeHeld, 9},
		// Nobody is ahead. Of any of some stripes, clients may hold all by now.
		{&lease.TimeoutError{Ahead: 0, Err: fmt.Errorf("%w of 15s", lease.ErrLockDelay)}, causeClosed, 9},
		{&lease.TimeoutError{Ahead: -1, Err: fmt.Errorf("%w of 15s", lease.ErrLockDelay)}, causeClosed, 9},
		{&lease.TimeoutError{Ahead: 2, Err: fmt.Errorf("%w of 15s", lease.ErrLockDelay)}, causeHeld, 9},
		{&closedError{timeout: &lease.TimeoutError{Ahead: 2, Err: lease.ErrLockDelay}}, causeClosed, 9},
		{fmt.Errorf("x: %w", lease.ErrLockDelayMismatch), causeUsage, 64},
		// An earlier failure did not end the wait.
		{&lease.TimeoutError{Ahead: 2, Err: framework.ErrSessionExpired}, causeHeld, 9},
		{fmt.Errorf("x: %w", &lease.TimeoutError{Ahead: 1, Waited: time.Second}), causeHeld, 9},
		{fmt.Errorf("x: %w", lease.ErrLost), causeLost, 76},
		{fmt.Errorf("%w: %w", lease.ErrLost, framework.ErrTrustExpired), causeLost, 76},
		{fmt.Errorf("x: %w", framework.ErrAuthFailed), causeDenied, 77},
		{refused, causeDenied, 77},
		{&unreachableError{refused, refused.Err}, causeDenied, 77},
		{&lease.TimeoutError{Ahead: 1, Err: errFake}, causeHeld, 9},
		{&framework.OpError{Err: framework.ErrNoAuth}, causeDenied, 77},
		{&commandError{"x", exitCannotRun, errFake}, causeCommand, 126},
		{&commandError{"x", exitNotFound, errFake}, causeCommand, 127},
		{fmt.Errorf("x: %w", &signalError{syscall.SIGINT}), causeSignal, 130},
	} {
		cause, code := classify(test.err, 9)
		require.Equal(t, test.code, code, "%v", test.err)
		require.Equal(t, test.cause, cause, "%v", test.err)
		require.Equal(t, code, exitCode(test.err, 9))
	}
}

func TestEnvironment(t *testing.T) {
	env := environ{"A=1", envLockToken + "=old", "B=2", envLockToken + "=older", envLockTokenLike + "=kept", "A=3"}
	require.Equal(t, "3", env.get("A"))
	require.Empty(t, env.get("C"))
	require.Equal(t, environ{
		"A=1", "B=2", envLockTokenLike + "=kept", "A=3",
		envLockPath + "=/l", envLockToken + "=42", envLockSession + "=0xff00000000000001",
		envAncestors + "=" + fmt.Sprint("0xff00000000000001:", os.Getpid()),
	}, env.forCommand([]string{"/l"}, []lease.Token{42}, -0x00ffffffffffffff))
	require.Len(t, env, 6, "the original must not change")
}

// A command sees none of the locks of a zkrecipes above the one that runs it.
func TestEnvironmentWithSeveralLocks(t *testing.T) {
	locks := []string{"/b c", "/a\nd", "/e"}
	outer := environ{"A=1"}.forCommand(locks, []lease.Token{7, 5, 6}, 1)
	for i, want := range map[string]string{
		envLockCount: "3", envLockPath: "/b c", envLockToken: "7", envLockPath + "_1": "/b c", envLockToken + "_1": "7",
		envLockPath + "_2": "/a\nd", envLockToken + "_2": "5", envLockPath + "_3": "/e", envLockToken + "_3": "6",
	} {
		require.Equal(t, want, outer.get(i), i)
	}
	both := outer.forCommand(locks[:2], []lease.Token{8, 9}, 2)
	require.Equal(t, "9", both.get(envLockToken+"_2"))
	require.Empty(t, both.get(envLockPath+"_3"))
	one := both.forCommand(locks[:1], []lease.Token{10}, 3)
	require.Equal(t, environ{
		"A=1", envLockPath + "=/b c", envLockToken + "=10", envLockSession + "=0x3",
		envAncestors + "=" + fmt.Sprintf("0x1:%[1]d,0x2:%[1]d,0x3:%[1]d", os.Getpid()),
	}, one)
}

// A run is of a key or of a tick, and the work under a further lock is a part of it.
func TestEnvironmentWithARun(t *testing.T) {
	outer := environ{"A=1"}.forCommand([]string{"/j"}, []lease.Token{7}, 1).withRun(&recordedRun{text: "k"})
	require.Equal(t, "k", outer.get(envLockKey))
	inner := outer.forCommand([]string{"/l"}, []lease.Token{8}, 2).withRun(nil)
	require.Equal(t, "k", inner.get(envLockKey))
	tick := inner.withRun(&recordedRun{text: "2026-11-26T03:00:00Z", tick: true})
	require.Equal(t, "2026-11-26T03:00:00Z", tick.get(envLockTick))
	require.NotContains(t, tick, envLockKey+"=k")
	require.NotContains(t, tick.withRun(&recordedRun{text: "k"}), envLockTick+"=2026-11-26T03:00:00Z")
}

const envLockTokenLike = envLockToken + "S"

// Of a chain of attempts only what happened at the servers is reported: each attempt
// repeats the rest.
func TestUnreachableErrorDoesNotRepeatItself(t *testing.T) {
	servers := &framework.ConnectError{Attempts: []framework.ConnectAttempt{{Addr: "zk1:2181", Err: errFake}}}
	timeout := &lease.TimeoutError{Path: "/l", Ahead: 1, Waited: 3 * time.Second}
	const begins = "no server answers, so it is not known whether /l is free; gave up after 3s (1 ahead when one last did): "
	require.EqualError(t, &unreachableError{timeout, fmt.Errorf("no answer: last error: sync /l: no answer: %w", servers)}, begins+servers.Error())
	require.EqualError(t, &unreachableError{timeout, errFake}, begins+errFake.Error())
}

func TestErrorsNameNoFieldsOfPackages(t *testing.T) {
	for _, secret := range []string{"digest:nocolon", "digest:"} {
		code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1", envAuth + "=" + secret}, "ls", "/l")
		require.Equal(t, exitUsage, code)
		require.NotContains(t, strings.ToLower(stderr), "config.")
	}
}
