package monitoring

import (
	"bufio"
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	orders  = "/locks/orders"
	tenants = "/locks/tenants/*" // the template of their paths
	permits = "/permits"
)

// A program has the metrics of the library at host:port/metrics.
type program struct {
	metrics *zkprom.Metrics
	addr    string
}

func startProgram(t *testing.T) *program {
	t.Helper()
	metrics, err := zkprom.New(zkprom.Config{Paths: []string{orders, tenants, permits}})
	require.NoError(t, err)
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(metrics))
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(server.Close)
	return &program{metrics, strings.TrimPrefix(server.URL, "http://")}
}

// connect returns a client of the program.
func (p *program) connect(t *testing.T, server string) *framework.Client {
	t.Helper()
	client := connect(t, server, p.metrics.Observer())
	p.metrics.Track(client)
	return client
}

// startExporter starts the command, and returns its host:port.
func startExporter(t *testing.T, server string) string {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	lines := bufio.NewScanner(start(t, path, "exporter", "--servers", server, "--address", "127.0.0.1:0", "--holder-after", "0s", "--litter"))
	require.True(t, lines.Scan(), "no URL: %v", lines.Err())
	addr, ok := strings.CutSuffix(strings.TrimPrefix(lines.Text(), "http://"), "/metrics")
	require.True(t, ok, lines.Text())
	return addr
}

// use uses locks and a semaphore, so that all metrics have a value: some have been
// waited for and released, some are held, and one is waited for until the test ends.
func use(t *testing.T, p *program, server *zktest.Server) {
	t.Helper()
	first, second := p.connect(t, server.Addr()), p.connect(t, server.Addr())
	held := acquire(t, first, orders)
	handedOver := make(chan *lease.Lease, 1) // a test that has failed does not read it
	acquireLater(t, second, orders, func(l *lease.Lease) { handedOver <- l })
	awaitNodes(t, server, orders, 2)
	require.NoError(t, held.Release())
	<-handedOver
	acquireLater(t, first, orders, func(*lease.Lease) {})
	acquire(t, first, "/locks/tenants/4711")
	sized, err := semaphore.New(first, permits, 2)
	require.NoError(t, err)
	_, err = sized.Acquire(within(t, limit), limit)
	require.NoError(t, err)
}

func acquire(t *testing.T, client *framework.Client, path string) *lease.Lease {
	t.Helper()
	held, err := newMutex(t, client, path).Acquire(within(t, limit), limit)
	require.NoError(t, err)
	return held
}

// acquireLater waits for a lock in the background, at most until the test ends.
func acquireLater(t *testing.T, client *framework.Client, path string, then func(*lease.Lease)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	of, ended := newMutex(t, client, path), make(chan struct{})
	go func() {
		defer close(ended)
		if held, err := of.Acquire(ctx, lease.Forever); err == nil {
			then(held)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

func newMutex(t *testing.T, client *framework.Client, path string) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(client, path)
	require.NoError(t, err)
	return m
}

func awaitNodes(t *testing.T, server *zktest.Server, path string, n int) {
	t.Helper()
	await(t, "contenders at "+path, func() string {
		if children := server.Children(path); len(children) != n {
			return strings.Join(children, " ")
		}
		return ""
	})
}
