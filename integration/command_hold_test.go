package integration

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// holds waits until "hold" prints that it holds a lock, and returns the token.
func holds(t *testing.T, r *running, path string) lease.Token {
	t.Helper()
	var token int64
	_, err := fmt.Sscanf(r.line(t), "%d "+path, &token)
	require.NoError(t, err)
	return lease.Token(token)
}

// hold holds until a signal, and then the next one is granted the lock. One that is
// frozen for longer than its session says that it has lost it, and exits with 76.
func TestHoldEndsWithASignalOrItsSession(t *testing.T) {
	_, server := single(t)
	const path = "/locks/held"
	first := startCommand(t, server, "hold", path)
	token := holds(t, first, path)
	second := startCommand(t, server, "hold", path, "--label", "second", "--session-timeout", "4s")
	awaitInQueue(t, server, path, "second")
	require.NoError(t, first.command.Process.Signal(syscall.SIGTERM))
	next := holds(t, second, path)
	assert.Greater(t, next, token)
	assert.Equal(t, 0, first.exit(t), "%s", &first.stderr)

	require.NoError(t, second.command.Process.Signal(syscall.SIGSTOP))
	held, err := newMutex(t, connect(t, server), path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	assert.Greater(t, held.Token(), next)
	require.NoError(t, second.command.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, 76, second.exit(t))
	assert.Contains(t, second.stderr.String(), "WITHOUT THE LOCK")
	require.NoError(t, held.Err())
	require.NoError(t, held.Release())
	requireEmpty(t, server, path, soon)
}
