package semaphore_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The names of tests that end in "_Curator462" or "_Kazoo9" are those of bugs that
// Apache Curator and kazoo had under that number of their trackers, or that were found
// by reading their sources ("_CuratorR6"), or of their own tests.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/pool/printers"

// inLayouts runs a test in both layouts, each in a world of its own.
func inLayouts(t *testing.T, test func(t *testing.T, w *conformance.World, make maker), opts ...zktest.Option) {
	t.Helper()
	for name, layout := range map[string][]semaphore.Option{"Curator's layout": nil, "single queue": {semaphore.WithSingleQueue()}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				test(t, w, func(c *framework.Client, permits int, opts ...semaphore.Option) *semaphore.Semaphore {
					return newSemaphore(t, c, permits, slices.Concat(layout, opts)...)
				})
			}, opts...)
		})
	}
}

// A maker makes semaphores of one layout.
type maker func(c *framework.Client, permits int, opts ...semaphore.Option) *semaphore.Semaphore

func newSemaphore(tb testing.TB, c *framework.Client, permits int, opts ...semaphore.Option) *semaphore.Semaphore {
	tb.Helper()
	s, err := semaphore.New(c, path, permits, opts...)
	require.NoError(tb, err)
	return s
}

// take acquires n permits at once, or fails the test.
func take(w *conformance.World, s *semaphore.Semaphore, n int) *lease.Lease {
	w.T.Helper()
	return w.Acquire(s.Weight(n))
}

// ask begins to wait for n permits.
func ask(w *conformance.World, s *semaphore.Semaphore, n int) *conformance.Attempt {
	w.T.Helper()
	return w.Start(s.Weight(n), lease.Forever)
}

// release gives leases back.
func release(w *conformance.World, held ...*lease.Lease) {
	w.T.Helper()
	for _, l := range held {
		require.NoError(w.T, l.Release())
	}
	w.Settle()
}

// warm has the semaphore used once, so that its parents and its size exist.
func warm(w *conformance.World, s *semaphore.Semaphore) {
	w.T.Helper()
	release(w, w.Acquire(s))
}

// contenders returns the nodes of all that wait or hold, in either layout.
func contenders(w *conformance.World) (all []string) {
	for _, parent := range []string{path, path + "/locks", path + "/leases"} {
		for _, name := range w.Server.Children(parent) {
			if name != "locks" && name != "leases" {
				all = append(all, parent+"/"+name)
			}
		}
	}
	return all
}

// waiting returns the nodes in the queue, in order; holding those of the permits.
func waiting(w *conformance.World) []string { return sorted(w, path+"/locks") }
func holding(w *conformance.World) []string { return sorted(w, path+"/leases") }

func sorted(w *conformance.World, parent string) []string {
	names := w.Server.Children(parent)
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) })
	for i := range names {
		names[i] = parent + "/" + names[i]
	}
	return names
}

// bytes is a stored size.
func bytes(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// stored returns the data of the path.
func stored(w *conformance.World) []byte {
	w.T.Helper()
	info, ok := w.Server.Node(path)
	require.True(w.T, ok)
	return info.Data
}

var errStopped = errors.New("stopped by the test")
