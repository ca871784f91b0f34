package zkprom_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/locks/orders"

// A world is a conformance.World whose clients are measured.
type world struct {
	*conformance.World
	metrics  *zkprom.Metrics
	registry *prometheus.Registry
}

func inWorld(t *testing.T, test func(t *testing.T, w *world), paths ...string) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		metrics, err := zkprom.New(zkprom.Config{Paths: paths})
		require.NoError(t, err)
		registry := prometheus.NewPedanticRegistry()
		require.NoError(t, registry.Register(metrics))
		test(t, &world{w, metrics, registry})
	})
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

// scrape returns what is scraped.
func (w *world) scrape() string {
	w.T.Helper()
	answer := httptest.NewRecorder()
	handler := promhttp.HandlerFor(w.registry, promhttp.HandlerOpts{DisableCompression: true})
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(w.T, http.StatusOK, answer.Code, answer.Body)
	return answer.Body.String()
}

// values returns the scraped series of one metric, without buckets, by its labels.
func (w *world) values(name string) map[string]float64 {
	w.T.Helper()
	values := map[string]float64{}
	for line := range strings.Lines(w.scrape()) {
		series, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		of, labels, _ := strings.Cut(series, "{")
		if of != name {
			continue
		}
		value, err := strconv.ParseFloat(text, 64)
		require.NoError(w.T, err)
		values[strings.TrimSuffix(labels, "}")] = value
	}
	return values
}
