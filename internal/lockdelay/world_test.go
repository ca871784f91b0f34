package lockdelay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	path  = "/lock"
	dir   = path + "/lock-delay"
	delay = 15 * time.Second
)

// inWorld runs a test on a server that keeps empty containers for a year, or with
// options.
func inWorld(t *testing.T, test func(t *testing.T, w *conformance.World), opts ...zktest.Option) {
	t.Helper()
	opts = append([]zktest.Option{zktest.WithReapInterval(365 * 24 * time.Hour)}, opts...)
	conformance.InWorld(t, test, opts...)
}

func delayed(t *testing.T, c *framework.Client, opts ...mutex.Option) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(c, path, append([]mutex.Option{mutex.WithLockDelay(delay)}, opts...)...)
	require.NoError(t, err)
	return m
}

func plain(t *testing.T, c *framework.Client) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(c, path)
	require.NoError(t, err)
	return m
}

func shared(t *testing.T, c *framework.Client) *rwlock.Lock {
	t.Helper()
	l, err := rwlock.New(c, path, rwlock.WithLockDelay(delay))
	require.NoError(t, err)
	return l
}

// kill ends a process: it is cut off, and its session expires at once.
func kill(w *conformance.World, name string, c *framework.Client) {
	w.Server.Partition(name, true)
	w.Expire(c)
	w.Settle()
}

// records returns the records of holders in a queue.
func records(w *conformance.World, queue string) []string {
	return w.Server.Children(queue + "/lock-delay")
}

// marked returns which records say that somebody has seen an end.
func marked(w *conformance.World, queue string) (nodes []string) {
	for _, name := range records(w, queue) {
		if info, _ := w.Server.Node(queue + "/lock-delay/" + name); info.Version > 0 {
			nodes = append(nodes, name)
		}
	}
	return nodes
}

// contenders returns the nodes of a queue.
func contenders(w *conformance.World, queue string) (nodes []string) {
	for _, name := range w.Server.Children(queue) {
		if strings.HasPrefix(name, "_c_") {
			nodes = append(nodes, name)
		}
	}
	return nodes
}
