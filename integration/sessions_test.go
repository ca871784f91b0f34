package integration

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

// A client holds more locks than one session has room for. All but its main session are
// cut off until they are lost: their locks are lost in time, and free for others; those
// of the main session are not, and nothing is left behind.
func TestOneOfSeveralSessionsIsLost(t *testing.T) {
	_, server := single(t)
	between := proxy.New(t, server)
	var connected atomic.Bool
	cfg := framework.Config{
		Servers: []string{server}, SessionTimeout: sessionTimeout, MaxEphemeralBytes: 800, Namespace: "several",
		Auth: []framework.Credential{framework.DigestAuth("owner", "secret")},
		ACL:  framework.OwnedBelow("/several"),
		Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if connected.Swap(true) {
				addr = between.Addr()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	client := connectWith(t, cfg)
	lock := func(c *framework.Client, i int) (*lease.Lease, error) {
		return newMutex(t, c, fmt.Sprint("/locks/", i)).Acquire(within(t, limit), lease.Forever)
	}
	const locks = 40
	held, further := make([]*lease.Lease, locks), 0
	owner := func(i int) int64 {
		_, stat, err := client.Get(within(t, limit), held[i].Path())
		require.NoError(t, err)
		return stat.EphemeralOwner
	}
	inMain := make([]bool, locks)
	for i := range held {
		var err error
		held[i], err = lock(client, i)
		require.NoError(t, err)
		if inMain[i] = owner(i) == client.Session().ID(); !inMain[i] {
			further++
		}
	}
	require.Greater(t, further, locks/2)
	changes := make(chan framework.StateChange, 100)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for change := range client.States(ctx) {
			changes <- change
		}
	}()

	between.Refuse(true)
	between.Cut()
	for i, l := range held {
		if !inMain[i] {
			<-l.Done()
			require.ErrorIs(t, l.Err(), framework.ErrTrustExpired)
		}
	}
	other := connectWith(t, framework.Config{Servers: []string{server}, Namespace: "several", Auth: cfg.Auth, ACL: cfg.ACL})
	for i, l := range held {
		if inMain[i] {
			require.NoError(t, l.Err())
			require.NoError(t, l.Confirm(within(t, limit)))
			continue
		}
		next, err := lock(other, i)
		require.NoError(t, err)
		require.Greater(t, next.Token(), l.Token())
		require.NoError(t, next.Release())
	}
	assert.Equal(t, framework.Connected, client.State())
	between.Refuse(false)
	for i := range held { // in sessions that are opened anew
		again := held[i]
		if !inMain[i] {
			var err error
			again, err = lock(client, i)
			require.NoError(t, err)
		}
		require.NoError(t, again.Release())
	}
	cancel()
	<-ended
	close(changes)
	lost := 0
	for change := range changes {
		require.False(t, change.State == framework.Lost && change.Session == client.Session().ID())
		if change.State == framework.Lost {
			lost++
			require.ErrorIs(t, change.Err, framework.ErrTrustExpired)
		}
	}
	require.Positive(t, lost)
	for i := range locks {
		requireEmpty(t, server, fmt.Sprint("/several/locks/", i), limit)
	}
}
