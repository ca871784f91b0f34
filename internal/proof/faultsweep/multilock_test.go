package faultsweep

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

// The locks on two mutexes that are swept.
var (
	aMultiLock = conformance.Recipe{Name: "aMultiLock", Slots: 1, Locks: 2, New: func(c *framework.Client, path string) lease.Acquirer {
		return conformance.FirstToken{Acquirer: onBoth(c, path)}
	}}
	// Each client takes the locks in another order every other time.
	aForeignOrder = conformance.Recipe{Name: "aForeignOrder", Slots: 1, Locks: 2, New: func(c *framework.Client, path string) lease.Acquirer {
		first, behind := must(mutex.New(c, path)), must(mutex.New(c, second))
		return &inTurn{onBoth(c, path), foreign{behind, first}, atomic.Int32{}}
	}}
)

func onBoth(c *framework.Client, path string) lease.Acquirer {
	locks := []lease.Acquirer{must(mutex.New(c, path)), must(mutex.New(c, second))}
	return must(multilock.New(locks, multilock.WithWaitLimit(retry.Constant(1103*time.Millisecond))))
}

// inTurn acquires in two ways, in turn.
type inTurn struct {
	even, odd lease.Acquirer
	calls     atomic.Int32
}

func (a *inTurn) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	way := a.even
	if a.calls.Add(1)%2 == 1 {
		way = a.odd
	}
	return conformance.FirstToken{Acquirer: way}.Acquire(ctx, timeout)
}

// A foreign acquires a lock while it holds another, and waits for as long as it takes.
type foreign struct{ outer, inner lease.Acquirer }

func (f foreign) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	for {
		outer, err := f.outer.Acquire(ctx, timeout)
		if err != nil {
			return nil, err
		}
		inner, err := f.inner.Acquire(outer.Context(), timeout)
		if err == nil {
			return lease.New(nested{inner, outer}), nil
		}
		if released := outer.Release(); released == nil || ctx.Err() != nil {
			return nil, err
		} else if !errors.Is(released, lease.ErrLost) {
			return nil, errors.Join(err, released)
		}
	}
}

// nested is a lease that was acquired under another.
type nested struct {
	*lease.Lease
	outer *lease.Lease
}

func (n nested) Tokens() []lease.Token { return []lease.Token{n.Token(), n.outer.Token()} }

func (n nested) Err() error { return errors.Join(n.Lease.Err(), n.outer.Err()) }

func (n nested) Release() error { return errors.Join(n.Lease.Release(), n.outer.Release()) }
