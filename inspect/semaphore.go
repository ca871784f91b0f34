package inspect

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// Permits are the numbers of a semaphore.
type Permits struct {
	// SizeKnown says whether the size is stored at the path. Curator need not store it;
	// then Size and Free are 0.
	SizeKnown bool
	// Size is how many permits there are, Free how many could be acquired at once, were
	// it not for a lock-delay.
	Size, Free int
}

// atThePath are the kinds of contenders right below a path.
var atThePath = slices.Concat(znode.Locks, []string{znode.Latch, znode.Permits})

// addSemaphores adds the semaphore of each layout that the children look like. Users of
// a semaphore refuse a path in the other layout; where there are both all the same, the
// numbers are those of the single queue.
func (s *Survey) addSemaphores(ctx context.Context, client *framework.Client, path string, children []string) error {
	if slices.Contains(children, znode.QueueDir) || slices.Contains(children, znode.PermitsDir) {
		if err := s.addSemaphore(ctx, client, path); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(children, inSingleQueue) || s.hadPermits() {
		return s.addSemaphore(ctx, client, path, semaphore.WithSingleQueue())
	}
	return nil
}

func inSingleQueue(child string) bool {
	_, ok := znode.Parse(child, znode.Permits)
	return ok
}

// hadPermits reports whether a holder of permits in a single queue has ended without a
// release: it may have been the last.
func (s *Survey) hadPermits() bool {
	d := s.delayOf()
	return d != nil && slices.ContainsFunc(d.Ended, func(e Ended) bool { return inSingleQueue(e.Node) })
}

func (s *Survey) addSemaphore(ctx context.Context, client *framework.Client, path string, layout ...semaphore.Option) error {
	for {
		permits, lister, err := permitsOf(ctx, client, path, layout)
		if err != nil {
			return err
		}
		found, err := lister.Contenders(ctx)
		if errors.Is(err, semaphore.ErrSizeMismatch) || errors.Is(err, semaphore.ErrNoSize) {
			continue // the size has changed since
		}
		if err != nil {
			return err
		}
		q := queueOf(Semaphore, found)
		if !permits.SizeKnown {
			q.forgetHolders()
		}
		s.add(q)
		s.Permits = &permits
		return nil
	}
}

// permitsOf returns the numbers of a semaphore, and a value of it that lists its queue.
func permitsOf(ctx context.Context, client *framework.Client, path string, layout []semaphore.Option) (p Permits, lister *semaphore.Semaphore, err error) {
	lister, err = semaphore.New(client, path, 0, layout...) // of the size that is stored
	if err != nil {
		return Permits{}, nil, err
	}
	p.SizeKnown = true
	if p.Size, err = lister.Size(ctx); err == nil {
		p.Free, err = lister.Available(ctx)
		p.Free = min(p.Free, p.Size) // the size may have grown in between
	}
	if errors.Is(err, semaphore.ErrNoSize) {
		// A single queue cannot be listed without a size. It decides only who holds.
		p = Permits{}
		lister, err = semaphore.New(client, path, math.MaxInt32, layout...)
	}
	return p, lister, err
}

// forgetHolders marks as unknown who holds, where that depends on the size.
func (q Queue) forgetHolders() {
	for i := range q.Contenders {
		if c := &q.Contenders[i]; inSingleQueue(c.Node) {
			c.Holding, c.State = false, Unknown
		}
	}
}
