//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// exporterIn starts an exporter in a World, as the client "exporter", until the test
// ends.
func exporterIn(t *testing.T, w *conformance.World, args ...string) *exporter {
	t.Helper()
	p := &program{env: environ{envServers + "=" + w.Server.Addr()}}
	x, err := p.newExporter(args)
	require.NoError(t, err)
	x.cfg.Dial, x.log = w.Server.Dial("exporter"), new(bytes.Buffer)
	living, end := context.WithCancel(t.Context())
	x.surveys.during(living)
	var connecting sync.WaitGroup
	connecting.Go(func() { _ = x.connect(living) })
	t.Cleanup(func() {
		end()
		connecting.Wait()
		x.surveys.running.Wait()
		if x.client != nil {
			_ = x.client.Close()
		}
	})
	return x
}

// ask sends the exporter a request, and returns the answer, and how long it took.
func ask(ctx context.Context, x *exporter, path string, header ...string) (*httptest.ResponseRecorder, time.Duration) {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	begun, w := time.Now(), httptest.NewRecorder()
	x.handler().ServeHTTP(w, r)
	return w, time.Since(begun)
}

const timeoutHeader = "X-Prometheus-Scrape-Timeout-Seconds"

// scrapeOf requires that a scrape finds what it looks for.
func scrapeOf(t *testing.T, x *exporter) map[string][]scraped {
	t.Helper()
	w, _ := ask(t.Context(), x, metricsPath, timeoutHeader, "10")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/plain; version=0.0.4; charset=utf-8", w.Header().Get("Content-Type"))
	read := parseScrape(t, w.Body.String())
	require.Equal(t, 1, number(t, read, "zkrecipes_exporter_up"), x.log)
	return read
}

// requireDown requires that a scrape says that ZooKeeper does not answer, in this time.
func requireDown(t *testing.T, x *exporter, within time.Duration) {
	t.Helper()
	w, took := ask(t.Context(), x, metricsPath, timeoutHeader, "10")
	require.Equal(t, http.StatusOK, w.Code)
	require.LessOrEqual(t, took, within)
	read := parseScrape(t, w.Body.String())
	require.Equal(t, 0, number(t, read, "zkrecipes_exporter_up"))
	require.Len(t, read, 2, "nothing that could be taken for the truth")
	require.Contains(t, read, "zkrecipes_build_info")
}

func logged(x *exporter) []string {
	return strings.Split(strings.TrimSuffix(x.log.(*bytes.Buffer).String(), "\n"), "\n")
}

// A break in the middle of a survey, and the end of the session, do not show, however
// far the survey is.
func TestSurveysThatAreInterrupted(t *testing.T) {
	for name, fault := range map[string]func(r *zktest.Rule){
		"cut before": func(r *zktest.Rule) { r.Before().Cut() }, "cut after": func(r *zktest.Rule) { r.After().Cut() },
		"session ends": func(r *zktest.Rule) { r.Before().Expire() },
	} {
		for _, op := range []zktest.Op{zktest.OpSync, zktest.OpGetChildren2, zktest.OpGetData} {
			t.Run(name+" at "+op.String(), func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					javaNode(t, w.Client("c"), "/locks/a/lock-")
					x := exporterIn(t, w, "--litter")
					scrapeOf(t, x)
					rule := w.Server.On(op, "/").Client("exporter")
					fault(rule)
					require.Equal(t, 1, number(t, scrapeOf(t, x), "zkrecipes_lock_holding", "path", "/locks/a"))
					<-rule.Fired()
					require.Equal(t, []string{""}, logged(x))
				})
			})
		}
	}
}

// A request that is not answered costs one scrape.
func TestAnswerThatIsMissing(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpGetChildren2, zktest.OpGetData} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			javaNode(t, w.Client("c"), "/locks/a/lock-")
			x := exporterIn(t, w)
			scrapeOf(t, x)
			w.Server.On(op, "/").Client("exporter").After().DropReply()
			requireDown(t, x, 9500*time.Millisecond)
			scrapeOf(t, x)
			require.Len(t, logged(x), 2)
		})
	}
}

// What the client may not read is left out and counted, once for both walks.
func TestScrapeOfWhatMayNotBeRead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		javaNode(t, c, "/locks/a/lock-")
		javaNode(t, c, "/locks/closed/lock-")
		w.Server.On(zktest.OpGetChildren2, "/locks/closed").Client("exporter").Always().Fail(zktest.NoAuth)
		read := scrapeOf(t, exporterIn(t, w, "--litter"))
		require.Equal(t, 1, number(t, read, "zkrecipes_paths_unreadable"))
		require.Len(t, read["zkrecipes_lock_holding"], 1)
		require.Len(t, read["zkrecipes_litter"], 7)
	})
}

// A server that accepts requests and answers none: the first scrape ends in time for
// Prometheus, the next ones at once, and when it answers again so does the exporter.
func TestServerThatIsSilent(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		x := exporterIn(t, w)
		scrapeOf(t, x)
		w.Server.Stall("exporter", true)
		requireDown(t, x, 9500*time.Millisecond)
		for range 4 {
			time.Sleep(15 * time.Second)
			requireDown(t, x, reconnectLimit)
			w, took := ask(t.Context(), x, "/-/ready")
			require.Equal(t, http.StatusServiceUnavailable, w.Code)
			require.Zero(t, took)
			w, _ = ask(t.Context(), x, "/-/healthy")
			require.Equal(t, http.StatusOK, w.Code)
		}
		w.Server.Stall("exporter", false)
		time.Sleep(15 * time.Second)
		scrapeOf(t, x)
		scrapeOf(t, x)
		require.Len(t, logged(x), 2)
		require.Regexp(t, `^\d{4}-\d\d-\d\dT[0-9:.]+Z exporter: no metrics: `, logged(x)[0])
		require.Regexp(t, `Z exporter: metrics again$`, logged(x)[1])
	})
}

// It starts without ZooKeeper.
func TestExporterBeforeTheServers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Server.RefuseConnections("exporter", true)
		x := exporterIn(t, w)
		requireDown(t, x, reconnectLimit)
		time.Sleep(time.Minute)
		requireDown(t, x, reconnectLimit)
		answer, _ := ask(t.Context(), x, "/-/ready")
		require.Equal(t, http.StatusServiceUnavailable, answer.Code)
		require.Contains(t, answer.Body.String(), w.Server.Addr(), "which server")
		w.Server.RefuseConnections("exporter", false)
		time.Sleep(15 * time.Second)
		scrapeOf(t, x)
		answer, _ = ask(t.Context(), x, "/-/ready")
		require.Equal(t, http.StatusOK, answer.Code)
		require.Len(t, logged(x), 2)
	})
}

// A short break is waited for: a scrape in between finds all.
func TestScrapeDuringAReconnect(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		x := exporterIn(t, w)
		for range 20 {
			scrapeOf(t, x)
			w.Server.DropConnections("exporter")
		}
	})
}

// A scrape whose client has gone leaves nothing behind, and is no failure.
func TestScrapeThatIsCanceled(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		x := exporterIn(t, w)
		scrapeOf(t, x)
		w.Server.Stall("exporter", true)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		answer, took := ask(ctx, x, metricsPath)
		require.Equal(t, 100*time.Millisecond, took)
		require.Empty(t, answer.Body.String())
		x.surveys.running.Wait()
		synctest.Wait()
		require.Equal(t, []string{""}, logged(x))
		w.Server.Stall("exporter", false)
		scrapeOf(t, x)
	})
}

// What the page says about the cost of a scrape. Those that come at the same time cost
// no more.
func TestRequestsOfAScrape(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("c")
		for i := range 100 {
			for range 11 {
				javaNode(t, c, fmt.Sprintf("/locks/l%d/lock-", i))
			}
		}
		x := exporterIn(t, w, "/locks")
		scrapeOf(t, x)
		w.Server.ResetCounts()
		w.Server.On(zktest.OpSync, "/locks").Client("exporter").Delay(time.Second / 2) // until all have come
		var scrapes sync.WaitGroup
		for range 10 {
			scrapes.Go(func() { scrapeOf(t, x) })
		}
		scrapes.Wait()
		require.Equal(t, 1+100, w.Server.CountOf("exporter", zktest.OpGetChildren2))
		require.Equal(t, 100, w.Server.CountOf("exporter", zktest.OpGetData))
		require.Equal(t, 100, w.Server.CountOf("exporter", zktest.OpExists))
	})
}
