package semaphore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"unicode"
	"unicode/utf8"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// sizeBytes is the length of a stored size: a big-endian 32-bit number, as Curator's
// SharedCount has it.
const sizeBytes = 4

// A record is what the path says about the size.
type record struct {
	exists bool
	data   []byte
	stat   framework.Stat
	watch  *framework.Watch
	size   int // by what is stored, or the own number; 0 if it was not agreed
}

// unset reports whether no size is stored, so that one may be written. An address alone
// is nobody's data: Curator gives that to each node that is created without any.
func (r record) unset() bool {
	if len(r.data) == 0 {
		return true
	}
	_, err := netip.ParseAddr(string(r.data))
	return err == nil
}

// foreign reports whether what is stored is neither a size nor nothing.
func (r record) foreign() bool { return !r.unset() && (len(r.data) != sizeBytes || isText(r.data)) }

// isText reports whether four bytes are words or digits that somebody wrote, such as
// "0010", and no number of permits. As a number they are greater than 150 million.
func isText(data []byte) bool {
	return utf8.Valid(data) && !bytes.ContainsFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) })
}

// checkPermits returns why that cannot be the size of a semaphore, which needs at least
// so many.
func checkPermits(n, least int) error {
	if n < least || n > math.MaxInt32 {
		return fmt.Errorf("%w: %d permits", framework.ErrInvalidArgument, n)
	}
	if data := encode(n); isText(data) {
		return fmt.Errorf("%w: %d permits: stored, that is the text %s", framework.ErrInvalidArgument, n, quote.Excerpt(data))
	}
	return nil
}

// stored is the size; a negative one, which only others can write, is 0.
func (r record) stored() int { return int(max(int32(binary.BigEndian.Uint32(r.data)), 0)) }

func encode(size int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(size)) }

// Size returns the number of permits there are, as seen by a server that has caught up
// with the leader.
func (s *Semaphore) Size(ctx context.Context) (int, error) {
	err := s.recipe.Client.Sync(ctx, s.recipe.Path)
	if err == nil {
		var r record
		if r, err = s.vet(ctx, s.recipe.Client, 0, false); err == nil {
			return r.size, nil
		}
	}
	return 0, fmt.Errorf("size of %s: %w", s.fullPath(), err)
}

// Resize changes the number of permits, for all users of the path and at once. Who
// holds permits keeps them: nobody gets one before fewer than n are held. Who waits for
// more than n gets ErrTooMany. The path is created if it does not exist.
//
// Of several at the same time, the last one counts. It can also be used to store the
// size of a path in advance. It returns ErrForeignData rather than overwrite data that
// is not a size.
func (s *Semaphore) Resize(ctx context.Context, n int) error {
	if err := checkPermits(n, 1); err != nil {
		return fmt.Errorf("resize %s: %w", s.fullPath(), err)
	}
	if err := s.resize(ctx, n); err != nil {
		return fmt.Errorf("resize %s to %d permits: %w", s.fullPath(), n, err)
	}
	s.agreed.Store(true) // whoever changes it knows it
	return nil
}

func (s *Semaphore) resize(ctx context.Context, n int) error {
	for {
		// With its version, so that it cannot take effect after a later one.
		err := s.recipe.Client.Update(ctx, s.recipe.Path, func(data []byte, _ framework.Stat) ([]byte, bool, error) {
			if r := (record{data: data}); r.foreign() {
				return nil, false, r.refuse()
			}
			return encode(n), true, nil
		})
		if !errors.Is(err, framework.ErrNoNode) || ctx.Err() != nil {
			return err
		}
		if err := s.recipe.Client.CreateParents(ctx, s.door()); err != nil {
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

// refuse is the error for foreign data.
func (r record) refuse() error {
	return fmt.Errorf("%w: %s: choose another path, or empty this one if nobody needs that", ErrForeignData, quote.Excerpt(r.data))
}

// agree returns the size, and compares it with the own number once.
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
	size := r.stored()
	if !s.agreed.Load() && s.permits != 0 && s.permits != size {
		return 0, fmt.Errorf("%w: %d given, %d stored", ErrSizeMismatch, s.permits, size)
	}
	s.agreed.Store(true)
	return size, nil
}

// settle is read and agree for somebody about to take permits: if no size is stored it
// stores the own one, and goes by what then is there, whoever wrote it.
func (s *Semaphore) settle(ctx context.Context, c *framework.Client, watch bool) (record, error) {
	for {
		r, err := s.read(ctx, c, watch)
		if err == nil && !r.exists { // under a place in line: then that has gone, too
			err = queue.ErrEvicted
		}
		if err != nil {
			return r, err
		}
		if r.size, err = s.agree(r); err != nil || !r.unset() {
			return r, err
		}
		switch _, err := c.Set(ctx, s.recipe.Path, encode(r.size), r.stat.Version); {
		case err == nil, errors.Is(err, framework.ErrBadVersion), errors.Is(err, framework.ErrNoNode), errors.Is(err, framework.ErrUnknownOutcome):
		default:
			return r, err
		}
	}
}

// fits reports whether n permits can ever be had.
func fits(n, size int) error {
	if n > size {
		return fmt.Errorf("%w: %d asked for, %d in all", ErrTooMany, n, size)
	}
	return nil
}

// vet returns the size for those who think of taking n permits, or wait at the door for
// them. They decide nothing by it, so they do not write it either.
func (s *Semaphore) vet(ctx context.Context, c *framework.Client, n int, watch bool) (record, error) {
	r, err := s.read(ctx, c, watch)
	if err == nil {
		r.size, err = s.agree(r)
	}
	if err == nil {
		err = fits(n, r.size)
	}
	return r, err
}

// glance returns the size for those who only list a single queue. Where none is stored,
// whatever else is, it is the own number.
func (s *Semaphore) glance(ctx context.Context, c *framework.Client) (int, error) {
	r, err := s.vet(ctx, c, 0, false)
	if errors.Is(err, ErrForeignData) && s.permits != 0 {
		return s.permits, nil
	}
	return r.size, err
}
