package lockorder_test

import (
	"context"
	"testing"

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
		name: "enter the hold of their owner in any order",
		run: func(s *site) {
			under(s, s.mutex("l"), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("m"), s.mutex("l"))
				s.nestWith(lease.Fork(ctx), s.mutex("l"), s.mutex("m"), s.mutex("l"))
			})
		},
		orders: "l>m",
	}, {
		name: "hold what the owner above holds",
		run: func(s *site) {
			outer := s.must(s.t.Context(), s.mutex("o"))
			l := s.must(outer.Context(), s.mutex("l"))
			fork := lease.Fork(l.Context())
			s.release(s.must(fork, s.mutex("l"))) // also on the goroutine of the owner
			m := s.must(fork, s.mutex("m"))
			s.release(s.must(m.Context(), s.mutex("l")), m, l, outer)
		},
		orders: "o>l l>m o>m",
	}, {
		name: "of a writer enter, also to read",
		run: func(s *site) {
			under(s, s.rw("l").Write(), func(ctx context.Context) {
				s.nestWith(lease.Fork(ctx), s.mutex("m"), s.rw("l").Read())
				s.nestWith(lease.Fork(ctx), s.rw("l").Read(), s.mutex("m"))
			})
		},
		orders: "l>m",
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
		orders: "s/stripe-0001>m s>m",
	}})
}
