package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
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
func (s *survey) addStripes(ctx context.Context) error {
	size, _ := znode.ParseStripes(s.data)
	dirs := make(map[int]string)
	for _, child := range s.children {
		if i, ok := znode.ParseStripeDir(child); ok {
			dirs[i] = child
		}
	}
	if size = max(size, 0); size == 0 && len(dirs) == 0 {
		return nil
	}
	s.Stripes = &Stripes{Size: size, Free: size}
	var all []*place
	for _, i := range slices.Sorted(maps.Keys(dirs)) {
		all = append(all, &place{path: s.path + "/" + dirs[i], recipe: Lock, queue: Queue{Recipe: Stripe, Stripe: i}})
	}
	return s.addLocks(ctx, all)
}

// addLocks adds the queues of locks, each of which is at a path of its own, with their
// lock-delays.
func (s *survey) addLocks(ctx context.Context, all []*place) error {
	delays := make([]*LockDelay, len(all))
	if err := atATime(len(all), func(i int) (err error) {
		delays[i], err = listLock(ctx, s.client, all[i])
		return err
	}); err != nil {
		return err
	}
	for i, p := range all {
		s.addDelayOf(p.queue, delays[i])
	}
	s.places = append(s.places, all...)
	return nil
}

// listLock lists the contenders of a lock, and reads its lock-delay, if it has one.
func listLock(ctx context.Context, client *framework.Client, p *place) (*LockDelay, error) {
	children, _, err := znode.Children(ctx, client, p.path)
	if err != nil {
		return nil, err
	}
	p.names = znode.Contenders(children, p.kinds()...)
	return listedDelay(ctx, client, p.path, children)
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
