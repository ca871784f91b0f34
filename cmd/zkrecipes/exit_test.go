//go:build unix

package main

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{flag.ErrHelp, 0},
		{usageErrorf("no"), 64},
		{fmt.Errorf("x: %w", framework.ErrInvalidPath), 64},
		{&framework.ConnectError{}, 69},
		{errFake, 69},
		{&lease.TimeoutError{Ahead: -1, Err: &framework.ConnectError{}}, 69},
		{&lease.TimeoutError{Ahead: 2, Err: &framework.ConnectError{}}, 9},
		{fmt.Errorf("x: %w", &lease.TimeoutError{Ahead: 1, Waited: time.Second}), 9},
		{fmt.Errorf("x: %w", lease.ErrLost), 76},
		{fmt.Errorf("x: %w", framework.ErrAuthFailed), 77},
		{&framework.OpError{Err: framework.ErrNoAuth}, 77},
		{&commandError{"x", exitCannotRun, errFake}, 126},
		{&commandError{"x", exitNotFound, errFake}, 127},
		{fmt.Errorf("x: %w", &signalError{syscall.SIGINT}), 130},
	} {
		require.Equal(t, test.code, exitCode(test.err, 9), "%v", test.err)
	}
}

func TestEnvironment(t *testing.T) {
	env := environ{"A=1", envLockToken + "=old", "B=2", envLockToken + "=older", envLockTokenLike + "=kept", "A=3"}
	require.Equal(t, "3", env.get("A"))
	require.Empty(t, env.get("C"))
	require.Equal(t, environ{
		"A=1", "B=2", envLockTokenLike + "=kept", "A=3",
		envLockPath + "=/l", envLockToken + "=42", envLockSession + "=0xff00000000000001",
	}, env.forCommand("/l", 42, -0x00ffffffffffffff))
	require.Len(t, env, 6, "the original must not change")
}

const envLockTokenLike = envLockToken + "S"
