package ensemble_test

import (
	"strconv"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/probe"
)

func TestFourLetterWordsTellWhatAServerHolds(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{NoSync: true})
	addr, ctx := e.Node(0).Addr(), probe.Deadline(t)

	empty, err := ensemble.Mntr(ctx, addr)
	require.NoError(t, err)

	conn := probe.Connect(t, addr)
	for _, path := range []string{"/a", "/b"} {
		_, err := conn.Create(path, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		_, _, _, err = conn.ExistsW(path)
		require.NoError(t, err)
	}
	_, _, _, err = conn.ChildrenW("/")
	require.NoError(t, err)

	full, err := ensemble.Mntr(ctx, addr)
	require.NoError(t, err)
	require.Equal(t, "standalone", full["zk_server_state"])
	require.Equal(t, number(t, empty, "zk_znode_count")+2, number(t, full, "zk_znode_count"))
	require.Equal(t, 2, number(t, full, "zk_ephemerals_count"))
	require.Equal(t, 3, number(t, full, "zk_watch_count"))

	nodes, err := ensemble.Dump(ctx, addr)
	require.NoError(t, err)
	require.Len(t, nodes, 1)
	require.ElementsMatch(t, []string{"/a", "/b"}, nodes[conn.SessionID()])

	connections, err := ensemble.Cons(ctx, addr)
	require.NoError(t, err)
	var sessions []int64
	for _, c := range connections {
		require.NotEmpty(t, c.Remote)
		if c.Session != 0 {
			sessions = append(sessions, c.Session)
			require.Equal(t, "10000", c.Fields["to"], "the negotiated timeout")
		}
	}
	require.Equal(t, []int64{conn.SessionID()}, sessions)
}

func TestFourLetterWordNamesTheServerThatDoesNotAnswer(t *testing.T) {
	_, err := ensemble.Mntr(probe.Deadline(t), "127.0.0.1:1")
	require.ErrorContains(t, err, "127.0.0.1:1")
	require.ErrorContains(t, err, "mntr")
}

func number(t *testing.T, values map[string]string, key string) int {
	t.Helper()
	n, err := strconv.Atoi(values[key])
	require.NoError(t, err, "%s in %v", key, values)
	return n
}
