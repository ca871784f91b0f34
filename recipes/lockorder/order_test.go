package lockorder_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
)

func TestOrders(t *testing.T) {
	t.Parallel()
	try(t, []row{{
		name: "by the context",
		run: func(s *site) {
			s.nest(s.mutexes("ab")...)
			require.Empty(s.t, s.order.Cycles())
			s.nest(s.mutexes("ba")...)
			require.False(s.t, s.reported[0].Steps[0].ByGoroutine)
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "by the goroutine",
		run: func(s *site) {
			s.beside(s.mutexes("ab")...)
			require.Empty(s.t, s.order.Cycles())
			s.beside(s.mutexes("ba")...)
			require.True(s.t, s.reported[0].Steps[0].ByGoroutine)
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "by the context only", opts: []lockorder.Option{lockorder.WithContextsOnly()},
		run: func(s *site) {
			s.nest(s.mutexes("ab")...)
			s.beside(s.mutexes("ba")...)
		},
		orders: "a>b",
	}, {
		name: "of goroutines that share nothing",
		run: func(s *site) {
			first, second := s.must(s.t.Context(), s.mutex("a")), (*lease.Lease)(nil)
			s.elsewhere(func() { second = s.must(s.t.Context(), s.mutex("b")) })
			s.release(first, second)
		},
	}, {
		name: "three in a ring",
		run: func(s *site) {
			s.nest(s.mutexes("bc")...)
			s.nest(s.mutexes("ca")...)
			s.nest(s.mutexes("ab")...)
		},
		orders: "b>c c>a a>b", cycles: "a,b,c",
	}, {
		name: "once each, whatever comes again",
		run: func(s *site) {
			for range 3 {
				s.nest(s.mutexes("ab")...)
				s.nest(s.mutexes("ba")...)
			}
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "the shortest cycle, which was not seen last",
		run: func(s *site) {
			for _, names := range []string{"xc", "cd", "xa", "ab", "bd", "dx"} {
				s.nest(s.mutexes(names)...)
			}
		},
		orders: "x>c c>d x>a a>b b>d d>x", cycles: "c,d,x",
	}, {
		name: "the shortest cycle",
		run: func(s *site) {
			s.nest(s.mutexes("ab")...)
			s.nest(s.mutexes("bc")...)
			s.nest(s.mutexes("ac")...)
			s.nest(s.mutexes("ca")...)
		},
		orders: "a>b b>c a>c c>a", cycles: "a,c",
	}, {
		name: "two cycles at once",
		run: func(s *site) {
			s.nest(s.mutexes("ca")...)
			s.nest(s.mutexes("cb")...)
			s.nest(s.mutexes("abc")...)
		},
		orders: "c>a c>b a>b b>c a>c", cycles: "b,c a,c",
	}, {
		name: "consistent",
		run: func(s *site) {
			s.nest(s.mutexes("abc")...)
			s.nest(s.mutexes("ac")...)
			s.beside(s.mutexes("bc")...)
			s.beside(s.mutexes("abc")...)
		},
		orders: "a>b b>c a>c",
	}, {
		name:   "a re-entry",
		run:    func(s *site) { s.nest(s.mutexes("aba")...) },
		orders: "a>b",
	}, {
		name: "an acquire that does not wait",
		run: func(s *site) {
			s.nest(s.mutexes("ab")...)
			b := s.must(s.t.Context(), s.mutex("b"))
			a, err := s.mutex("a").Acquire(b.Context(), 0)
			require.NoError(s.t, err)
			s.release(a, b)
		},
		orders: "a>b",
	}, {
		name: "an acquire that does not wait for long",
		run: func(s *site) {
			s.nest(s.mutexes("ab")...)
			b := s.must(s.t.Context(), s.mutex("b"))
			a, err := s.mutex("a").Acquire(b.Context(), time.Millisecond)
			require.NoError(s.t, err)
			s.release(a, b)
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "a context that has ended",
		run: func(s *site) {
			b := s.must(s.t.Context(), s.mutex("b"))
			ctx, cancel := context.WithCancel(b.Context())
			cancel()
			s.fails(ctx, s.mutex("a"), time.Minute, context.Canceled)
			s.release(b)
		},
	}, {
		name: "that are forgotten",
		run: func(s *site) {
			lockorder.Limit(s.order, 3)
			s.nest(s.mutexes("ab")...)
			s.nest(s.mutexes("cd")...)
			s.nest(s.mutexes("ce")...)
			s.nest(s.mutexes("xy")...)
			s.nest(s.mutexes("ba")...)
			require.Empty(s.t, s.reported, "the first order is forgotten")
			s.nest(s.mutexes("ab")...)
			s.nest(s.mutexes("cd")...)
			s.nest(s.mutexes("ce")...)
			s.nest(s.mutexes("ba")...)
			require.Len(s.t, s.reported, 1)
			s.nest(s.mutexes("ab")...) // which had been forgotten, and closes it again
		},
		orders: "c>e b>a a>b", cycles: "a,b a,b",
	}, {
		name: "that are left when others are forgotten",
		run: func(s *site) {
			lockorder.Limit(s.order, 3)
			s.nest(s.mutexes("ab")...)
			s.nest(s.mutexes("de")...)
			s.nest(s.mutexes("ac")...)
			s.nest(s.mutexes("fg")...)
			s.nest(s.mutexes("ca")...)
		},
		orders: "a>c f>g c>a", cycles: "a,c",
	}})
}

func TestHeldByItsOwner(t *testing.T) {
	t.Parallel()
	try(t, []row{{
		name: "with another context on the same goroutine", // Curator's two objects, one path, one thread
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			s.fails(s.t.Context(), s.mutex("a"), time.Second, lease.ErrTimeout)
			s.release(held)
		},
		orders: "a>a", cycles: "a",
	}, {
		name: "without its owner",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			s.nestWith(lease.WithoutOwner(held.Context()), s.mutex("b"))
			s.release(s.must(lease.WithoutOwner(held.Context()), s.mutex("b")))
			s.fails(lease.WithoutOwner(held.Context()), s.mutex("a"), time.Second, lease.ErrTimeout)
			s.release(held)
		},
		orders: "a>b a>a", cycles: "a",
	}, {
		name: "without its owner, contexts only", opts: []lockorder.Option{lockorder.WithContextsOnly()},
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			s.fails(lease.WithoutOwner(held.Context()), s.mutex("a"), time.Second, lease.ErrTimeout)
			s.release(held)
		},
	}, {
		name: "by another client",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			other := s.mutexOf(s.client("b"), "a")
			s.elsewhere(func() { s.fails(held.Context(), other, time.Second, lease.ErrTimeout) })
			s.release(held)
		},
		orders: "a>a", cycles: "a",
	}, {
		name: "as another recipe of its queue",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			s.fails(held.Context(), s.rw("a").Write(), time.Second, lease.ErrTimeout)
			s.release(held)
		},
		orders: "a>a", cycles: "a",
	}, {
		name: "one permit after another",
		run: func(s *site) {
			s.nest(s.permits("s"), s.permits("s"))
			s.beside(s.permits("s"), s.permits("s"))
		},
		orders: "s>s", cycles: "s",
	}, {
		name: "a reader twice",
		run: func(s *site) {
			s.nest(s.rw("r").Read(), s.rw("r").Read())
			require.Empty(s.t, s.reported)
			s.beside(s.rw("r").Read(), s.rw("r").Read())
		},
		orders: "r>r", cycles: "r",
	}})
}

func TestClients(t *testing.T) {
	t.Parallel()
	try(t, []row{{
		name: "two that are observed",
		run: func(s *site) {
			other := s.client("b")
			s.nest(s.mutex("a"), s.mutexOf(other, "b"))
			s.nest(s.mutexOf(other, "b"), s.mutex("a"))
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "one that is not observed",
		run: func(s *site) {
			other := s.Client("b")
			s.nest(s.mutexOf(other, "a"), s.mutex("b"))
			s.nest(s.mutex("b"), s.mutexOf(other, "a"))
			s.nest(s.mutexOf(other, "a"), s.mutex("b"), s.mutex("c"))
			held := s.must(s.t.Context(), s.mutexOf(other, "a"))
			b := s.must(held.Context(), s.mutex("b"))
			s.fails(b.Context(), s.mutex("a"), time.Second, lease.ErrTimeout) // it is that of another client
			s.release(b, held)
		},
		orders: "b>c b>a",
	}, {
		name: "one that is not observed, under a lease of one that is",
		run: func(s *site) {
			a := s.must(s.t.Context(), s.mutex("a"))
			s.release(s.must(a.Context(), s.mutexOf(s.Client("b"), "b")))
			s.beside(s.mutex("c"))
			s.release(a)
		},
		orders: "a>c",
	}, {
		name: "one with a namespace",
		run: func(s *site) {
			namespace, err := s.c.Namespace("locks")
			require.NoError(s.t, err)
			short := s.mutexAt(namespace, "/a")
			s.nest(s.mutexes("ab")...)
			s.nest(s.mutex("b"), short)
			s.nest(s.mutex("a"), short)
		},
		orders: "a>b b>a", cycles: "a,b",
	}})
}
