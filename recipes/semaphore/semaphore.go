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
	// than the path stores. The text says both.
	ErrSizeMismatch = errors.New("the number of permits differs from the one stored at the path")
	// ErrNoSize means that New was given 0, to adopt the stored size, and that the path
	// stores none.
	ErrNoSize = errors.New("no number of permits is stored at the path")
	// ErrTooMany means that a request needs more permits than there are.
	ErrTooMany = errors.New("more permits than there are")
	// ErrOtherLayout means that the path is in use with the other layout: see
	// WithSingleQueue. It is a lease.ErrOtherRecipe.
	ErrOtherLayout = recipepath.ErrOtherLayout
)

// A Semaphore is the semaphore of one path. Any number of goroutines may use one value.
// Two values of one path and client are the same semaphore; each compares the number
// that New was given with the stored one once. Make it with New: the methods of a nil
// or zero Semaphore fail with framework.ErrInvalidArgument.
type Semaphore struct {
	recipe  acquire.Recipe
	permits int  // what to store where no size is stored; 0: nothing
	adopts  bool // the stored size, whatever it is
	single  bool
	queue   *queue.Queue // of the waiting, with the single queue also of the holders
	holders *queue.Queue // one node for each held permit; nil with the single queue

	agreed atomic.Bool // permits was compared with the stored size
}

var _ lease.Acquirer = (*Semaphore)(nil)

// New returns the semaphore of a path with that many permits, or, if that is 0, with as
// many as the path stores. It sends nothing: the path is created, and the number stored
// or compared, when the semaphore is first used. The children of the path belong to the
// semaphore. Errors: framework.ErrInvalidPath, framework.ErrInvalidArgument.
func New(client *framework.Client, path string, permits int, opts ...Option) (*Semaphore, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "semaphore", What: "a semaphore", Label: o.who, Terms: o.terms}
	if err := at.Check(); err != nil {
		return nil, err
	}
	if o.terms.LockDelay != 0 && !o.single {
		return nil, at.Invalid("a lock-delay needs a single queue: Curator knows no lock-delay")
	}
	if err := checkPermits(permits, 0); err != nil {
		return nil, fmt.Errorf("semaphore %s: %w", quote.Path(path), err)
	}
	self := queue.Self(o.who)
	s := &Semaphore{permits: permits, adopts: permits == 0 || o.adopts, single: o.single, recipe: acquire.Recipe{
		Client: client, Path: path, Terms: o.terms, Kind: lease.KindSemaphore, NotReentrant: true, Self: self,
	}}
	in := func(dir, kind string, kinds []string, rule queue.Rule) *queue.Queue {
		return &queue.Queue{Client: client, Path: dir, Of: path, Kind: kind, Kinds: kinds, Data: self.Data, Rule: rule}
	}
	if o.single {
		s.recipe.ProtectedNodes = recipepath.SizedNodes(path)
		s.queue = in(path, znode.PermitsOf(1), []string{znode.Permits}, bySize(s.listedSize)) // a listing asks for no permits
		s.queue.LockDelay = o.terms.LockDelay
		return s, nil
	}
	s.recipe.ProtectedNodes = recipepath.SemaphoreNodes(path)
	s.queue = locks.Queue(client, s.queuePath(), znode.Mutex, self, 0) // which respects locks of any kind there
	s.queue.Of, s.queue.HandsOver = path, nil
	s.holders = in(s.permitsPath(), znode.Permit, []string{znode.Permit}, queue.Always(admitAll))
	return s, nil
}

// check fails unless New made the semaphore.
func (s *Semaphore) check() error {
	if s == nil || s.queue == nil {
		return recipepath.NotMade("semaphore.Semaphore")
	}
	return nil
}

func (s *Semaphore) queuePath() string   { return s.recipe.Path + "/" + znode.QueueDir }
func (s *Semaphore) permitsPath() string { return s.recipe.Path + "/" + znode.PermitsDir }

// Acquire waits up to timeout for a permit. See lease.Acquirer for everything that all
// recipes have in common, except that a semaphore is not reentrant. A timeout of 0 or
// less acquires a permit only if one is free now, and costs reads only if none is.
func (s *Semaphore) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return s.acquire(ctx, 1, timeout)
}

// Weight returns an Acquirer of n permits at once. It acquires all of them or none,
// under one lease, which is lost when any of them is. The lease's Path is that of the
// first permit; Confirm and Check are about all. Its Acquire returns ErrTooMany as
// soon as the size is smaller than n, and framework.ErrInvalidArgument if n is not
// positive. How many permits one request can take is limited by
// framework.Config.MaxRequestBytes, unless the semaphore has a single queue.
func (s *Semaphore) Weight(n int) lease.Acquirer { return weighted{s, n} }

// weighted is a semaphore of which n permits are acquired at once.
type weighted struct {
	semaphore *Semaphore
	n         int
}

func (w weighted) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return w.semaphore.acquire(ctx, w.n, timeout)
}

// acquire waits for n permits at once.
func (s *Semaphore) acquire(ctx context.Context, n int, timeout time.Duration) (*lease.Lease, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if n < 1 {
		return nil, s.recipe.Failed(tooFew(n))
	}
	if n > math.MaxInt32 { // a node's name could not say it
		return nil, s.recipe.Failed(checkCapacity(n, math.MaxInt32))
	}
	if s.single {
		return s.recipe.AcquireN(ctx, n, timeout, s.singleQueueTaker(n))
	}
	recipe := s.recipe
	recipe.Nodes = 1 + n
	return recipe.AcquireN(ctx, n, timeout, s.curatorTaker(n))
}

// Available returns how many permits can be acquired at once, as seen by a server that
// has caught up with the leader. It is 0 while a client waits in the queue, because
// that client comes first, and while more permits are held than Resize has left.
func (s *Semaphore) Available(ctx context.Context) (int, error) {
	size, err := s.Size(ctx) // with a sync
	if err != nil {
		return 0, err
	}
	claimed, err := s.claimed(ctx)
	if err != nil {
		return 0, fmt.Errorf("count permits of %s: %w", s.fullPath(), err)
	}
	return int(max(int64(size)-claimed, 0)), nil
}

// claimed counts the permits that are held or waited for, or enough of them.
func (s *Semaphore) claimed(ctx context.Context) (sum int64, err error) {
	names, err := s.queue.Names(ctx, s.recipe.Client)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if sum += int64(name.Weight); !s.single {
			return math.MaxInt64, nil // only the waiting client knows how many it needs
		}
	}
	if s.single {
		return sum, nil
	}
	holders, err := s.holders.Names(ctx, s.recipe.Client)
	return int64(len(holders)), err
}

// Contenders lists the holders and, behind them, the waiters, in order. It has one
// entry for each permit that is held, or, with a single queue, one for each lease. A
// client that gets a permit during the call may be listed twice, as waiting and as
// holding; one that is there all the time is never left out. With a single queue,
// holders whose permits a smaller size no longer allows are listed as waiting.
func (s *Semaphore) Contenders(ctx context.Context) ([]lease.Contender, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	waiting, err := s.queue.Contenders(ctx)
	if err != nil || s.single {
		return waiting, err
	}
	holding, err := s.holders.Contenders(ctx)
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
