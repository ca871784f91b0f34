package lockorder_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What is not held any more is in no order.
func TestEnds(t *testing.T) {
	t.Parallel()
	try(t, []row{{
		name: "released",
		run: func(s *site) {
			s.release(s.must(s.t.Context(), s.mutex("a")))
			s.beside(s.mutex("b"))
		},
	}, {
		name: "released on another goroutine",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			s.elsewhere(func() { s.release(held) })
			s.beside(s.mutex("b"))
		},
	}, {
		name: "acquired on a goroutine that has ended",
		run: func(s *site) {
			var held *lease.Lease
			s.elsewhere(func() { held = s.must(s.t.Context(), s.mutex("a")) })
			s.beside(s.mutex("b"))
			s.nestWith(held.Context(), s.mutex("c"))
			s.release(held)
		},
		orders: "a>c",
	}, {
		name: "released, and the answer is late",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			s.Server.On(zktest.OpDelete, "/locks/a").Before().Delay(time.Second)
			require.NoError(s.t, held.ReleaseAsync())
			holds, _ := lockorder.Records(s.order)
			require.Equal(s.t, 1, holds, "the observers are not notified yet")
			s.beside(s.mutex("b"))
			s.After(time.Second)
		},
	}, {
		name: "released, and held on by another owner of it",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("a"))
			var again *lease.Lease
			s.elsewhere(func() { again = s.must(context.WithoutCancel(held.Context()), s.mutex("a")) })
			s.release(held)
			s.beside(s.mutex("b"))
			s.nestWith(context.WithoutCancel(held.Context()), s.mutex("b"))
			s.nestWith(again.Context(), s.mutex("c"))
			s.release(again)
		},
		orders: "a>c",
	}, {
		name: "released, and acquired again with its context",
		run: func(s *site) {
			a := s.must(s.t.Context(), s.mutex("a"))
			b := s.must(a.Context(), s.mutex("b"))
			s.Server.On(zktest.OpDelete, "/locks/a").Before().Delay(time.Second).Nth(1)
			require.NoError(s.t, a.ReleaseAsync()) // which observers are not notified of yet
			s.release(s.must(context.WithoutCancel(b.Context()), s.mutex("a")), b)
		},
		orders: "a>b b>a", cycles: "a,b",
	}, {
		name: "lost, all of the session",
		run: func(s *site) {
			a := s.must(s.t.Context(), s.mutex("a"))
			b := s.must(a.Context(), s.mutex("b"))
			s.Expire(s.c)
			<-a.Done()
			<-b.Done()
			s.Settle()
			holds, goroutines := lockorder.Records(s.order)
			require.Zero(s.t, holds+goroutines)
			s.beside(s.mutex("c"))
			s.fails(context.WithoutCancel(b.Context()), s.mutex("a"), time.Minute, lease.ErrLost)
		},
		orders: "a>b",
	}, {
		name: "lost, one of two",
		run: func(s *site) {
			a := s.must(s.t.Context(), s.mutex("a"))
			b := s.must(a.Context(), s.mutex("b"))
			s.Remove(s.Client("other"), a.Path())
			<-a.Done()
			s.nestWith(context.WithoutCancel(b.Context()), s.mutex("c"))
			s.release(b)
		},
		orders: "a>b b>c",
	}, {
		name: "handed over in memory",
		run: func(s *site) {
			held := s.must(s.t.Context(), s.mutex("l"))
			var waited *lease.Lease
			waits := make(chan struct{})
			next := make(chan struct{})
			go func() {
				defer close(next)
				m := s.must(s.t.Context(), s.mutex("m"))
				close(waits)
				waited = s.must(s.t.Context(), s.mutex("l"))
				s.beside(s.mutex("x"))
				s.release(waited, m)
			}()
			<-waits
			s.After(time.Second)
			s.Server.On(zktest.OpDelete, "/locks/l").Nth(1).Before().Delay(time.Second)
			s.release(held)
			s.beside(s.mutex("y"))
			<-next
		},
		orders: "m>l m>x l>x",
	}})
}

// Each of several checkers at one client knows at once that a lease is released, and
// not only when observers are notified of that.
func TestSeveralCheckersEnd(t *testing.T) {
	t.Parallel()
	onSite(t, func(t *testing.T, s *site) {
		second := lockorder.New(nil)
		c := s.Client("b", func(cfg *framework.Config) {
			cfg.Observers = append(cfg.Observers, s.order.Observer(), second.Observer())
		})
		s.beside(s.mutexOf(c, "a"), s.mutexOf(c, "b"))
		b := s.must(t.Context(), s.mutexOf(c, "b"))
		s.Server.On(zktest.OpDelete, "/locks/b").Client("b").Nth(1).Before().Delay(time.Second)
		require.NoError(t, b.ReleaseAsync())
		s.beside(s.mutexOf(c, "a"))
		require.Empty(t, s.order.Cycles())
		require.Empty(t, second.Cycles())
	})
}
