package multilock_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The paths of the locks, in their order.
const (
	cart  = "/locks/cart"
	stock = "/locks/stock"
)

// paths are those of three mutexes, in their order.
var paths = []string{"/locks/a", "/locks/b", "/locks/c"}

// unlimited has a wait last until its timeout, so that the tests do not depend on
// random limits.
var unlimited = multilock.WithWaitLimit(retry.None())

func newMutex(tb testing.TB, c *framework.Client, path string, opts ...mutex.Option) *mutex.Mutex {
	tb.Helper()
	m, err := mutex.New(c, path, opts...)
	require.NoError(tb, err)
	return m
}

// both returns the lock on cart and stock, given in that order.
func both(tb testing.TB, c *framework.Client, opts ...multilock.Option) *multilock.Lock {
	tb.Helper()
	return newLock(tb, c, []string{cart, stock}, opts...)
}

// newLock returns the lock on the mutexes at these paths, given in this order.
func newLock(tb testing.TB, c *framework.Client, paths []string, opts ...multilock.Option) *multilock.Lock {
	tb.Helper()
	var all []lease.Acquirer
	for _, path := range paths {
		all = append(all, newMutex(tb, c, path))
	}
	return lockOn(tb, all, opts...)
}

// warm uses all mutexes once, so that their parents exist.
func warm(w *conformance.World, c *framework.Client) {
	w.T.Helper()
	require.NoError(w.T, w.Acquire(newLock(w.T, c, paths)).Release())
	w.Settle()
}

// requireFree checks that nothing is left at the mutexes, and that each is free.
func requireFree(w *conformance.World, c *framework.Client) {
	w.T.Helper()
	w.Settle()
	require.Empty(w.T, w.Ephemerals("/"))
	for _, path := range paths {
		require.NoError(w.T, w.Start(newMutex(w.T, c, path), 0).Granted().Release())
	}
}

func lockOn(tb testing.TB, locks []lease.Acquirer, opts ...multilock.Option) *multilock.Lock {
	tb.Helper()
	l, err := multilock.New(locks, opts...)
	require.NoError(tb, err)
	return l
}
