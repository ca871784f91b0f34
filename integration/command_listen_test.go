package integration

import (
	"encoding/json"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// elect --listen outlives a restart of the server: it says that the leader may have
// changed, prints the one that is there again, and goes on.
func TestListenOutlivesARestartOfTheServer(t *testing.T) {
	// Longer than a server takes to start on a busy machine.
	servers := ensemble.New(t, ensemble.Options{NoSync: true, Config: map[string]string{"maxSessionTimeout": "40000"}})
	server := servers.Servers()[0]
	const path = "/elections/heard"
	client := connectWith(t, framework.Config{Servers: []string{server}, SessionTimeout: 40 * time.Second})
	require.NoError(t, client.CreateParents(within(t, limit), path+"/x"))
	join := func(id string) string { // its node is there as long as its session, restart or not
		created, err := client.CreateProtected(within(t, limit), path+"/latch-", []byte(id), framework.EphemeralSequential)
		require.NoError(t, err)
		return created.Path
	}
	alpha := join("alpha")
	listener := startCommand(t, server, "elect", "--listen", path, "--json", "--session-timeout", "40s")
	heard := func(event string) (leader string) {
		t.Helper()
		var line struct {
			Event  string
			Leader *struct{ ID string }
		}
		require.NoError(t, json.Unmarshal([]byte(listener.line(t)), &line))
		require.Equal(t, event, line.Event)
		if line.Leader == nil {
			return ""
		}
		return line.Leader.ID
	}
	require.Equal(t, "alpha", heard("leader"))
	require.NoError(t, servers.Node(0).Kill())
	heard("suspended")
	require.NoError(t, servers.Node(0).Start(within(t, limit)))
	require.NoError(t, servers.AwaitReady(within(t, limit)))
	heard("connected")
	require.Equal(t, "alpha", heard("leader"))
	join("beta")
	require.NoError(t, client.Delete(within(t, limit), alpha, framework.AnyVersion))
	require.Equal(t, "beta", heard("leader"))
	require.NoError(t, listener.command.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, listener.exit(t))
	assert.Empty(t, listener.stderr.String())
}
