package integration

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// The holder is frozen, and its session lives: revoke --force lets the next one have
// the lock at once. When the holder goes on, it stops its command and exits with 76.
func TestForceTakesALockFromAFrozenHolder(t *testing.T) {
	// Longer than the steps take on a busy machine.
	server := ensemble.New(t, ensemble.Options{NoSync: true, Config: map[string]string{"maxSessionTimeout": "40000"}}).Servers()[0]
	const path = "/locks/frozen"
	holder := startCommand(t, server, "run", path, "--session-timeout", "40s", "--", "sh", "-c", `echo $$ $ZKRECIPES_LOCK_TOKEN; exec cat`)
	pid, token := term(t, holder)
	owners, err := ensemble.Dump(within(t, limit), server)
	require.NoError(t, err)
	require.Len(t, owners, 1)
	next := startCommand(t, server, "run", path, "--label", "next", "--", "sh", "-c", `echo $$ $ZKRECIPES_LOCK_TOKEN; exec cat`)
	awaitInQueue(t, server, path, "next")
	require.NoError(t, holder.command.Process.Signal(syscall.SIGSTOP))
	out, code := output(t, server, "revoke", path, "--force", "--node", token.String())
	require.Equal(t, 0, code)
	assert.Contains(t, out, "taken away: ")
	_, later := term(t, next)
	assert.Greater(t, later, token)
	for session := range owners {
		require.Contains(t, connected(t, server), session, "that of the holder has not ended")
	}

	require.NoError(t, holder.command.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, 76, holder.exit(t))
	assert.Contains(t, holder.stderr.String(), "deleted by another client")
	gone(t, pid)
	require.NoError(t, next.stdin.Close())
	assert.Equal(t, 0, next.exit(t), "%s", &next.stderr)
	requireEmpty(t, server, path, soon)
}

// connected returns the sessions that have a connection to the server.
func connected(t *testing.T, server string) (all []int64) {
	t.Helper()
	connections, err := ensemble.Cons(within(t, limit), server)
	require.NoError(t, err)
	for _, c := range connections {
		if c.Session != 0 {
			all = append(all, c.Session)
		}
	}
	return all
}
