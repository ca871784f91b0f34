package ensemble_test

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/probe"
)

func TestWrongOptionIsNamed(t *testing.T) {
	for field, o := range map[string]ensemble.Options{
		"Nodes":     {Nodes: 2},
		"TickTime":  {TickTime: -time.Second},
		"Backend":   {Backend: "cloud"},
		"1 Hosts":   {Nodes: 3, Hosts: make([]ensemble.Host, 1)},
		"Hosts are": {Backend: ensemble.BackendDocker, Hosts: make([]ensemble.Host, 1)},
	} {
		_, err := ensemble.Start(probe.Deadline(t), o)
		require.ErrorContains(t, err, field)
	}
	t.Setenv("ZKRECIPES_BACKEND", "cloud")
	_, err := ensemble.Start(probe.Deadline(t), ensemble.Options{})
	require.ErrorContains(t, err, "ZKRECIPES_BACKEND")
}

func TestMissingServerIsAnErrorThatNamesTheRemedy(t *testing.T) {
	t.Setenv("JAVA_HOME", "/nonexistent")
	_, err := ensemble.Start(probe.Deadline(t), ensemble.Options{Backend: ensemble.BackendProcess})
	require.ErrorContains(t, err, ".ci/install-zookeeper")
	require.ErrorContains(t, err, "apt-get install --no-install-recommends")

	t.Setenv("DOCKER_HOST", "unix:///nonexistent.sock")
	_, err = ensemble.Start(probe.Deadline(t), ensemble.Options{Backend: ensemble.BackendDocker})
	require.ErrorContains(t, err, ".ci/docker-up")
}

func TestServersObeyTheOptions(t *testing.T) {
	e := ensemble.New(t, ensemble.Options{
		TickTime:      100 * time.Millisecond,
		ReapInterval:  100 * time.Millisecond,
		ExtendedTypes: true,
		NoSync:        true,
		Publish:       true,
		Properties:    map[string]string{"znode.container.maxNeverUsedIntervalMs": "1"},
		Config:        map[string]string{"maxSessionTimeout": "9000"},
	})
	addr := e.Node(0).Addr()
	host, _, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", host, "Publish")

	require.NoError(t, e.Node(0).Kill())
	_, err = ensemble.Srvr(probe.Deadline(t), addr)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NoError(t, e.Node(0).Start(probe.Deadline(t)))
	require.NoError(t, e.AwaitReady(probe.Deadline(t)), "the published port outlives a kill")

	conn := probe.Connect(t, addr)
	_, err = conn.CreateTTL("/ttl", nil, zk.FlagTTL, zk.WorldACL(zk.PermAll), time.Hour)
	require.NoError(t, err, "ExtendedTypes")

	conns, err := ensemble.Cons(probe.Deadline(t), addr)
	require.NoError(t, err)
	for _, c := range conns {
		if c.Session != 0 {
			require.Equal(t, "9000", c.Fields["to"], "Config")
		}
	}

	_, err = conn.CreateContainer("/container", nil, zk.FlagContainer, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	found, _, deleted, err := conn.ExistsW("/container")
	require.NoError(t, err)
	if found {
		select {
		case <-deleted:
		case <-probe.Deadline(t).Done():
			require.FailNow(t, "the empty container was not reaped", "ReapInterval, Properties")
		}
	}
}
