package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// mostInAClose is how many bytes the paths of a session's ephemeral nodes, and their
// lengths, can take so that a server can read its close back from the log. A record may
// have twice the default of jute.maxbuffer; a header takes 32 bytes of that, the number
// of the paths 4, and the digest of the tree 12.
const mostInAClose = 2*0xfffff - 32 - 4 - 12

// A session whose ephemeral nodes take as much as Config.MaxEphemeralBytes allows can
// be closed, and the server starts again. At twice that, and 250 KB more, it does not
// (ZOOKEEPER-4306).
func TestSessionsWithManyNodesCanBeClosed(t *testing.T) {
	for _, bytes := range []int{framework.DefaultMaxEphemeralBytes - 100, mostInAClose} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			servers := closeWith(t, bytes)
			require.NoError(t, servers.AwaitReady(within(t, limit)))
		})
	}
	t.Run("one byte more", func(t *testing.T) {
		servers := closeWith(t, mostInAClose+1)
		require.Error(t, servers.AwaitReady(within(t, limit)))
		lines, err := servers.Node(0).Logged("Unreasonable length")
		require.NoError(t, err)
		require.NotEmpty(t, lines)
	})
}

// closeWith closes a session whose ephemeral nodes take so many bytes, and starts the
// server again.
func closeWith(t *testing.T, bytes int) ensemble.Ensemble {
	t.Helper()
	servers, server := single(t)
	client := connectWith(t, framework.Config{Servers: []string{server}, MaxEphemeralBytes: 4 << 20})
	for n := 0; bytes > 0; n++ {
		size := 1000
		if bytes < 2*size {
			size = bytes
		}
		name := fmt.Sprintf("/%d-", n)
		name += strings.Repeat("x", size-4-len(name))
		_, err := client.Create(within(t, limit), name, nil, framework.Ephemeral)
		require.NoError(t, err)
		bytes -= size
	}
	require.NoError(t, client.Close())
	require.NoError(t, servers.Node(0).Kill())
	require.NoError(t, servers.Node(0).Start(within(t, limit)))
	return servers
}
