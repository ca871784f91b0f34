package interop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

// multiLockTurns takes two or three mutexes together, or one of them alone. Java's
// contenders take them in the opposite order, and mostly without a limit: see
// MultiLockTurns.java. So the two sides wait for each other all the time, until a Go
// contender begins again.
func multiLockTurns(client *framework.Client, c contestant, rng *rand.Rand) (turns, error) {
	var (
		paths   []string
		mutexes []lease.Acquirer
	)
	for i := range 3 {
		m, err := mutex.New(client, fmt.Sprintf("%s/%d", c.Path, i))
		if err != nil {
			return nil, err
		}
		paths, mutexes = append(paths, fmt.Sprintf("%s/%d", c.Path, i)), append(mutexes, m)
	}
	return func(ctx context.Context, l *ledger) error {
		chosen := rng.Perm(len(mutexes))[:1+rng.IntN(len(mutexes))]
		n := note{Kind: "multi-lock", Permits: len(chosen)}
		var locks []lease.Acquirer
		for _, i := range chosen {
			n.Locks, locks = append(n.Locks, paths[i]), append(locks, mutexes[i])
		}
		if len(chosen) == 1 {
			n.Kind = "mutex"
			return l.turn(ctx, locks[0], n, rng)
		}
		limits := retry.Policy{} // the default, which is about a second at first
		if rng.IntN(2) == 0 {
			limits = retry.Exponential(100*time.Millisecond, time.Minute)
		}
		all, err := multilock.New(locks, multilock.WithWaitLimit(limits))
		if err != nil {
			return err
		}
		return l.turn(ctx, all, n, rng)
	}, nil
}
