package integration

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// The servers of docs/operations.md are restarted one after the other, the leader last:
// a command and a program keep what they hold, and others take turns all the time.
func TestRollingRestart(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true, Config: zooCfgOfThePage(t)})
	all := strings.Join(servers.Servers(), ",")
	patient := framework.Config{Servers: servers.Servers(), SessionTimeout: 40 * time.Second} // a busy machine restarts slowly
	command := startCommand(t, all, "run", "/locks/command", "--session-timeout", "40s", "--", "sh", "-c", child)
	command.line(t)
	held, err := newMutex(t, connectWith(t, patient), "/locks/program").Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)

	stop, took := make(chan struct{}), make(chan lease.Token)
	var group sync.WaitGroup
	for range 2 {
		turns := newMutex(t, connectWith(t, patient), "/locks/turns")
		group.Go(func() {
			for {
				turn, err := turns.Acquire(within(t, 2*limit), lease.Forever)
				if !assert.NoError(t, err) {
					return
				}
				select {
				case took <- turn.Token():
				case <-stop:
				}
				if !assert.NoError(t, turn.Release()) {
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	var last lease.Token
	more := func() {
		for range 20 {
			select {
			case token := <-took:
				require.Greater(t, token, last)
				last = token
			case <-within(t, 2*limit).Done():
				t.Fatal("nobody takes turns any more")
			}
		}
	}
	leader, err := servers.Leader(within(t, limit))
	require.NoError(t, err)
	for _, i := range []int{(leader + 1) % 3, (leader + 2) % 3, leader} {
		more()
		require.NoError(t, servers.Node(i).Stop())
		more()
		require.NoError(t, servers.Node(i).Start(within(t, limit)))
		require.NoError(t, servers.AwaitReady(within(t, limit)))
	}
	more()
	close(stop)
	group.Wait()
	require.NoError(t, held.Err())
	require.NoError(t, held.Release())
	require.NoError(t, command.stdin.Close())
	assert.Equal(t, 0, command.exit(t), "%s", &command.stderr)
	assert.Contains(t, command.stderr.String(), "connected again")
	for _, path := range []string{"/locks/command", "/locks/program", "/locks/turns"} {
		requireEmpty(t, servers.Servers()[0], path, limit)
	}
}

// zooCfgOfThePage returns the settings of docs/operations.md that are not about the
// places of files and servers.
func zooCfgOfThePage(t *testing.T) map[string]string {
	t.Helper()
	page, _ := readPage(t, "../docs/operations.md")
	require.NotEmpty(t, page.Blocks)
	require.Equal(t, "ini", page.Blocks[0].Info, "the first block is zoo.cfg")
	config := map[string]string{}
	for line := range strings.Lines(page.Blocks[0].Text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		switch {
		case strings.HasPrefix(key, "#"):
		case key == "dataDir", key == "dataLogDir", key == "clientPort", strings.HasPrefix(key, "server."):
		default:
			require.True(t, ok, line)
			config[key] = value
		}
	}
	require.Contains(t, config, "syncLimit")
	return config
}
