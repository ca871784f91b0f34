package zkprom_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
)

// clientsIn returns the clients gauge with these values, and 0 for the others.
func clientsIn(states series) series {
	all := series{`state="connecting"`: 0, `state="connected"`: 0, `state="suspended"`: 0, `state="lost"`: 0}
	for state, n := range states {
		all[`state="`+state+`"`] = n
	}
	return all
}

func TestEachStateIsThereWithoutAClient(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.metrics.Observer() // of a client that does not exist yet
		assert.Equal(t, clientsIn(nil), w.values("clients"))
		changes := clientsIn(nil)
		changes[`state="closed"`] = 0
		assert.Equal(t, changes, w.values("client_state_changes_total"))
	})
}

func TestStatesOfSeveralClients(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		a, b := w.measured("a"), w.measured("b")
		assert.Equal(t, clientsIn(series{"connected": 2}), w.values("clients"))
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		w.Settle()
		assert.Equal(t, clientsIn(series{"connected": 1, "suspended": 1}), w.values("clients"))
		w.After(2 * conformance.SessionTimeout)
		assert.Equal(t, clientsIn(series{"connected": 1, "lost": 1}), w.values("clients"))
		w.Server.RefuseConnections("a", false)
		w.After(time.Second)
		assert.Equal(t, clientsIn(series{"connected": 2}), w.values("clients"))
		require.NoError(t, a.Close())
		require.NoError(t, a.Close())
		assert.Equal(t, clientsIn(series{"connected": 1}), w.values("clients"))
		require.NoError(t, b.Close())
		assert.Equal(t, clientsIn(nil), w.values("clients"))
		assert.Equal(t, series{
			`state="connecting"`: 2, `state="connected"`: 3, `state="suspended"`: 1, `state="lost"`: 1, `state="closed"`: 2,
		}, w.values("client_state_changes_total"))
	})
}

func TestAClientThatConnects(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.Server.RefuseConnections("a", true)
		cfg := conformance.Config(w.Server, "a")
		w.observed(&cfg)
		connected := make(chan *framework.Client)
		go func() {
			c, err := framework.Connect(t.Context(), cfg)
			assert.NoError(t, err)
			connected <- c
		}()
		w.After(time.Minute)
		assert.Equal(t, clientsIn(series{"connecting": 1}), w.values("clients"))
		w.Server.RefuseConnections("a", false)
		c := <-connected
		w.Settle()
		assert.Equal(t, clientsIn(series{"connected": 1}), w.values("clients"))
		require.NoError(t, c.Close())
	})
}

func TestAClientThatCannotConnect(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.Server.RefuseConnections("a", true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, servers := range [][]string{{w.Server.Addr()}, nil} { // the second is an error before anything is tried
			cfg := conformance.Config(w.Server, "a")
			cfg.Servers = servers
			w.observed(&cfg)
			_, err := framework.Connect(ctx, cfg)
			require.Error(t, err)
			assert.Equal(t, clientsIn(nil), w.values("clients"))
		}
	})
}
