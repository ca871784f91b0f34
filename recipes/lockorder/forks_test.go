package lockorder_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

func TestForks(t *testing.T) {
	t.Parallel()
	under := func(s *site, lock lease.Acquirer, work func(ctx context.Context)) {
		held := s.must(s.t.Context(), lock)
		work(held.Context())
		s.release(held)
	}
	try(t, []row{{
		name: "in one order",
		run: func(s *site) {
			under(s, s.mutex("l"), func(ctx context.Context) {
				for range 2 {
					s.nestWith(lease.Fork(ctx), s.mutex("m"), s.mutex("l"))
				}
			})
		},
		orders: "l>m m>l#1",
	}, {
		name: "in two orders",
		run: func(s *site) {
			under(s, s.mutex("l"), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("m"), s.mutex("l"))
				s.nestWith(lease.Fork(ctx), s.mutex("l"), s.mutex("m"))
			})
		},
		orders: "l>m m>l#1 l#1>m", cycles: "l,m",
	}, {
		name: "re-enter what they have",
		run: func(s *site) {
			under(s, s.mutex("l"), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("l"), s.mutex("m"), s.mutex("l"))
			})
		},
		orders: "l#1>m l>m",
	}, {
		name: "do not wait with what the owner above holds",
		run: func(s *site) {
			outer := s.must(s.t.Context(), s.mutex("o"))
			l := s.must(outer.Context(), s.mutex("l"))
			fork := lease.Fork(l.Context())
			s.release(s.must(fork, s.mutex("l"))) // also on the goroutine of the owner
			m := s.must(fork, s.mutex("m"))
			s.release(s.must(m.Context(), s.mutex("l")), m, l, outer)
		},
		orders: "o>l l>m o>m m>l#1",
	}, {
		name: "wait with what their goroutine holds",
		run: func(s *site) {
			under(s, s.mutex("l"), func(ctx context.Context) {
				s.elsewhere(func() {
					m := s.must(s.t.Context(), s.mutex("m"))
					s.release(s.must(lease.Fork(ctx), s.mutex("l")), m)
				})
			})
		},
		orders: "m>l#1",
	}, {
		name: "of forks",
		run: func(s *site) {
			under(s, s.mutex("l"), func(ctx context.Context) {
				s.elsewhere(func() {
					l := s.must(lease.Fork(ctx), s.mutex("l"))
					s.nestWith(lease.Fork(l.Context()), s.mutex("m"), s.mutex("l"))
					s.nestWith(lease.Fork(l.Context()), s.mutex("l"), s.mutex("m"))
					s.release(l)
				})
			})
		},
		orders: "l#1>m l>m m>l#2 l#2>m", cycles: "l,m",
	}, {
		name: "of a reader share",
		run: func(s *site) {
			under(s, s.rw("l").Read(), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("m"), s.rw("l").Read())
				s.nestWith(lease.Fork(ctx), s.rw("l").Read(), s.mutex("m"))
			})
		},
		orders: "l>m l#1>m",
	}, {
		name: "of a writer enter one at a time, also to read",
		run: func(s *site) {
			under(s, s.rw("l").Write(), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("m"), s.rw("l").Read())
				s.nestWith(lease.Fork(ctx), s.rw("l").Read(), s.mutex("m"))
			})
		},
		orders: "l>m m>l#1 l#1>m", cycles: "l,m",
	}, {
		name: "wait for permits of their own",
		run: func(s *site) {
			under(s, s.permits("s"), func(ctx context.Context) { s.nestWith(lease.Fork(ctx), s.permits("s")) })
		},
		orders: "s>s", cycles: "s",
	}, {
		name: "of stripes",
		run: func(s *site) {
			under(s, s.stripes("s").Stripe(1), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("m"), anyOf{s.stripes("s")})
				s.nestWith(lease.Fork(ctx), s.stripes("s").Stripe(1), s.mutex("m"))
			})
		},
		orders: "s/stripe-0001>m s>m m>s/stripe-0001#1 s/stripe-0001#1>m", cycles: "m,s/stripe-0001",
	}})
}

// The report comes before the forks wait for each other.
func TestForksWaitForEachOther(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		l := s.must(t.Context(), s.mutex("l"))
		first, second := lease.Fork(l.Context()), lease.Fork(l.Context())
		m := s.must(first, s.mutex("m"))
		entered := s.StartWith(second, s.mutex("l"), time.Minute).Granted()
		all := []interface{ Failed() error }{
			s.StartWith(m.Context(), s.mutex("l"), time.Minute), s.StartWith(entered.Context(), s.mutex("m"), time.Minute),
		}
		require.Len(t, s.order.Cycles(), 1)
		require.Contains(t, s.order.Cycles()[0].String(), "mutex /locks/l, among the forks of its holder")
		require.Equal(t, "l>m m>l#1 l#1>m", s.orders())
		for _, at := range all {
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		}
		s.release(m, entered, l)
	})
}
