package integration

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// A command ends while the server is down. The lock is free when that is up again, and
// not only when the session has ended, which a server that starts keeps for its whole
// timeout.
func TestCommandEndsWhileTheServerIsDown(t *testing.T) {
	// Longer than a server takes to start on a busy machine.
	servers := ensemble.New(t, ensemble.Options{NoSync: true, Config: map[string]string{"maxSessionTimeout": "40000"}})
	server := servers.Servers()[0]
	path, err := built()
	require.NoError(t, err)
	run := exec.CommandContext(within(t, 2*limit), path, "run", "/locks/outage", "--json", "--session-timeout", "40s", "--", "sh", "-c", child+"; exit 7")
	run.Env = append(os.Environ(), "ZKRECIPES_SERVERS="+server)
	stdin, err := run.StdinPipe()
	require.NoError(t, err)
	stderr, err := run.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	lines := bufio.NewScanner(stderr)
	await := func(event string) (reason string) {
		for lines.Scan() {
			var e struct{ Event, Reason string }
			require.NoError(t, json.Unmarshal(lines.Bytes(), &e), "%s", lines.Text())
			if e.Event == event {
				return e.Reason
			}
		}
		require.Fail(t, "no more output", "no event %q", event)
		return ""
	}
	await("acquired")
	require.NoError(t, servers.Node(0).Kill())
	require.NoError(t, stdin.Close())
	await("releasing")
	require.NoError(t, servers.Node(0).Start(within(t, limit)))
	assert.Empty(t, await("released"))
	var exit *exec.ExitError
	require.ErrorAs(t, run.Wait(), &exit)
	assert.Equal(t, 7, exit.ExitCode())
	require.NoError(t, servers.AwaitReady(within(t, limit)))
	next := startCommand(t, server, "run", "/locks/outage", "--try", "--", "true")
	assert.Equal(t, 0, next.exit(t), "%s", &next.stderr)
}
