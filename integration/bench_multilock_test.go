package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
)

// apart is a lock that does not go together with others in one transaction.
type apart struct{ lease.Acquirer }

// BenchmarkFreeMultiLock compares a multi-lock on free mutexes, which takes one
// transaction, with one that takes them one by one, and with a single mutex: ms per
// acquire and release of each.
func BenchmarkFreeMultiLock(b *testing.B) {
	client := benchServer(b)
	for _, n := range []int{2, 4, 8} {
		b.Run(fmt.Sprintf("locks=%d", n), func(b *testing.B) {
			single := benchMutex(b, client, "/locks/single")
			together, oneByOne := benchMultiLock(b, client, n, false), benchMultiLock(b, client, n, true)
			var took [3]time.Duration
			cycle(b, together) // which makes the parents
			for b.Loop() {
				for i, a := range []lease.Acquirer{single, together, oneByOne} {
					start := time.Now()
					cycle(b, a)
					took[i] += time.Since(start)
				}
			}
			for i, unit := range []string{"ms/single", "ms/together", "ms/one-by-one"} {
				b.ReportMetric(took[i].Seconds()*1000/float64(b.N), unit)
			}
			b.ReportMetric(took[1].Seconds()/took[2].Seconds(), "together/one-by-one")
		})
	}
}

func benchMultiLock(b *testing.B, client *framework.Client, n int, each bool) *multilock.Lock {
	b.Helper()
	var locks []lease.Acquirer
	for i := range n {
		var lock lease.Acquirer = benchMutex(b, client, fmt.Sprintf("/locks/%d", i))
		if each {
			lock = apart{lock}
		}
		locks = append(locks, lock)
	}
	all, err := multilock.New(locks)
	require.NoError(b, err)
	return all
}
