package semaphore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A record is what the path says about the size.
type record struct {
	exists bool
	data   []byte
	stat   framework.Stat
	watch  *framework.Watch
	size   int // the stored one, or else that of New; 0 if they were not agreed
}

// unset reports whether no size is stored, so that one may be written.
func (r record) unset() bool { return znode.IsUnset(r.data) }

// stands reports whether the path is watched and no change is known.
func (r record) stands() bool {
	if r.watch == nil {
		return false
	}
	select {
	case <-r.watch.Events():
		return false
	default:
		return true
	}
}

// foreign reports whether the path stores data that is not a size.
func (r record) foreign() bool {
	_, ok := znode.ParseSize(r.data)
	return !r.unset() && !ok
}

// checkPermits returns why n cannot be the size of a semaphore.
func checkPermits(n, least int) error {
	switch {
	case n < 0 && least == 0:
		return fmt.Errorf("%w: %d permits: give 1 or more, or 0 for the stored number", framework.ErrInvalidArgument, n)
	case n < least:
		return tooFew(n)
	case n > math.MaxInt32:
		return fmt.Errorf("%w: %d permits: give at most %d", framework.ErrInvalidArgument, n, math.MaxInt32)
	}
	if data := znode.Size(n); (record{data: data}).foreign() {
		return fmt.Errorf("%w: %d permits: stored, that is the text %s", framework.ErrInvalidArgument, n, quote.Excerpt(data))
	}
	return nil
}

func tooFew(n int) error {
	return fmt.Errorf("%w: %d permits: give 1 or more", framework.ErrInvalidArgument, n)
}

// Size returns the number of permits, held or not, as seen by a server that has caught
// up with the leader.
func (s *Semaphore) Size(ctx context.Context) (int, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	err := s.recipe.Client.Sync(ctx, s.recipe.Path)
	if err == nil {
		var r record
		if r, err = s.readSize(ctx, s.recipe.Client, 0, false); err == nil {
			return r.size, nil
		}
	}
	return 0, fmt.Errorf("size of %s: %w", s.fullPath(), err)
}

// Resize changes the number of permits, for all users of the path and at once. Holders
// keep their permits, and no permit is granted until fewer than n are held. A waiting
// request for more than n fails with ErrTooMany. The path is created if it does not
// exist, so Resize can also store the size in advance.
//
// Of several calls at the same time, the last one counts. Data that is not a size is
// not overwritten: the error is a lease.ErrForeignData.
func (s *Semaphore) Resize(ctx context.Context, n int) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := checkPermits(n, 1); err != nil {
		return fmt.Errorf("resize %s: %w", s.fullPath(), err)
	}
	if err := s.resize(ctx, n); err != nil {
		return fmt.Errorf("resize %s to %d permits: %w", s.fullPath(), n, err)
	}
	s.agreed.Store(true) // this client knows it
	return nil
}

func (s *Semaphore) resize(ctx context.Context, n int) error {
	for {
		// With its version, so that it cannot take effect after a later one.
		err := s.recipe.Client.Update(ctx, s.recipe.Path, func(data []byte, _ framework.Stat) ([]byte, bool, error) {
			if r := (record{data: data}); r.foreign() {
				return nil, false, r.refuse()
			}
			return znode.Size(n), true, nil
		})
		if !errors.Is(err, framework.ErrNoNode) || ctx.Err() != nil {
			return err
		}
		if err := s.recipe.Client.CreateParents(ctx, s.queuePath()); err != nil {
			return err
		}
	}
}

// read reads the path, with a watch if there is something to watch.
func (s *Semaphore) read(ctx context.Context, c *framework.Client, watch bool) (r record, err error) {
	if watch {
		r.data, r.stat, r.watch, err = c.GetWatch(ctx, s.recipe.Path)
	} else {
		r.data, r.stat, err = c.Get(ctx, s.recipe.Path)
	}
	if errors.Is(err, framework.ErrNoNode) {
		return record{}, nil
	}
	r.exists = err == nil
	return r, err
}

// refuse returns the error for foreign data.
func (r record) refuse() error {
	return fmt.Errorf("%w: %s: choose another path, or empty this one if no program needs that", lease.ErrForeignData, quote.Excerpt(r.data))
}

// agree returns the size, and compares it once with the number that New was given,
// unless the semaphore adopts whatever is stored.
func (s *Semaphore) agree(r record) (int, error) {
	switch {
	case r.unset() && s.permits == 0:
		return 0, ErrNoSize
	case r.foreign() && s.permits == 0:
		return 0, fmt.Errorf("%w: %w", ErrNoSize, r.refuse())
	case r.foreign():
		return 0, r.refuse()
	case r.unset():
		return s.permits, nil
	}
	size, _ := znode.ParseSize(r.data)
	if !s.agreed.Load() && !s.adopts && s.permits != size {
		return 0, fmt.Errorf("%w: %d given, %d stored", ErrSizeMismatch, s.permits, size)
	}
	s.agreed.Store(true)
	return size, nil
}

// initialise is read and agree for a client that is about to take permits: if no size
// is stored it stores its own, and returns what the path stores then, also if another
// client wrote that.
func (s *Semaphore) initialise(ctx context.Context, c *framework.Client, watch bool) (record, error) {
	for {
		r, err := s.read(ctx, c, watch)
		if err == nil && !r.exists { // then the position below it is gone, too
			err = queue.ErrEvicted
		}
		if err != nil {
			return r, err
		}
		if r.size, err = s.agree(r); err != nil || !r.unset() {
			return r, err
		}
		switch _, err := c.Set(ctx, s.recipe.Path, znode.Size(r.size), r.stat.Version); {
		case err == nil, errors.Is(err, framework.ErrBadVersion), errors.Is(err, framework.ErrNoNode), errors.Is(err, framework.ErrUnknownOutcome):
		default:
			return r, err
		}
	}
}

// checkCapacity returns an error unless n permits fit into the size.
func checkCapacity(n, size int) error {
	if n > size {
		return fmt.Errorf("%w: %d asked for, %d in all", ErrTooMany, n, size)
	}
	return nil
}

// readSize returns the size for a client that may request n permits, or waits in the
// queue for them. It takes none by that size, so it does not store one either.
func (s *Semaphore) readSize(ctx context.Context, c *framework.Client, n int, watch bool) (record, error) {
	r, err := s.read(ctx, c, watch)
	if err == nil {
		r.size, err = s.agree(r)
	}
	if err == nil {
		err = checkCapacity(n, r.size)
	}
	return r, err
}

// listedSize returns the size for a listing of a single queue. If the path stores none,
// or other data, it is the number that New was given.
func (s *Semaphore) listedSize(ctx context.Context, c *framework.Client) (int, error) {
	r, err := s.readSize(ctx, c, 0, false)
	if errors.Is(err, lease.ErrForeignData) && s.permits != 0 {
		return s.permits, nil
	}
	return r.size, err
}
