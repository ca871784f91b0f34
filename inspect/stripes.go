package inspect

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// Stripes are the numbers of a path of stripes.
type Stripes struct {
	// Size is how many stripes there are, Free how many of them no client holds. Both
	// are 0 if the path does not store how many there are.
	Size, Free int
}

// atATime is how many stripes, or runs, are listed at a time.
const atATime = 16

// addStripes adds the queues of the stripes, if the path has some or stores how many
// there are.
func (s *Survey) addStripes(ctx context.Context, client *framework.Client, path string, children []string, stat framework.Stat) error {
	size, err := storedStripes(ctx, client, path, stat)
	if err != nil {
		return err
	}
	dirs := make(map[int]string)
	for _, child := range children {
		if i, ok := znode.ParseStripeDir(child); ok {
			dirs[i] = path + "/" + child
		}
	}
	if size == 0 && len(dirs) == 0 {
		return nil
	}
	s.Stripes = &Stripes{Size: size, Free: size}
	numbers := slices.Sorted(maps.Keys(dirs))
	queues, err := queuesAt(ctx, client, len(numbers), func(k int) (string, Queue) {
		return dirs[numbers[k]], Queue{Recipe: Stripe, Stripe: numbers[k]}
	})
	for _, q := range queues {
		if s.add(q); len(q.Contenders) > 0 && q.Stripe < size {
			s.Stripes.Free--
		}
	}
	return err
}

// queuesAt lists the queues of n locks, each of which is at a path of its own. at
// returns the path of one of them, and its queue without contenders.
func queuesAt(ctx context.Context, client *framework.Client, n int, at func(i int) (path string, of Queue)) ([]Queue, error) {
	queues, errs := make([]Queue, n), make([]error, n)
	for begin := 0; begin < n; begin += atATime {
		var listings sync.WaitGroup
		for i := begin; i < min(begin+atATime, n); i++ {
			path, of := at(i)
			listings.Go(func() { queues[i], errs[i] = queueAt(ctx, client, path, of) })
		}
		listings.Wait()
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
	}
	return queues, nil
}

// queueAt adds the contenders to the queue of a lock.
func queueAt(ctx context.Context, client *framework.Client, path string, of Queue) (Queue, error) {
	lock, err := mutex.New(client, path)
	if err != nil {
		return of, err
	}
	found, err := lock.Contenders(ctx)
	of.Contenders = queueOf(of.Recipe, found).Contenders
	return of, err
}

// shortestSize is the length of the shortest text that says how many stripes there are.
var shortestSize = len(znode.Stripes(1))

// storedStripes returns how many stripes the path stores, 0 if none. Paths that have no
// data, or less, are not read.
func storedStripes(ctx context.Context, client *framework.Client, path string, stat framework.Stat) (int, error) {
	if int(stat.DataLength) < shortestSize {
		return 0, nil
	}
	data, _, err := client.Get(ctx, path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return 0, err
	}
	n, _ := znode.ParseStripes(data)
	return max(n, 0), nil
}
