//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
)

// Two of three servers are down, and --try finds the third, in any order.
func TestTryFindsTheServerThatIsUp(t *testing.T) {
	for range 20 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			w.Server.Partition("down", true)
			j, f := virtual(t, w, "a", "--try")
			up, down := j.cfg.Dial, w.Server.Dial("down")
			j.cfg.Servers = []string{"one:2181,two:2181," + w.Server.Addr()}
			j.cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr != w.Server.Addr() {
					return down(ctx, network, w.Server.Addr())
				}
				return up(ctx, network, addr)
			}
			took, err := awaited(t, j, f)
			require.NoError(t, err)
			require.Less(t, took, 2*time.Second)
		})
	}
}

// A server that accepts connections and does not answer, as on a frozen machine, takes
// no more of the time than one that cannot be reached.
func TestTryFindsTheServerThatAnswers(t *testing.T) {
	for range 20 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			j, f := virtual(t, w, "a", "--try")
			answers := j.cfg.Dial
			j.cfg.Servers = []string{"one:2181,two:2181," + w.Server.Addr()}
			j.cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if addr == w.Server.Addr() {
					return answers(ctx, network, addr)
				}
				ours, theirs := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, theirs) }()
				return ours, nil
			}
			took, err := awaited(t, j, f)
			require.NoError(t, err)
			require.Less(t, took, 2*time.Second)
		})
	}
}

// One server alone may take all the time, and later connections have no limit.
func TestTryWaitsForASlowServer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Server.Pause()
		time.AfterFunc(1500*time.Millisecond, w.Server.Resume)
		j, f := virtual(t, w, "a", "--try")
		require.NoError(t, j.await(t.Context(), f.begin()))
		time.Sleep(time.Minute)
		require.NoError(t, j.held.Err())
		j.disconnect()
	})
}

func TestTimeIsSharedOnlyWhereItIsShort(t *testing.T) {
	cfg := framework.Config{Servers: []string{"a,b,c,d"}}
	shareConnectTime(&cfg, 8*time.Second)
	require.Nil(t, cfg.Dial)
	shareConnectTime(&cfg, 8*time.Second-1)
	require.NotNil(t, cfg.Dial)
}

func TestDialOfAName(t *testing.T) {
	_, port, err := net.SplitHostPort(mutedServer(t))
	require.NoError(t, err)
	found := []string{"127.0.0.1"}
	d := &nameDialer{lookUp: func(_ context.Context, host string) ([]string, error) {
		require.Equal(t, "zk", host)
		if found == nil {
			return nil, errFake
		}
		return found, nil
	}}
	reached := func() error {
		conn, err := d.dial(t.Context(), "tcp", net.JoinHostPort("zk", port))
		if err != nil {
			return err
		}
		return conn.Close()
	}
	require.NoError(t, reached())
	found = nil
	require.NoError(t, reached(), "at the address that was known before")
	d.known = nil
	require.ErrorIs(t, reached(), errFake)
	// Each address of several is tried in the end.
	found = []string{"127.0.0.1", "::1"}
	until(t, "the right one is chosen", func() bool { return reached() == nil })
	_, err = d.dial(t.Context(), "tcp", "nonsense")
	require.Error(t, err)
}
