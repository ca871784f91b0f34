package multilock_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/retry"
)

func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// A lock on all kinds of locks is excluded by each of them, and excludes each.
func TestLocksOfAllKinds(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		kinds := func(c *framework.Client) []lease.Acquirer {
			return []lease.Acquirer{
				must(leader.New(c, "/e")), must(mutex.New(c, "/m")), must(rwlock.New(c, "/r")).Read(), must(rwlock.New(c, "/w")).Write(),
				must(semaphore.New(c, "/s", 3)).Weight(2), must(semaphore.New(c, "/q", 3, semaphore.WithSingleQueue())).Weight(2),
			}
		}
		c, other := w.Client("a"), w.Client("other")
		excluded := kinds(other)
		excluded[2] = must(rwlock.New(other, "/r")).Write()
		all := lockOn(t, kinds(c), unlimited)
		held := w.Acquire(all)
		require.Len(t, held.Tokens(), 6)
		require.NotContains(t, held.Tokens(), lease.Token(0))
		require.Len(t, w.Ephemerals("/"), 7, "one for each, and two of the permits")
		require.NoError(t, held.Confirm(t.Context()))
		_, err := c.Multi(t.Context(), held.Check())
		require.NoError(t, err)
		for _, a := range excluded {
			require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrTimeout)
		}
		require.NoError(t, w.Start(must(rwlock.New(other, "/r")).Read(), 0).Granted().Release())
		require.NoError(t, held.Release())
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
		for _, a := range excluded {
			taken := w.Acquire(a)
			require.ErrorIs(t, w.Start(all, 0).Failed(), lease.ErrTimeout)
			waiting := w.Start(all, time.Minute)
			w.After(time.Second)
			require.True(t, waiting.Waiting())
			require.NoError(t, taken.Release())
			require.NoError(t, waiting.Granted().Release())
		}
	})
}

// A multi-lock among the locks stands for its own.
func TestMultiLockOfMultiLocks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		inner := lockOn(t, []lease.Acquirer{newMutex(t, c, stock), newMutex(t, c, cart)})
		held := w.Acquire(lockOn(t, []lease.Acquirer{newMutex(t, c, "/locks/first"), inner, newMutex(t, c, "/locks/last")}))
		require.Len(t, w.Ephemerals("/"), 4)
		for i, path := range []string{"/locks/first", stock, cart, "/locks/last"} {
			info, _ := w.Server.Node(w.Ephemerals(path)[0])
			require.EqualValues(t, info.Czxid, held.Tokens()[i])
		}
		require.NoError(t, held.Release())
	})
}

// A wrapped is an Acquirer of a user.
type wrapped struct{ lease.Acquirer }

// A deaf takes no notice of its context.
type deaf struct{ lease.Acquirer }

func (d deaf) Acquire(_ context.Context, timeout time.Duration) (*lease.Lease, error) {
	return d.Acquirer.Acquire(context.Background(), timeout)
}

func TestArgumentsOfNew(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, namespaced := w.Client("a"), w.Client("b", func(cfg *framework.Config) { cfg.Namespace = "locks" })
		m, fake := newMutex(t, c, cart), &leasetest.Acquirer{}
		events := len(w.Observed.Events())
		for name, locks := range map[string][]lease.Acquirer{
			"none":                          nil,
			"nil":                           {m, nil},
			"a zero mutex":                  {m, new(mutex.Mutex)},
			"a zero multi-lock":             {new(multilock.Lock)},
			"a fake":                        {m, fake},
			"one that hears nothing":        {deaf{fake}},
			"the same twice":                {m, newMutex(t, c, stock), m},
			"two sides":                     {must(rwlock.New(c, cart)).Read(), must(rwlock.New(c, cart)).Write()},
			"one permit and another":        {must(semaphore.New(c, cart, 3)), must(semaphore.New(c, cart, 3))},
			"the same in a multi-lock":      {m, both(t, c)},
			"the same in a wrapper":         {m, wrapped{newMutex(t, c, cart)}},
			"a multi-lock in a wrapper":     {wrapped{both(t, c)}},
			"a zero permit":                 {must(semaphore.New(c, cart, 3)).Weight(0)},
			"the same by another namespace": {newMutex(t, namespaced, "/cart"), newMutex(t, namespaced, "/cart")},
		} {
			l, err := multilock.New(locks)
			require.ErrorIs(t, err, framework.ErrInvalidArgument, name)
			require.Nil(t, l, name)
		}
		_, err := multilock.New([]lease.Acquirer{m}, multilock.WithWaitLimit(retry.Constant(0)))
		require.ErrorIs(t, err, framework.ErrInvalidArgument)
		require.Zero(t, fake.Held())
		require.Len(t, w.Observed.Events(), events, "nothing is acquired")
		require.NoError(t, w.Acquire(lockOn(t, []lease.Acquirer{wrapped{m}, must(mutex.New(namespaced, "/stock"))})).Release())
	})
}

// A hidden has leases whose contexts own nothing.
type hidden struct{ lease.Acquirer }

func (h hidden) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, err := h.Acquirer.Acquire(ctx, timeout)
	if err != nil {
		return nil, err
	}
	return lease.New(hiddenClaim{held}), nil
}

type hiddenClaim struct{ *lease.Lease }

func (c hiddenClaim) Context() context.Context { return lease.WithoutOwner(c.Lease.Context()) }

// The leases of a wrapped lock have to own it: else Acquire fails, and leaves nothing.
func TestWrapperThatHidesItsLock(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		for _, locks := range [][]lease.Acquirer{
			{newMutex(t, c, cart), hidden{newMutex(t, c, stock)}}, {hidden{newMutex(t, c, cart)}, newMutex(t, c, stock)},
		} {
			require.ErrorIs(t, w.Start(lockOn(t, locks), lease.Forever).Failed(), framework.ErrInvalidArgument)
			w.Settle()
			require.Empty(t, w.Ephemerals("/"))
		}
	})
}

// The timeout bounds the waits for all locks together, and so does a deadline.
func TestTimeoutIsForAllTogether(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, other := w.Client("a"), w.Client("other")
		for _, opts := range [][]multilock.Option{{unlimited}, nil} {
			first, second := w.Acquire(newMutex(t, other, cart)), w.Acquire(newMutex(t, other, stock))
			byTimeout := w.Start(both(t, c, opts...), 8*time.Second)
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			byDeadline := w.StartWith(ctx, both(t, c, opts...), lease.Forever)
			w.After(5 * time.Second)
			require.NoError(t, first.Release())
			for _, at := range []*conformance.Attempt{byTimeout, byDeadline} {
				late := &lease.TimeoutError{}
				require.ErrorAs(t, at.Failed(), &late)
				require.InDelta(t, 8*time.Second, at.Took, float64(150*time.Millisecond))
				require.Contains(t, []string{cart, stock}, late.Path)
				require.Equal(t, at == byDeadline, late.Cause != nil)
				require.InDelta(t, at.Took, late.Waited, float64(100*time.Millisecond))
			}
			require.NoError(t, second.Release())
			w.Settle()
			require.Empty(t, w.Ephemerals("/"))
			cancel()
		}
	})
}
