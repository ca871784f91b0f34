package mutex

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/locks"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Forever as the timeout of Acquire leaves the bound of the wait to the context.
const Forever = lease.Forever

// A Mutex is the mutex of one path. It holds no state: any number of goroutines may use
// one value, and two values of one path and client are the same mutex. Make it with
// New: the methods of a nil or zero Mutex fail with framework.ErrInvalidArgument.
type Mutex struct {
	recipe acquire.Recipe
}

var _ lease.Acquirer = (*Mutex)(nil)

// New returns the mutex of a path. It sends nothing: the path is created, as a
// container where the server knows those, when the mutex is first acquired. The
// children of the path belong to the mutex. Errors: framework.ErrInvalidPath,
// framework.ErrInvalidArgument.
func New(client *framework.Client, path string, opts ...Option) (*Mutex, error) {
	o := options{}
	for _, opt := range opts {
		opt(&o)
	}
	at := recipepath.Intent{Client: client, Path: path, Package: "mutex", What: "a mutex", Label: o.who, Terms: o.terms}
	if err := at.Check(); err != nil {
		return nil, err
	}
	self := queue.Self(o.who)
	recipe := acquire.Recipe{
		Client: client, Path: path, Terms: o.terms, Kind: lease.KindMutex, Self: self, ProtectedNodes: recipepath.QueueNodes(path),
		Queue: locks.Queue(client, path, znode.Mutex, self, o.terms.LockDelay),
	}
	return &Mutex{recipe}, nil
}

// check fails unless New made the mutex.
func (m *Mutex) check() error {
	if m == nil || m.recipe.Queue == nil {
		return recipepath.NotMade("mutex.Mutex")
	}
	return nil
}

// Acquire waits up to timeout for the mutex. See lease.Acquirer for everything that all
// recipes have in common. A timeout of 0 or less acquires the mutex only if it is free
// now, and costs one read if it is not.
func (m *Mutex) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.recipe.Acquire(ctx, timeout, acquire.InQueue(m.recipe.Queue))
}

// Contenders lists the holder and, behind it, the waiters, in order. The list is that
// of one moment during the call, without those who have left since.
func (m *Mutex) Contenders(ctx context.Context) ([]lease.Contender, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.recipe.Queue.Contenders(ctx)
}
