package lockorder_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMultiLocks(t *testing.T) {
	t.Parallel()
	unlimited := multilock.WithWaitLimit(retry.None())
	try(t, []row{{
		name: "meet any foreign order",
		run: func(s *site) {
			s.nest(s.mutexes("ba")...)
			for range 2 { // one after the other, and together
				s.nest(s.several(s.mutexes("ab")))
			}
			s.beside(s.several(s.mutexes("ab")))
			s.nest(s.permits("x"), s.several(s.mutexes("ab"))) // not together
		},
		orders: "b>a x>a x>b",
	}, {
		name: "without a limit have an order, one after the other",
		run: func(s *site) {
			s.nest(s.several(s.mutexes("ba"), unlimited))
			s.nest(s.mutexes("ba")...)
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "without a limit have an order, together",
		run: func(s *site) {
			s.nest(s.mutex("a"))
			s.nest(s.mutexes("ba")...)
			require.Empty(s.t, s.reported)
			s.nest(s.several(s.mutexes("ab"), unlimited))
		},
		orders: "b>a a>b", cycles: "a,b",
	}, {
		name: "are waited for under another lock",
		run: func(s *site) {
			s.nest(s.mutex("b"), s.mutex("o"))
			s.nest(s.mutex("o"), s.several(s.mutexes("ab")))
		},
		orders: "b>o o>a o>b", cycles: "b,o",
	}, {
		name: "are held like other locks",
		run: func(s *site) {
			s.nest(s.several(s.mutexes("ab")), s.mutex("m"))
			s.beside(s.several(s.mutexes("ab")), s.mutex("n"))
			s.nest(s.mutexes("mb")...)
		},
		orders: "b>m a>m a>n b>n m>b", cycles: "b,m",
	}, {
		name: "re-enter, and wait for the others with what was entered",
		run: func(s *site) {
			s.nest(s.mutex("b"), s.several(s.mutexes("abc")))
		},
		orders: "b>a b>c",
	}, {
		name: "of types that acquire more than they own",
		run: func(s *site) {
			s.nest(s.several([]lease.Acquirer{greedy{s.mutex("a"), s.mutex("x")}, s.mutex("b")}))
		},
	}, {
		name: "in multi-locks",
		run: func(s *site) {
			s.nest(s.several(s.mutexes("ab")), s.several(s.mutexes("bcd")))
		},
		orders: "b>c a>c b>d a>d",
	}})
}

// A greedy acquires another lock before its own.
type greedy struct {
	lease.Acquirer
	other lease.Acquirer
}

// Acquire acquires both, and releases the other one after that.
func (g greedy) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	other, err := g.other.Acquire(ctx, timeout)
	if err != nil {
		return nil, err
	}
	defer other.Release()
	return g.Acquirer.Acquire(ctx, timeout)
}

// A multi-lock that gives up what it has, because it waits for another lock for too
// long, begins with that, perhaps before it is known that the nodes are deleted.
func TestMultiLockBeginsAgain(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		both := s.several(s.mutexes("ab"), multilock.WithWaitLimit(retry.Constant(time.Second)))
		s.nest(both)
		s.nest(s.mutexes("ba")...)
		blocking := s.must(t.Context(), s.mutexOf(s.Client("other"), "b"))
		s.Server.On(zktest.OpDelete, "/locks/a").Client("a").Before().Delay(900 * time.Millisecond).Always()
		at := s.Start(both, time.Minute)
		s.After(1300 * time.Millisecond)
		started := 0
		for _, e := range s.Observed.Events() {
			if a, ok := e.(framework.AcquireInfo); ok && a.Lock == "/locks/b" {
				started++
			}
		}
		require.Equal(t, 5, started, "it has begun again") // one is that of the other client
		holds, _ := lockorder.Records(s.order)
		require.Equal(t, 1, holds, "the observers are not notified yet")
		s.release(blocking)
		s.release(at.Granted())
		require.Equal(t, "b>a", s.orders())
		require.Empty(t, s.reported)
	})
}

// With a lease of its own around the same locks.
func TestMultiLockUnderItself(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		both := s.several(s.mutexes("ab"))
		held := s.must(t.Context(), both)
		s.fails(lease.WithoutOwner(held.Context()), both, time.Second, lease.ErrTimeout)
		s.release(held)
		require.Equal(t, "a", s.found())
	})
}
