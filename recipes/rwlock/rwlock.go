package rwlock

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = lease.Forever

// ErrUpgrade means that the context belongs to a holder of the read lock. The holder
// must release that before it can acquire the write lock.
var ErrUpgrade = errors.New("a read lock cannot be upgraded to a write lock: release it first")

// A Lock is the read-write lock of one path. It holds no state: any number of
// goroutines may use one value, and two values of one path and client are the same
// lock. Make it with New: the methods of a nil or zero Lock, and the Acquirers that
// they return, fail with framework.ErrInvalidArgument.
type Lock struct{ readers, writers side }

// A side is one of the two ways to hold a lock.
type side struct {
	recipe acquire.Recipe
}

// New returns the read-write lock of a path. It sends nothing: the path is created, as
// a container where the server knows those, when the lock is first acquired. The
// children of the path belong to the lock. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidArgument.
func New(client *framework.Client, path string, opts ...Option) (*Lock, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "rwlock", What: "a lock", Label: o.who, Terms: o.terms}
	if err := at.Check(); err != nil {
		return nil, err
	}
	self := queue.Self(o.who)
	a := func(recipe, kind string, shared bool) side {
		return side{acquire.Recipe{
			Client: client, Path: path, Terms: o.terms, Kind: recipe, Shared: shared, Self: self, ProtectedNodes: recipepath.QueueNodes(path),
			Queue: locks.Queue(client, path, kind, self, o.terms.LockDelay),
		}}
	}
	return &Lock{readers: a(lease.KindReader, znode.Reader, true), writers: a(lease.KindWriter, znode.Writer, false)}, nil
}

// check fails unless New made the lock.
func (l *Lock) check() error {
	if l == nil || l.readers.recipe.Queue == nil {
		return recipepath.NotMade("rwlock.Lock")
	}
	return nil
}

// Read returns the read lock. Its Acquire downgrades if its context is that of a write
// lease: see the package.
func (l *Lock) Read() lease.Acquirer { return reader{l} }

// Write returns the write lock. Its Acquire fails with ErrUpgrade if its context is
// that of a read lease.
func (l *Lock) Write() lease.Acquirer { return writer{l} }

// Contenders lists the holders and, behind them, the waiters, in order. The list is
// that of one moment during the call, without those who have left since.
func (l *Lock) Contenders(ctx context.Context) ([]lease.Contender, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return l.readers.recipe.Queue.Contenders(ctx)
}

type reader struct{ lock *Lock }

func (r reader) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if err := r.lock.check(); err != nil {
		return nil, err
	}
	return r.lock.readers.recipe.Observed(ctx, 1, timeout, func(ctx context.Context) (*lease.Lease, error) { return r.acquire(ctx, timeout) })
}

func (r reader) acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	readers := r.lock.readers
	writing, forked, lost := hold.Owner(ctx, r.lock.writers.recipe.Key())
	enters := readers
	if forked { // forks of a writer enter one at a time, also to read
		enters = r.lock.writers
	}
	held, err := outliving(ctx, writing, func(ctx context.Context) (*lease.Lease, error) { return enters.recipe.Enter(ctx, timeout) })
	switch {
	case held != nil || err != nil:
		return held, err
	case lost != nil:
		return nil, lost
	case writing == nil || ctx.Err() != nil:
		return readers.recipe.Take(ctx, timeout, acquire.InQueue(readers.recipe.Queue))
	}
	return readers.downgrade(ctx, timeout, writing)
}

type writer struct{ lock *Lock }

func (w writer) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if err := w.lock.check(); err != nil {
		return nil, err
	}
	return w.lock.writers.recipe.Observed(ctx, 1, timeout, func(ctx context.Context) (*lease.Lease, error) { return w.acquire(ctx, timeout) })
}

func (w writer) acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	writers := w.lock.writers
	held, err := writers.recipe.Enter(ctx, timeout)
	if held != nil || err != nil {
		return held, err
	}
	reading, _, err := hold.Owner(ctx, w.lock.readers.recipe.Key())
	switch {
	case err != nil:
		return nil, err
	case reading != nil:
		return nil, w.lock.readers.recipe.Failed(ErrUpgrade)
	}
	return writers.recipe.Take(ctx, timeout, acquire.InQueue(writers.recipe.Queue))
}
