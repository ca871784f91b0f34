package inspect

import (
	"cmp"
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
	// are 0 if the path does not store how many there are. A lock-delay may keep one
	// closed that no client holds.
	Size, Free int
}

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
	return s.addLocks(ctx, client, len(numbers), func(k int) (string, Queue) {
		return dirs[numbers[k]], Queue{Recipe: Stripe, Stripe: numbers[k]}
	}, func(q Queue, _ *LockDelay) {
		if len(q.Contenders) > 0 && q.Stripe < size {
			s.Stripes.Free--
		}
	})
}

// addLocks adds the queues of n locks, each of which is at a path of its own, with
// their lock-delays. at returns the path of one of them, and its queue without
// contenders. found is called with each queue, in order.
func (s *Survey) addLocks(
	ctx context.Context, client *framework.Client, n int, at func(i int) (path string, of Queue), found func(q Queue, d *LockDelay),
) error {
	queues, delays := make([]Queue, n), make([]*LockDelay, n)
	err := atATime(n, func(i int) (err error) {
		path, of := at(i)
		queues[i], delays[i], err = lockAt(ctx, client, path, of)
		return err
	})
	if err != nil {
		return err
	}
	for i, q := range queues {
		s.add(q)
		s.addDelayOf(q, delays[i])
		found(q, delays[i])
	}
	return nil
}

// sideBySide is how many stripes or runs, or nodes of one queue, are read at a time.
const sideBySide = 16

// atATime calls do for 0 to n-1, and returns the errors of those that fail first.
func atATime(n int, do func(i int) error) error {
	for begin := 0; begin < n; begin += sideBySide {
		errs := make([]error, min(sideBySide, n-begin))
		var calls sync.WaitGroup
		for i := range errs {
			calls.Go(func() { errs[i] = do(begin + i) })
		}
		calls.Wait()
		if err := cmp.Or(errs...); err != nil { // one is enough: they tend to be the same
			return err
		}
	}
	return nil
}

// lockAt adds the contenders to the queue of a lock, and reads its lock-delay.
func lockAt(ctx context.Context, client *framework.Client, path string, of Queue) (Queue, *LockDelay, error) {
	lock, err := mutex.New(client, path)
	if err != nil {
		return of, nil, err
	}
	found, err := lock.Contenders(ctx)
	if err != nil {
		return of, nil, err
	}
	of.Contenders = queueOf(of.Recipe, found).Contenders
	nodes := make([]string, len(found))
	for i, c := range found {
		nodes[i] = c.Node
	}
	delay, err := lockDelayAt(ctx, client, path, nodes)
	return of, delay, err
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
