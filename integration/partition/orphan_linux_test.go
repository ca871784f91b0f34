package partition

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// victimEnv is the environment variable that makes this binary the one that is killed.
const victimEnv = "ZKRECIPES_TEST_VICTIM"

// beVictim runs two processes in namespaces, as a test does. The second is not notified
// when its parent dies.
func beVictim() error {
	cmd := exec.Command("sh", "-c", "sleep 600 & echo >&3; wait")
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "alive")}
	return runWithin(cmd)
}

// All processes in the namespaces of a test binary that is killed have the writing end
// of a pipe: it closes when the last has ended.
func TestNothingOutlivesTheTestBinary(t *testing.T) {
	t.Parallel()
	requireTools(t)
	alive, end, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = alive.Close() }()
	require.NoError(t, alive.SetDeadline(time.Now().Add(limit)))

	binary := exec.Command(os.Args[0]) //nolint:gosec // this very binary
	binary.Env = append(os.Environ(), victimEnv+"=1")
	binary.ExtraFiles = []*os.File{end}
	require.NoError(t, binary.Start())
	require.NoError(t, end.Close())
	first := make([]byte, 1)
	_, err = io.ReadFull(alive, first)
	require.NoError(t, err, "no process has started in the namespaces")

	require.NoError(t, binary.Process.Kill())
	require.Error(t, binary.Wait())
	_, err = io.ReadAll(alive)
	require.NoError(t, err, "a process lives on")
}
