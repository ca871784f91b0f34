package striped_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// path is that of the stripes.
const path = "/locks/accounts"

func newLocks(tb testing.TB, c *framework.Client, n int, opts ...striped.Option) *striped.Locks {
	tb.Helper()
	l, err := striped.New(c, path, n, opts...)
	require.NoError(tb, err)
	return l
}

// anyOf acquires any stripe, and records which.
type anyOf struct {
	*striped.Locks
	shares *sync.Map // by lease
}

func anyStripe(l *striped.Locks) anyOf { return anyOf{l, new(sync.Map)} }

// share is the one that a lease is of.
func (a anyOf) share(of *lease.Lease) int {
	share, ok := a.shares.Load(of)
	if !ok {
		return -1
	}
	return share.(int)
}

func (a anyOf) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	held, share, err := a.AcquireAny(ctx, timeout)
	if err == nil {
		a.shares.Store(held, share)
	}
	return held, err
}

// stored is what the path stores.
func stored(w *conformance.World) string {
	w.T.Helper()
	info, ok := w.Server.Node(path)
	require.True(w.T, ok)
	return string(info.Data)
}

func release(w *conformance.World, held ...*lease.Lease) {
	w.T.Helper()
	for _, l := range held {
		require.NoError(w.T, l.Release())
	}
}

// leavesNothing checks that nothing is held, and no watch kept for long.
func leavesNothing(w *conformance.World) {
	w.T.Helper()
	w.After(3 * conformance.SessionTimeout)
	require.Empty(w.T, w.Ephemerals("/"))
	require.Zero(w.T, w.Server.Watches())
}

// newMutex returns the mutex that the stripe of a lease is.
func newMutex(tb testing.TB, c *framework.Client, of *lease.Lease) *mutex.Mutex {
	tb.Helper()
	m, err := mutex.New(c, of.Path()[:strings.LastIndex(of.Path(), "/")])
	require.NoError(tb, err)
	return m
}

// A resizing changes the number of stripes in its own goroutine.
type resizing struct {
	done   chan struct{}
	cancel context.CancelFunc
	err    error
}

func resize(t *testing.T, l *striped.Locks, n int) *resizing {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &resizing{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(r.done)
		_, r.err = l.Resize(ctx, n, time.Minute)
	}()
	t.Cleanup(cancel)
	return r
}
