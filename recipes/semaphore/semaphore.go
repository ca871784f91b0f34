package semaphore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = lease.Forever

// The errors of a semaphore, for errors.Is, besides those of package lease.
var (
	// ErrSizeMismatch means that the semaphore was made for another number of permits
	// than are stored at its path. The text says both.
	ErrSizeMismatch = errors.New("the number of permits differs from the one stored at the path")
	// ErrNoSize means that the semaphore was made to adopt the size stored at the path,
	// and that none is stored there.
	ErrNoSize = errors.New("no number of permits is stored at the path")
	// ErrTooMany means that more permits were asked for than there are.
	ErrTooMany = errors.New("more permits than there are")
	// ErrForeignData is lease.ErrForeignData: the data of the path is no size, so it is
	// somebody else's. It is not overwritten, and no permit is given by it.
	ErrForeignData = lease.ErrForeignData
	// ErrLayout means that the path is in use with the other layout: see
	// WithSingleQueue. It is a lease.ErrOtherRecipe.
	ErrLayout = recipepath.ErrOtherLayout
)

// A Semaphore is the semaphore of one path. Any number of goroutines may use one value.
// Two values of one path and client are the same semaphore; each compares the number it
// was made with once. New makes it; the zero value is of no use.
type Semaphore struct {
	recipe  acquire.Recipe
	permits int // 0: whatever is stored
	single  bool
	line    *queue.Queue // at the door, or of all
	inside  *queue.Queue // those behind the door; nil if there is none

	agreed atomic.Bool // permits was compared with what is stored
}

var _ lease.Acquirer = (*Semaphore)(nil)

// New returns the semaphore of a path with that many permits, or, if that is 0, with as
// many as are stored at the path. It sends nothing: the path is created, and the number
// stored or compared, when the semaphore is first used. The children of the path belong
// to the semaphore. Errors: framework.ErrInvalidPath, framework.ErrInvalidArgument.
func New(client *framework.Client, path string, permits int, opts ...Option) (*Semaphore, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "semaphore", What: "a semaphore", Label: o.who, MaxHold: o.maxHold}
	if err := at.Check(); err != nil {
		return nil, err
	}
	if err := checkPermits(permits, 0); err != nil {
		return nil, fmt.Errorf("semaphore %s: %w", quote.Path(path), err)
	}
	self := queue.Self(o.who)
	s := &Semaphore{permits: permits, single: o.single, recipe: acquire.Recipe{Intent: at, Self: self}}
	line := func(dir, kind string, kinds []string, rule queue.Rule) *queue.Queue {
		return &queue.Queue{Client: client, Path: dir, Of: path, Kind: kind, Kinds: kinds, Data: queue.DataOf(self), Rule: rule}
	}
	if o.single {
		s.recipe.ProtectedNodes = recipepath.SizedNodes(path)
		s.line = line(path, znode.PermitsOf(1), []string{znode.Permits}, bySize(s.glance)) // who only looks asks for none
		return s, nil
	}
	s.recipe.ProtectedNodes = recipepath.SemaphoreNodes(path)
	s.line = locks.Queue(client, s.door(), znode.Mutex, self) // with whatever locks somebody else has there
	s.line.Of = path
	s.inside = line(s.leases(), znode.Permit, []string{znode.Permit}, queue.Always(all))
	return s, nil
}

func (s *Semaphore) door() string   { return s.recipe.Path + "/" + znode.QueueDir }
func (s *Semaphore) leases() string { return s.recipe.Path + "/" + znode.PermitsDir }

// Acquire waits up to timeout for a permit. See lease.Acquirer for everything that all
// recipes have in common, except that a semaphore is not re-entered. A timeout of 0 or
// less costs reads only when no permit is free.
func (s *Semaphore) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return s.acquire(ctx, 1, timeout)
}

// Weight returns the semaphore for those who need n permits at once: Acquire takes all
// of them or none, under one lease, which is lost when any of them is. The lease's Path
// and Check are those of the first permit; Confirm asks for all. Acquire returns
// ErrTooMany as soon as the size is smaller than n, and framework.ErrInvalidArgument if
// n is not positive. How many one request can take is limited by
// framework.Config.MaxRequestBytes, unless the semaphore has a single queue.
func (s *Semaphore) Weight(n int) lease.Acquirer { return weighted{s, n} }

// weighted is a semaphore of which n permits are taken at once.
type weighted struct {
	semaphore *Semaphore
	n         int
}

func (w weighted) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return w.semaphore.acquire(ctx, w.n, timeout)
}

// acquire takes n permits at once.
func (s *Semaphore) acquire(ctx context.Context, n int, timeout time.Duration) (*lease.Lease, error) {
	if n < 1 {
		return nil, s.recipe.Failed(fmt.Errorf("%w: %d permits", framework.ErrInvalidArgument, n))
	}
	if n > math.MaxInt32 { // a node's name could not say it
		return nil, s.recipe.Failed(fits(n, math.MaxInt32))
	}
	if s.single {
		return s.recipe.Acquire(ctx, timeout, s.inSingleQueue(n))
	}
	return s.recipe.Acquire(ctx, timeout, s.throughDoor(n))
}

// Available returns how many permits could be had at once, as seen by a server that has
// caught up with the leader: those that nobody holds, and none while anybody waits in
// line, who comes first, nor after Resize has made the semaphore smaller than what is
// held.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	size, err := s.Size(ctx) // with a sync
	if err != nil {
		return 0, err
	}
	asked, err := s.asked(ctx)
	if err != nil {
		return 0, fmt.Errorf("count permits of %s: %w", s.fullPath(), err)
	}
	return int(max(int64(size)-asked, 0)), nil
}

// asked counts the permits that are held or waited for, or enough of them.
func (s *Semaphore) asked(ctx context.Context) (sum int64, err error) {
	line, err := s.line.Names(ctx, s.recipe.Client)
	if err != nil {
		return 0, err
	}
	for _, name := range line {
		if sum += int64(name.Weight); !s.single {
			return math.MaxInt64, nil // for how many it waits only it knows
		}
	}
	if s.single {
		return sum, nil
	}
	inside, err := s.inside.Names(ctx, s.recipe.Client)
	return int64(len(inside)), err
}

// Contenders lists all who hold permits and, behind them, all who wait in line. It has
// one entry for each permit that is held, or, with a single queue, one for each lease.
// Who gets a permit during the call may be in it twice, as waiting and as holding;
// nobody who is there all the time is left out. With a single queue, those for whose
// permits a Resize has left no room count as waiting.
func (s *Semaphore) Contenders(ctx context.Context) ([]lease.Contender, error) {
	waiting, err := s.line.Contenders(ctx)
	if err != nil || s.single {
		return waiting, err
	}
	holding, err := s.inside.Contenders(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range waiting {
		c.Kind, c.Holding, c.Token = lease.KindSemaphore, false, 0
		holding = append(holding, c)
	}
	return holding, nil
}

// fullPath is the path for a text.
func (s *Semaphore) fullPath() string { return quote.Path(s.recipe.Client.FullPath(s.recipe.Path)) }
