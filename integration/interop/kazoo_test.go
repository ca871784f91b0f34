package interop

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

const installKazoo = "install it with .ci/install-clients, or on Debian and Ubuntu with " +
	"apt-get install --no-install-recommends python3-kazoo"

// requireKazoo returns the Python that has kazoo.
func requireKazoo(t *testing.T) string {
	t.Helper()
	python := os.Getenv("ZKRECIPES_CLIENT_PYTHON")
	if python == "" {
		python = "/usr/bin/python3" // the one of Debian's packages, not another one in PATH
	}
	out, err := exec.Command(python, "-c", "import kazoo").CombinedOutput() //nolint:gosec // the command is the test's own
	require.NoError(t, err, "no kazoo on this host: %s\n%s", installKazoo, out)
	return python
}

// TestTranscriptKazoo runs calls, transactions, watches and recipes of kazoo, Python's
// client.
func TestTranscriptKazoo(t *testing.T) {
	python := requireKazoo(t)
	requireTranscript(t, func(t *testing.T, addr string) []string {
		return start(t, false, python, "-B", "python/kazoo_script.py", addr).requireRest(t)
	})
}

// kazooHolds starts a Python process that tries to lock. Its first line says whether it
// holds the lock.
func kazooHolds(t *testing.T, addr string, patterns ...string) *program {
	t.Helper()
	return start(t, false, requireKazoo(t), append([]string{"-B", "python/kazoo_hold.py", addr, sharedPath}, patterns...)...)
}

// The Lock of kazoo has other names for its nodes. A mutex of ours does not wait for it,
// and it waits for a mutex only if it is told to. The Lock of go-zookeeper does wait.
func TestLockOfKazooIsNotOfTheSameQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		m := newMutex(t, connect(t, addr), sharedPath)
		held, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		require.Equal(t, []string{"busy"}, kazooHolds(t, addr, "lock-").requireRest(t), "it was told to wait")
		python := kazooHolds(t, addr)
		require.Equal(t, "held", python.line(t), "two hold it")
		require.NoError(t, held.Release())

		again, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err, "two hold it")
		require.NoError(t, again.Release())
		theirs, _ := theirLock(t, addr)
		locked := lockLater(theirs)
		awaitChildren(t, connect(t, addr), sharedPath, 2)
		select {
		case err := <-locked:
			require.Fail(t, "go-zookeeper does not wait for kazoo", "%v", err)
		default:
		}
		require.NoError(t, python.input.Close())
		require.Empty(t, python.requireRest(t))
		requireLocked(t, locked)
		require.NoError(t, theirs.Unlock())
	})
}
