package lockorder_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// Of every recipe, holds start on the goroutine of Acquire, and stacks begin where the
// program has called that.
func TestEveryRecipe(t *testing.T) {
	t.Parallel()
	var rows []row
	add := func(name, from, to, cycles string, lock func(s *site) lease.Acquirer) {
		rows = append(rows, row{
			name: name, orders: from + " m>" + to, cycles: cycles,
			run: func(s *site) {
				s.beside(lock(s), s.mutex("m"))
				s.beside(s.mutex("m"), lock(s))
				for _, c := range s.reported {
					for _, step := range c.Steps {
						for _, by := range []string{step.HeldBy[0].Function, step.WantedBy[0].Function} {
							require.Contains(s.t, by, "/lockorder_test.")
							require.Regexp(s.t, `\.must$|anyOf`, by)
						}
					}
				}
			},
		})
	}
	add("mutex", "x>m", "x", "m,x", func(s *site) lease.Acquirer { return s.mutex("x") })
	add("reader", "x>m", "x", "m,x", func(s *site) lease.Acquirer { return s.rw("x").Read() })
	add("writer", "x>m", "x", "m,x", func(s *site) lease.Acquirer { return s.rw("x").Write() })
	add("term", "x>m", "x", "m,x", func(s *site) lease.Acquirer { return s.election("x") })
	add("permits", "x>m", "x", "m,x", func(s *site) lease.Acquirer { return s.weight("x", 2) })
	add("permits of a single queue", "x>m", "x", "m,x", func(s *site) lease.Acquirer { return s.permits("x", semaphore.WithSingleQueue()) })
	add("run of a job", "x/k.key>m x>m", "x/k.key", "m,x/k.key", func(s *site) lease.Acquirer { return s.run("x", "k") })
	add("stripe", "x/stripe-0002>m x>m", "x/stripe-0002", "m,x/stripe-0002", func(s *site) lease.Acquirer { return s.stripes("x").Stripe(2) })
	add("any stripe", "x/stripe-0000>m x>m", "x", "m,x", func(s *site) lease.Acquirer { return anyOf{s.stripesOf("x", 1)} })
	add("multi-lock", "x>m y>m", "x m>y", "m,x m,y", func(s *site) lease.Acquirer { return s.several(s.mutexes("xy")) })
	try(t, rows)
}

func TestRecipes(t *testing.T) {
	t.Parallel()
	try(t, []row{{
		name: "readers of two locks",
		run: func(s *site) {
			s.nest(s.rw("a").Read(), s.rw("b").Read())
			s.nest(s.rw("b").Read(), s.rw("a").Read())
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "a reader that wants to write fails at once",
		run: func(s *site) {
			a := s.must(s.t.Context(), s.rw("a").Read())
			m := s.must(a.Context(), s.mutex("m"))
			s.fails(m.Context(), s.rw("a").Write(), time.Minute, rwlock.ErrUpgrade)
			s.release(m, a)
		},
		orders: "a>m",
	}, {
		name: "a downgrade waits for nothing, and the reader goes on",
		run: func(s *site) {
			a := s.must(s.t.Context(), s.rw("a").Write())
			m := s.must(a.Context(), s.mutex("m"))
			reader := s.must(a.Context(), s.rw("a").Read())
			s.release(m, a)
			s.nestWith(reader.Context(), s.mutex("b"))
			s.release(reader)
			s.release(s.must(s.t.Context(), s.mutex("b")))
		},
		orders: "a>m a>b",
	}, {
		name: "permits by weight",
		run:  func(s *site) { s.nest(s.weight("s", 2), s.mutex("a")) }, orders: "s>a",
	}, {
		name: "stripes of keys, in order",
		run: func(s *site) {
			s.nest(s.stripes("s").Stripe(0), s.stripes("s").Stripe(2))
			s.nest(s.stripes("s").Stripe(0), s.stripes("s").Stripe(0))
		},
		orders: "s/stripe-0000>s/stripe-0002 s>s/stripe-0002",
	}, {
		name: "stripes of keys, in two orders",
		run: func(s *site) {
			s.nest(s.stripes("s").Stripe(0), s.stripes("s").Stripe(2))
			s.nest(s.stripes("s").Stripe(2), s.stripes("s").Stripe(0))
		},
		orders: "s/stripe-0000>s/stripe-0002 s>s/stripe-0002 s/stripe-0002>s/stripe-0000 s>s/stripe-0000",
		cycles: "s/stripe-0000,s/stripe-0002",
	}, {
		name: "any stripe, and then any other one",
		run: func(s *site) {
			stripe := anyOf{s.stripesOf("s", 1)}
			s.nest(stripe, stripe) // re-enters
			held := s.must(s.t.Context(), stripe)
			s.fails(s.t.Context(), stripe, time.Second, lease.ErrTimeout)
			s.release(held)
		},
		orders: "s/stripe-0000>s s>s", cycles: "s",
	}, {
		name: "the stripe of a key, and then any one",
		run: func(s *site) {
			s.nest(s.stripes("s").Stripe(2), anyOf{s.stripes("s")}) // re-enters
			s.beside(s.stripes("s").Stripe(2), anyOf{s.stripes("s")})
		},
		orders: "s/stripe-0002>s s>s", cycles: "s",
	}, {
		name: "a term, and mutexes of which the leader holds one while it campaigns",
		run: func(s *site) {
			m := s.must(s.t.Context(), s.mutex("m"))
			err := s.election("e").Lead(m.Context(), func(ctx context.Context, _ *lease.Lease) error {
				s.release(s.must(ctx, s.mutex("n")))
				return leader.ErrStop
			})
			require.NoError(s.t, err)
			s.release(m)
			s.nest(s.election("e"), s.mutex("m"))
		},
		orders: "m>e e>n m>n e>m", cycles: "e,m",
	}})
}
