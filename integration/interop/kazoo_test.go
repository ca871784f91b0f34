package interop

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

const installKazoo = "install it with .ci/install-clients, or on Debian and Ubuntu with " +
	"apt-get install --no-install-recommends python3-kazoo"

// TestTranscriptKazoo runs calls, transactions, watches and recipes of kazoo, Python's
// client.
func TestTranscriptKazoo(t *testing.T) {
	python := os.Getenv("ZKRECIPES_CLIENT_PYTHON")
	if python == "" {
		python = "/usr/bin/python3" // the one of Debian's packages, not another one in PATH
	}
	out, err := exec.Command(python, "-c", "import kazoo").CombinedOutput() //nolint:gosec // the command is the test's own
	require.NoError(t, err, "no kazoo on this host: %s\n%s", installKazoo, out)
	requireTranscript(t, func(t *testing.T, addr string) []string {
		return start(t, false, python, "-B", "python/kazoo_script.py", addr).requireRest(t)
	})
}
