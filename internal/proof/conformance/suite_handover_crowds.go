package conformance

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about hand-overs in crowds of two sessions.
var handoverCrowds = rows{
	"crowds of two sessions under faults": crowdsUnderFaults,
}

// crowdsUnderFaults has many waiters of two sessions acquire, give up and release,
// while connections break and deletes are late.
func crowdsUnderFaults(t *testing.T, w *World, r Recipe) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	referee := r.Referee()
	var all sync.WaitGroup
	for i := range 12 {
		client := string("ab"[i%2])
		a := r.New(w.Named(client), path)
		all.Go(func() {
			work(t, a, referee, fmt.Sprint(client, i), rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	w.disturb(rand.New(rand.NewPCG(seed, 99)))
	w.Heal()
	all.Wait()
	require.Empty(t, referee.Faults())
	require.Greater(t, len(referee.Tokens()), 12)
	w.After(SessionTimeout)
	require.Empty(t, w.Ephemerals(path))
}

// work acquires and releases some times, and gives up now and then.
func work(t *testing.T, a lease.Acquirer, referee *Referee, who string, random *rand.Rand) {
	for range 8 {
		timeout := time.Duration(random.IntN(400)) * time.Millisecond
		if random.IntN(3) > 0 {
			timeout = lease.Forever
		}
		held, err := a.Acquire(t.Context(), timeout)
		if err != nil {
			continue
		}
		referee.Grant(who, held)
		pass(time.Duration(random.IntN(3)) * time.Millisecond)
		referee.Look()
		_ = held.Release() // it may be lost
	}
}

// disturb breaks connections and delays deletes, reads and events for some seconds.
func (w *World) disturb(random *rand.Rand) {
	for range 100 {
		client := string("ab"[random.IntN(2)])
		late := time.Duration(1+random.IntN(100)) * time.Millisecond
		rule := w.Server.On(zktest.OpDelete, path).Client(client).Optional()
		switch random.IntN(8) {
		case 0:
			w.Server.DropConnections(client)
		case 1:
			rule.After().Cut()
		case 2:
			rule.Cut()
		case 3:
			w.Server.On(zktest.OpGetData, path).Client(client).Optional().Delay(late)
		case 4:
			rule.OnEvent().Delay(late)
		default:
			rule.Delay(late)
		}
		pass(time.Duration(1+random.IntN(60)) * time.Millisecond)
		rule.Remove()
	}
}
