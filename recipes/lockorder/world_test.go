package lockorder_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A site is a world with a checker and a client that it observes.
type site struct {
	*conformance.World
	t        *testing.T
	order    *lockorder.Checker
	c        *framework.Client
	reported []lockorder.Cycle // by the function given to New
}

// A row is a case: what is run, and what the checker must have then.
type row struct {
	name   string
	opts   []lockorder.Option
	run    func(s *site)
	orders string // the steps, in order, as "a>b c>d"
	cycles string // the paths of each cycle, as "a,b c"
}

// try runs the rows, each in a world of its own.
func try(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			onSite(t, func(t *testing.T, s *site) {
				r.run(s)
				require.Equal(t, r.orders, s.orders())
				require.Equal(t, r.cycles, s.found())
			}, r.opts...)
		})
	}
}

// onSite runs a test in a new world. It must leave no record.
func onSite(t *testing.T, test func(t *testing.T, s *site), opts ...lockorder.Option) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := &site{World: w, t: t}
		s.order = lockorder.New(func(c lockorder.Cycle) { s.reported = append(s.reported, c) }, opts...)
		s.c = s.client("a")
		test(t, s)
		s.Settle()
		holds, goroutines := lockorder.Records(s.order)
		require.Zero(t, holds, "records of holds that have ended")
		require.Zero(t, goroutines, "goroutines with such records")
		require.Equal(t, s.order.Cycles(), s.reported)
	})
}

// client returns the observed client of a name.
func (s *site) client(name string) *framework.Client {
	s.t.Helper()
	return s.Client(name, func(cfg *framework.Config) { cfg.Observers = append(cfg.Observers, s.order.Observer()) })
}

// mutex returns that of a name.
func (s *site) mutex(name string) lease.Acquirer { return s.mutexOf(s.c, name) }

func (s *site) mutexOf(c *framework.Client, name string) lease.Acquirer {
	s.t.Helper()
	return s.mutexAt(c, "/locks/"+name)
}

func (s *site) mutexAt(c *framework.Client, path string) lease.Acquirer {
	s.t.Helper()
	m, err := mutex.New(c, path)
	require.NoError(s.t, err)
	return m
}

// mutexes returns those of names of one letter.
func (s *site) mutexes(names string) (all []lease.Acquirer) {
	s.t.Helper()
	for _, name := range names {
		all = append(all, s.mutex(string(name)))
	}
	return all
}

func (s *site) rw(name string) *rwlock.Lock {
	s.t.Helper()
	l, err := rwlock.New(s.c, "/locks/"+name)
	require.NoError(s.t, err)
	return l
}

func (s *site) permits(name string, opts ...semaphore.Option) *semaphore.Semaphore {
	s.t.Helper()
	l, err := semaphore.New(s.c, "/locks/"+name, 3, opts...)
	require.NoError(s.t, err)
	return l
}

func (s *site) weight(name string, n int) lease.Acquirer { return s.permits(name).Weight(n) }

func (s *site) stripes(name string) *striped.Locks { return s.stripesOf(name, 4) }

func (s *site) stripesOf(name string, n int) *striped.Locks {
	s.t.Helper()
	l, err := striped.New(s.c, "/locks/"+name, n)
	require.NoError(s.t, err)
	return l
}

func (s *site) election(name string) *leader.Election {
	s.t.Helper()
	e, err := leader.New(s.c, "/locks/"+name)
	require.NoError(s.t, err)
	return e
}

func (s *site) run(name, key string) lease.Acquirer {
	s.t.Helper()
	job, err := once.New(s.c, "/locks/"+name)
	require.NoError(s.t, err)
	return job.Key(key)
}

func (s *site) several(locks []lease.Acquirer, opts ...multilock.Option) lease.Acquirer {
	s.t.Helper()
	l, err := multilock.New(locks, opts...)
	require.NoError(s.t, err)
	return l
}

// anyOf acquires any stripe.
type anyOf struct{ *striped.Locks }

func (a anyOf) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, _, err := a.AcquireAny(ctx, timeout)
	return held, err
}

// must acquires.
func (s *site) must(ctx context.Context, a lease.Acquirer) *lease.Lease {
	s.t.Helper()
	held, err := a.Acquire(ctx, time.Minute)
	require.NoError(s.t, err)
	return held
}

// fails waits in vain.
func (s *site) fails(ctx context.Context, a lease.Acquirer, timeout time.Duration, want error) {
	s.t.Helper()
	_, err := a.Acquire(ctx, timeout)
	require.ErrorIs(s.t, err, want)
}

// release releases.
func (s *site) release(all ...*lease.Lease) {
	s.t.Helper()
	for _, held := range all {
		require.NoError(s.t, held.Release())
	}
}

// nest acquires locks in another goroutine, each with the context of the one before,
// and releases them.
func (s *site) nest(locks ...lease.Acquirer) { s.nestWith(s.t.Context(), locks...) }

func (s *site) nestWith(ctx context.Context, locks ...lease.Acquirer) {
	s.t.Helper()
	s.elsewhere(func() {
		var all []*lease.Lease
		for _, lock := range locks {
			held := s.must(ctx, lock)
			all, ctx = append(all, held), held.Context()
		}
		s.release(all...)
	})
}

// beside acquires locks on this goroutine, each with a context that owns nothing, and
// releases them.
func (s *site) beside(locks ...lease.Acquirer) {
	s.t.Helper()
	var all []*lease.Lease
	for _, lock := range locks {
		all = append(all, s.must(s.t.Context(), lock))
	}
	s.release(all...)
}

// elsewhere runs f on another goroutine, and waits for it.
func (s *site) elsewhere(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}

// orders returns the steps that the checker remembers.
func (s *site) orders() string { return strings.Join(lockorder.Orders(s.order), " ") }

// found returns the paths of each cycle, in order.
func (s *site) found() string {
	var all []string
	for _, c := range s.order.Cycles() {
		var paths []string
		for _, step := range c.Steps {
			paths = append(paths, strings.TrimPrefix(step.Held, "/locks/"))
		}
		all = append(all, strings.Join(paths, ","))
	}
	return strings.Join(all, " ")
}
