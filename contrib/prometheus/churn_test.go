package zkprom_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// Whatever happens, what has started has ended, and each end counts once.
func TestTotalsAfterAChurn(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.Churn(seed, anyRecipe, w.observed, func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 2000 })
				var acquires, holds int
				for _, e := range w.Observed.Events() {
					switch e.(type) {
					case framework.AcquireInfo:
						acquires++
					case framework.HoldInfo:
						holds++
					}
				}
				require.Greater(t, acquires, holds)
				require.Positive(t, holds)
				for _, gauge := range []string{"acquires_waiting", "holds", "cleanups_pending", "clients"} {
					assert.Empty(t, w.values(gauge).nonZero(), gauge)
				}
				assert.Empty(t, w.values("trust_left_seconds"))
				assert.InDelta(t, acquires, w.values("acquire_wait_seconds_count").sum(), 0)
				assert.InDelta(t, holds, w.values("hold_seconds_count").sum(), 0)
				assert.InDelta(t, holds, w.values("losses_total").sum()+w.values("release_failures_total").sum()+float64(released(w)), 0)
			})
		})
	}
}

// released counts the holds that have ended with a release.
func released(w *world) (n int) {
	for _, e := range w.Observed.Events() {
		if e, ok := e.(framework.HoldEnd); ok && e.Err == nil {
			n++
		}
	}
	return n
}

func (s series) sum() (sum float64) {
	for _, value := range s {
		sum += value
	}
	return sum
}

func anyRecipe(c *framework.Client, rnd *rand.Rand) lease.Acquirer {
	at := func(name string) string { return fmt.Sprintf("/locks/%s-%d", name, rnd.IntN(2)) }
	switch rnd.IntN(8) {
	case 0:
		return must(leader.New(c, at("leader")))
	case 1:
		return must(rwlock.New(c, at("rw"))).Read()
	case 2:
		return must(rwlock.New(c, at("rw"))).Write()
	case 3:
		return must(semaphore.New(c, at("semaphore"), 3)).Weight(1 + rnd.IntN(3))
	case 4:
		return must(semaphore.New(c, at("single"), 3, semaphore.WithSingleQueue())).Weight(1 + rnd.IntN(3))
	case 5:
		return must(striped.New(c, at("stripes"), 4)).For(at("key"))
	case 6:
		return must(multilock.New([]lease.Acquirer{must(mutex.New(c, "/locks/a")), must(mutex.New(c, "/locks/b"))}))
	}
	return must(mutex.New(c, at("mutex")))
}

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}
