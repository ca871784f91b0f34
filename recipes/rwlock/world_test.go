package rwlock_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// The names of tests that end in "_Curator621" or "_Kazoo1" are those of bugs that
// Apache Curator and kazoo had, or that were found by reading their sources
// ("_CuratorR8"), as in recipes/mutex. Those that begin with "TestThat" are tests of
// Curator's own.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/locks/orders"

func newLock(tb testing.TB, c *framework.Client, opts ...rwlock.Option) *rwlock.Lock {
	tb.Helper()
	l, err := rwlock.New(c, path, opts...)
	require.NoError(tb, err)
	return l
}

// sideOf returns one side of a new lock: 'R' is the readers', 'W' the writers'.
func sideOf(tb testing.TB, c *framework.Client, side rune) lease.Acquirer {
	tb.Helper()
	if side == 'R' {
		return newLock(tb, c).Read()
	}
	return newLock(tb, c).Write()
}

// enqueue starts an attempt for each letter, in order, each through its own client.
func enqueue(w *conformance.World, sides string) []*conformance.Attempt {
	w.T.Helper()
	var attempts []*conformance.Attempt
	for i, side := range sides {
		c := w.Client(string('a' + rune(i)))
		attempts = append(attempts, w.Start(sideOf(w.T, c, side), lease.Forever))
	}
	return attempts
}

// state shows which attempts wait ("w"), hold a valid lease ("H"), or neither (".").
func state(attempts []*conformance.Attempt) string {
	var b strings.Builder
	for _, at := range attempts {
		switch {
		case at.Waiting():
			b.WriteByte('w')
		case at.Lease != nil && at.Lease.Err() == nil:
			b.WriteByte('H')
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}

// shares is for a Referee.
func shares(l *lease.Lease) bool { return strings.Contains(l.Path(), "__READ__") }

// downgrade turns a write lease into a read lease.
func downgrade(tb testing.TB, l *rwlock.Lock, writing *lease.Lease) *lease.Lease {
	tb.Helper()
	reading, err := l.Read().Acquire(writing.Context(), 0)
	require.NoError(tb, err)
	require.NoError(tb, writing.Release())
	return reading
}

// warm uses the lock once, so that its parent exists.
func warm(w *conformance.World, c *framework.Client) {
	w.T.Helper()
	require.NoError(w.T, w.Acquire(newLock(w.T, c).Write()).Release())
	w.Settle()
}

// children returns the nodes of the lock's queue.
func children(w *conformance.World) []string { return w.Server.Children(path) }
