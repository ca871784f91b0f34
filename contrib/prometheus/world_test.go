package zkprom_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.uber.org/goleak"

	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	path  = "/locks/orders"
	other = "/locks/other"
	// ofMutex are the labels of a mutex at path.
	ofMutex = `path="/locks/orders",recipe="mutex"`
)

// A world is a conformance.World whose clients can be measured.
type world struct {
	*conformance.World
	metrics  *zkprom.Metrics
	registry *prometheus.Registry
}

// inWorld runs a test in a world whose metrics know path, and the templates.
func inWorld(t *testing.T, test func(t *testing.T, w *world), templates ...string) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		metrics := newMetrics(t, append([]string{path}, templates...)...)
		registry := prometheus.NewPedanticRegistry()
		require.NoError(t, registry.Register(metrics))
		test(t, &world{w, metrics, registry})
	})
}

func newMetrics(tb testing.TB, templates ...string) *zkprom.Metrics {
	tb.Helper()
	metrics, err := zkprom.New(zkprom.Config{Paths: templates})
	require.NoError(tb, err)
	return metrics
}

// measured connects a client that is measured and tracked.
func (w *world) measured(name string, change ...func(*framework.Config)) *framework.Client {
	w.T.Helper()
	c := w.Client(name, append(change, w.observed)...)
	w.metrics.Track(c)
	return c
}

func (w *world) observed(cfg *framework.Config) {
	cfg.Observers = append(cfg.Observers, w.metrics.Observer())
}

// slow has every answer to a client take that long, from now on.
func (w *world) slow(client string, d time.Duration) {
	w.Server.On(zktest.AnyOp, "").Client(client).After().Always().Optional().Delay(d)
}

func newMutex(tb testing.TB, c *framework.Client, opts ...mutex.Option) *mutex.Mutex {
	tb.Helper()
	return mutexAt(tb, c, path, opts...)
}

func mutexAt(tb testing.TB, c *framework.Client, path string, opts ...mutex.Option) *mutex.Mutex {
	tb.Helper()
	m, err := mutex.New(c, path, opts...)
	require.NoError(tb, err)
	return m
}

// scrape returns what is scraped.
func (w *world) scrape() string {
	w.T.Helper()
	answer := httptest.NewRecorder()
	handler := promhttp.HandlerFor(w.registry, promhttp.HandlerOpts{DisableCompression: true})
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(w.T.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(w.T, http.StatusOK, answer.Code, answer.Body)
	return answer.Body.String()
}

// series are the values of the series of one metric, by their labels.
type series map[string]float64

// values returns the series of a metric that are scraped.
func (w *world) values(name string) series {
	w.T.Helper()
	values := series{}
	for line := range strings.Lines(w.scrape()) {
		labeled, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		of, labels, _ := strings.Cut(labeled, "{")
		if of != "zkrecipes_"+name {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		require.NoError(w.T, err)
		values[strings.TrimSuffix(labels, "}")] = value
	}
	return values
}

// nonZero returns the series that are not 0.
func (s series) nonZero() series {
	rest := series{}
	for labels, value := range s {
		if value != 0 {
			rest[labels] = value
		}
	}
	return rest
}
