package multilock_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
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
	return lockOn(tb, []lease.Acquirer{newMutex(tb, c, cart), newMutex(tb, c, stock)}, opts...)
}

func lockOn(tb testing.TB, locks []lease.Acquirer, opts ...multilock.Option) *multilock.Lock {
	tb.Helper()
	l, err := multilock.New(locks, opts...)
	require.NoError(tb, err)
	return l
}
