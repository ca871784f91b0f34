package lockorder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lockorder"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A site is a world with a checker and clients that it observes.
type site struct {
	*conformance.World
	t        *testing.T
	order    *lockorder.Checker
	reported []lockorder.Cycle // by the function given to New, if the test has one goroutine
}

// onSite runs a test in a new world.
func onSite(t *testing.T, test func(t *testing.T, s *site), opts ...lockorder.Option) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := &site{World: w, t: t}
		s.order = lockorder.New(func(c lockorder.Cycle) { s.reported = append(s.reported, c) }, opts...)
		test(t, s)
	})
}

// client returns the observed client of a name.
func (s *site) client(name string) *framework.Client {
	s.t.Helper()
	return s.Client(name, func(cfg *framework.Config) { cfg.Observers = append(cfg.Observers, s.order.Observer()) })
}

func (s *site) mutex(c *framework.Client, path string) *mutex.Mutex {
	s.t.Helper()
	m, err := mutex.New(c, path)
	require.NoError(s.t, err)
	return m
}

// must acquires.
func (s *site) must(ctx context.Context, a lease.Acquirer) *lease.Lease {
	s.t.Helper()
	held, err := a.Acquire(ctx, lease.Forever)
	require.NoError(s.t, err)
	return held
}

// nest acquires locks, each with the context of the one before, and releases them.
func (s *site) nest(ctx context.Context, locks ...lease.Acquirer) {
	s.t.Helper()
	for _, lock := range locks {
		held := s.must(ctx, lock)
		ctx = held.Context() //nolint:fatcontext // they are few
		defer func() { require.NoError(s.t, held.Release()) }()
	}
}

// beside acquires locks, each with a context that owns nothing, and releases them.
func (s *site) beside(locks ...lease.Acquirer) {
	s.t.Helper()
	for _, lock := range locks {
		held := s.must(s.t.Context(), lock)
		defer func() { require.NoError(s.t, held.Release()) }()
	}
}

// found returns the paths of each cycle, in order.
func (s *site) found() (all [][]string) {
	for _, c := range s.order.Cycles() {
		var paths []string
		for _, step := range c.Steps {
			paths = append(paths, step.Held)
		}
		all = append(all, paths)
	}
	return all
}
