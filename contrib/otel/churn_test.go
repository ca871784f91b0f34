package zkotel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"

	zkotel "github.com/zkrecipes/zkrecipes/contrib/otel"
)

// Whatever happens, what has started has ended, and each end counts once.
func TestTotalsAfterAChurn(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, zkotel.Config{}, func(t *testing.T, w *conformance.World, b *backend) {
				w.Churn(seed, anyRecipe, func(cfg *framework.Config) {
					cfg.MaxEphemeralBytes = 2000
					cfg.Observers = append(cfg.Observers, b.Observer())
				})
				var acquires, holds, released float64
				for _, e := range w.Observed.Events() {
					switch e := e.(type) {
					case framework.AcquireInfo:
						acquires++
					case framework.HoldInfo:
						holds++
					case framework.HoldEnd:
						if e.Err == nil {
							released++
						}
					}
				}
				require.Greater(t, acquires, holds)
				require.Positive(t, holds)
				require.InDelta(t, acquires, b.count(t, "acquire.wait"), 0)
				require.InDelta(t, holds, b.count(t, "hold.duration"), 0)
				require.InDelta(t, holds, released+b.count(t, "losses")+b.count(t, "release.failures"), 0)
				require.Len(t, b.spans.Ended(), int(acquires+holds))
			})
		})
	}
}

// count returns how often something was recorded, or the sum of a counter, over all
// attributes.
func (b *backend) count(t *testing.T, name string) (n float64) {
	t.Helper()
	for _, m := range b.collect(t) {
		if m.Name != "zkrecipes."+name {
			continue
		}
		for _, p := range points(t, m) {
			if n += float64(p.count); p.count == 0 {
				n += p.value
			}
		}
	}
	return n
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
