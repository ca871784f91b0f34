package integration

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

// Three clients have 400 waiters each on one path, most of which stand behind the front
// of a crowd, in several sessions each. Some give up, and connections are cut. All others
// are granted, one at a time and in order, and nothing is left.
func TestCrowdsOfSeveralClients(t *testing.T) {
	const clients, each, path = 3, 400, "/crowds"
	_, server := single(t)
	holder := connect(t, server)
	held, err := newMutex(t, holder, path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	var proxies []*proxy.Proxy
	var crowd sync.WaitGroup
	var holding, granted, gaveUp atomic.Int32
	var last atomic.Int64
	for range clients {
		between := proxy.New(t, server)
		proxies = append(proxies, between)
		m := newMutex(t, connectWith(t, framework.Config{Servers: []string{between.Addr()}, SessionTimeout: 10 * time.Second, MaxEphemeralBytes: 12_000}), path)
		for range each {
			timeout := lease.Forever
			if rng.IntN(4) == 0 {
				timeout = time.Duration(rng.Int64N(int64(2 * time.Second)))
			}
			crowd.Go(func() {
				l, err := m.Acquire(within(t, 2*time.Minute), timeout)
				if timeout != lease.Forever && errors.Is(err, lease.ErrTimeout) {
					gaveUp.Add(1)
					return
				}
				if !assert.NoError(t, err) {
					return
				}
				assert.EqualValues(t, 1, holding.Add(1), "two hold")
				assert.Less(t, last.Swap(int64(l.Token())), int64(l.Token()), "not in order")
				granted.Add(1)
				assert.NoError(t, l.Err())
				holding.Add(-1)
				assert.NoError(t, l.Release())
			})
		}
	}
	over := make(chan struct{})
	go func() {
		crowd.Wait()
		close(over)
	}()
	for cuts := range 30 {
		if cuts == 10 { // until then they join
			require.NoError(t, held.Release())
		}
		proxies[rng.IntN(clients)].Cut()
		<-time.After(time.Duration(rng.Int64N(int64(200 * time.Millisecond))))
	}
	<-over
	t.Logf("%d granted, %d gave up", granted.Load(), gaveUp.Load())
	require.EqualValues(t, clients*each, granted.Load()+gaveUp.Load())
	require.Greater(t, granted.Load(), int32(clients*each/2))
	requireEmpty(t, server, path, limit)
}
