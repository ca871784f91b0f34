package lockdelay_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

const maxHold = 40 * time.Second

type anyStripe struct{ *striped.Locks }

func (a anyStripe) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	l, _, err := a.AcquireAny(ctx, timeout)
	return l, err
}

type downgraded struct{ *rwlock.Lock }

func (d downgraded) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	w, err := d.Write().Acquire(ctx, timeout)
	if err != nil {
		return nil, err
	}
	defer w.Release()
	return d.Read().Acquire(w.Context(), timeout)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func all() map[string][2]func(c *framework.Client) lease.Acquirer {
	rw := func(c *framework.Client) *rwlock.Lock {
		return must(rwlock.New(c, path, rwlock.WithLockDelay(delay), rwlock.WithMaxHold(maxHold)))
	}
	read := func(c *framework.Client) lease.Acquirer { return rw(c).Read() }
	write := func(c *framework.Client) lease.Acquirer { return rw(c).Write() }
	m := func(c *framework.Client) lease.Acquirer {
		return must(mutex.New(c, path, mutex.WithLockDelay(delay), mutex.WithMaxHold(maxHold)))
	}
	weight := func(n int) func(c *framework.Client) lease.Acquirer {
		return func(c *framework.Client) lease.Acquirer {
			return must(semaphore.New(c, path, 3, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay), semaphore.WithMaxHold(maxHold))).Weight(n)
		}
	}
	locks := func(c *framework.Client) *striped.Locks {
		return must(striped.New(c, path, 1, striped.WithLockDelay(delay), striped.WithMaxHold(maxHold)))
	}
	return map[string][2]func(c *framework.Client) lease.Acquirer{
		"mutex":              {m, m},
		"mutex then reader":  {m, read},
		"writer then reader": {write, read},
		"reader then writer": {read, write},
		"reader then mutex":  {read, m},
		"downgraded":         {func(c *framework.Client) lease.Acquirer { return downgraded{rw(c)} }, write},
		"permits":            {weight(2), weight(2)},
		"leader": {func(c *framework.Client) lease.Acquirer {
			return must(leader.New(c, path, leader.WithLockDelay(delay), leader.WithMaxHold(maxHold)))
		}, func(c *framework.Client) lease.Acquirer {
			return must(leader.New(c, path, leader.WithLockDelay(delay)))
		}},
		"stripe then any": {func(c *framework.Client) lease.Acquirer { return locks(c).For("k") }, func(c *framework.Client) lease.Acquirer { return anyStripe{locks(c)} }},
		"any then stripe": {func(c *framework.Client) lease.Acquirer { return anyStripe{locks(c)} }, func(c *framework.Client) lease.Acquirer { return locks(c).For("k") }},
		"once": {func(c *framework.Client) lease.Acquirer {
			return must(once.New(c, path, once.WithLockDelay(delay), once.WithMaxHold(maxHold))).Key("k")
		}, func(c *framework.Client) lease.Acquirer {
			return must(once.New(c, path, once.WithLockDelay(delay))).Key("k")
		}},
		"multi": {func(c *framework.Client) lease.Acquirer {
			return must(multilock.New([]lease.Acquirer{m(c), must(mutex.New(c, "/other"))}))
		}, m},
	}
}

func TestUncleanEnds(t *testing.T) {
	type end struct {
		f     func(w *conformance.World, a *framework.Client, l *lease.Lease)
		takes time.Duration // at most, until the node is gone
	}
	for name, end := range map[string]end{
		"killed":  {func(w *conformance.World, a *framework.Client, _ *lease.Lease) { kill(w, "a", a) }, 0},
		"cut off": {func(w *conformance.World, _ *framework.Client, _ *lease.Lease) { w.Server.Partition("a", true) }, 7 * time.Second},
		"deleted": {func(w *conformance.World, _ *framework.Client, l *lease.Lease) {
			w.Remove(w.Client("operator"), l.Path())
		}, 0},
		"closed": {func(_ *conformance.World, a *framework.Client, _ *lease.Lease) { _ = a.Close() }, 0},
		"max hold": {func(w *conformance.World, _ *framework.Client, _ *lease.Lease) {
			w.After(maxHold)
		}, 0},
		"suspended": {func(w *conformance.World, _ *framework.Client, _ *lease.Lease) { w.Server.DropConnections("a") }, 0},
	} {
		for recipe, of := range all() {
			for _, waits := range []bool{true, false} {
				t.Run(recipe+" "+name, func(t *testing.T) {
					inWorld(t, func(t *testing.T, w *conformance.World) {
						a := w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = name == "suspended" })
						b := w.Client("b")
						l := w.Acquire(of[0](a))
						var next *conformance.Attempt
						if waits {
							next = w.Start(of[1](b), time.Hour)
						}
						began := time.Now()
						end.f(w, a, l)
						if name == "max hold" || name == "suspended" {
							began = time.Now()
						}
						if !waits {
							next = w.Start(of[1](b), time.Hour)
						}
						next.Granted()
						require.GreaterOrEqual(t, time.Since(began), delay)
						require.Less(t, time.Since(began), delay+end.takes+3*time.Second)
					})
				})
			}
		}
	}
}
