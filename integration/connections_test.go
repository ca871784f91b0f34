package integration

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// A server takes so many connections from one address. A client that needs one session
// more than that is refused the lock, and gets it when a connection ends.
func TestMoreSessionsThanTheServerTakes(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{NoSync: true, Config: map[string]string{"maxClientCnxns": "4"}})
	cfg := framework.Config{Servers: servers.Servers(), SessionTimeout: 6 * time.Second, MaxEphemeralBytes: 800, Logger: slog.New(slog.DiscardHandler)}
	client := connectWith(t, cfg)
	others := []*framework.Client{connectWith(t, cfg), connectWith(t, cfg)}
	acquire := func(i int) (*lease.Lease, error) {
		return newMutex(t, client, fmt.Sprint("/locks/", i)).Acquire(within(t, limit), lease.Forever)
	}
	var refused error
	var held []*lease.Lease
	for refused == nil {
		require.Less(t, len(held), 50)
		var l *lease.Lease
		if l, refused = acquire(len(held)); refused == nil {
			held = append(held, l)
		}
	}
	require.ErrorIs(t, refused, framework.ErrTooManyEphemerals)
	require.ErrorIs(t, refused, framework.ErrNotConnected)
	require.ErrorContains(t, refused, "allow no more connections")
	_, err := framework.Connect(within(t, time.Second), cfg)
	require.ErrorIs(t, err, framework.ErrNotConnected)
	require.NoError(t, others[0].Close())
	l, err := acquire(len(held))
	require.NoError(t, err)
	for _, l := range append(held, l) {
		require.NoError(t, l.Release())
	}
}
