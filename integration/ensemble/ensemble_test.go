package ensemble_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/probe"
)

func TestSingleServerServes(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{NoSync: true})
	require.Equal(t, 1, e.Size())
	leader, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, 0, leader)
	lines, err := e.Node(0).Logged("tickTime")
	require.NoError(t, err)
	require.NotEmpty(t, lines)

	conn := probe.Connect(t, e.Servers()...)
	probe.Create(t, conn, "/a")
	require.True(t, probe.Exists(t, conn, "/a"))
}

func TestThreeServersServeTheSameTree(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	require.Len(t, e.Servers(), 3)
	probe.Create(t, probe.Connect(t, e.Servers()[0]), "/a")
	for i := range e.Size() {
		conn := probe.Connect(t, e.Node(i).Addr())
		probe.Sync(t, conn)
		require.True(t, probe.Exists(t, conn, "/a"), "server %d", i)
	}
}

func TestDataAndAddressSurviveKillAndStop(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{NoSync: true})
	node, addr := e.Node(0), e.Node(0).Addr()
	conn := probe.Connect(t, addr)
	probe.Create(t, conn, "/before")

	for name, end := range map[string]func() error{"kill": node.Kill, "stop": node.Stop} {
		require.NoError(t, end(), name)
		gone, cancel := context.WithTimeout(probe.Deadline(t), time.Second)
		_, err := ensemble.Srvr(gone, addr)
		cancel()
		require.Error(t, err, "after %s", name)
		require.NoError(t, end(), "%s again", name)

		require.NoError(t, node.Start(probe.Deadline(t)))
		require.NoError(t, node.Start(probe.Deadline(t)), "start of a running server")
		require.NoError(t, e.AwaitReady(probe.Deadline(t)))
		require.Equal(t, addr, node.Addr())
		require.True(t, probe.Exists(t, conn, "/before"), "after %s", name)
	}
}

func TestAnotherServerLeadsAfterTheLeaderWasKilled(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	conn := probe.Connect(t, e.Servers()...)
	probe.Create(t, conn, "/before")
	session := conn.SessionID()

	old, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	require.NoError(t, e.Node(old).Kill())
	next, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	require.NotEqual(t, old, next)

	probe.Create(t, conn, "/after")
	require.Equal(t, session, conn.SessionID(), "the session outlives its server")
	require.NoError(t, e.Node(old).Start(probe.Deadline(t)))
	require.NoError(t, e.AwaitReady(probe.Deadline(t)))
	back := probe.Connect(t, e.Node(old).Addr())
	probe.Sync(t, back)
	require.True(t, probe.Exists(t, back, "/after"), "the killed server learns what it missed")
}

func TestAnotherServerLeadsWhileTheLeaderIsPaused(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	old, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	require.NoError(t, e.Node(old).Pause())

	short, cancel := context.WithTimeout(probe.Deadline(t), 100*time.Millisecond)
	defer cancel()
	_, err = ensemble.Srvr(short, e.Node(old).Addr())
	require.ErrorIs(t, err, context.DeadlineExceeded, "a paused server must not answer")

	next, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	require.NotEqual(t, old, next)
	probe.Create(t, probe.Connect(t, e.Node(next).Addr()), "/meanwhile")

	require.NoError(t, e.Node(old).Resume())
	require.NoError(t, e.AwaitReady(probe.Deadline(t)))
	leader, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	// It is not always next: a machine that stops for two seconds has another election.
	require.NotEqual(t, old, leader, "the resumed server follows")
}

func TestIsolatedLeaderIsReplaced(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	old, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	if err := e.Node(old).Isolate(); err != nil {
		require.ErrorIs(t, err, ensemble.ErrNotSupported)
		require.ErrorIs(t, e.Node(old).Heal(), ensemble.ErrNotSupported)
		require.NoError(t, e.AwaitReady(probe.Deadline(t)), "a refused fault leaves no trace")
		return
	}
	next, err := e.Leader(probe.Deadline(t))
	require.NoError(t, err)
	require.NotEqual(t, old, next)
	probe.Create(t, probe.Connect(t, e.Node(next).Addr()), "/meanwhile")

	require.NoError(t, e.Node(old).Heal())
	require.NoError(t, e.AwaitReady(probe.Deadline(t)))
	back := probe.Connect(t, e.Node(old).Addr())
	probe.Sync(t, back)
	require.True(t, probe.Exists(t, back, "/meanwhile"))
}

func TestServerThatEndsByItselfIsReportedAtOnce(t *testing.T) {
	_, err := ensemble.Start(probe.Deadline(t), ensemble.Options{Config: map[string]string{"tickTime": "nonsense"}})
	require.ErrorContains(t, err, "ended by itself")
	require.ErrorContains(t, err, "nonsense", "the end of its log is shown")
}
