package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

const metricsPath = "/metrics"

const (
	// reconnectLimit is how long a scrape waits for a connection that is broken, or
	// that does not exist yet.
	reconnectLimit = time.Second
	// scrapeMargin is how much earlier a scrape is answered than Prometheus gives up.
	scrapeMargin = 500 * time.Millisecond
	// scrapeGrace is how long scrapes may go on when the exporter is to end.
	scrapeGrace = 3 * time.Second
)

// An exporter serves metrics about the locks at a path and below.
type exporter struct {
	address string
	cfg     framework.Config
	path    string // as given
	full    string // with the chroot
	litter  bool
	view    lockView
	limit   time.Duration // of one survey
	log     io.Writer

	surveys surveys
	holders holders

	connected chan struct{} // closed when client is set
	client    *framework.Client

	mu     sync.Mutex
	failed error // why the last survey, or the last attempt to connect, did; nil if it did not
}

// serve answers requests until ctx ends, or the servers refuse this client for good. It
// closes the listener.
func (x *exporter) serve(ctx context.Context, listener net.Listener) error {
	living, end := context.WithCancel(context.Background())
	x.surveys.during(living)
	server := &http.Server{
		Handler: x.handler(), ErrorLog: log.New(io.Discard, "", 0), MaxHeaderBytes: 1 << 16,
		ReadTimeout: 10 * time.Second, WriteTimeout: x.limit + 10*time.Second, IdleTimeout: 5 * time.Minute,
	}
	over := make(chan error, 2)
	var running sync.WaitGroup
	running.Go(func() { over <- server.Serve(listener) })
	running.Go(func() {
		if err := x.connect(living); err != nil {
			over <- err
		}
	})
	var err error
	select {
	case <-ctx.Done():
	case err = <-over:
	}
	grace, cancel := context.WithTimeout(context.Background(), scrapeGrace)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // ends the contexts of the scrapes
	}
	end()
	running.Wait()
	x.surveys.running.Wait()
	if x.client != nil {
		_ = x.client.Close()
	}
	return err
}

// connect tries until there is a client, which then stays connected by itself. It
// returns an error if the servers refuse the client.
func (x *exporter) connect(ctx context.Context) error {
	for {
		client, err := connect(ctx, x.cfg, defaultConnectLimit)
		switch {
		case err == nil:
			x.client = client
			close(x.connected)
			return nil
		case ctx.Err() != nil, !isUnanswered(err):
			return unlessOver(ctx, err)
		}
		x.note(err)
	}
}

// note keeps whether surveys succeed, and prints when that changes: not each time, for
// there is a scrape every few seconds.
func (x *exporter) note(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	had := x.failed
	x.failed = err
	if (err == nil) == (had == nil) {
		return
	}
	text := "exporter: metrics again"
	if err != nil {
		text = "exporter: no metrics: " + errorText(err)
	}
	_ = printLine(x.log, strings.Trim(string(inMillis(time.Now())), `"`)+" "+text)
}

// errNoSession means that there is no connection, and why is not known yet.
var errNoSession = unanswered("no session yet")

// reach waits until the client has a session that is attached to a server.
func (x *exporter) reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, reconnectLimit, errNoSession)
	defer cancel()
	select {
	case <-x.connected:
	case <-ctx.Done():
		return x.unreachable()
	}
	if _, err := x.client.AwaitSession(ctx); err != nil {
		return cmp.Or(x.client.Reachable(), err)
	}
	return nil
}

// unreachable is why there is no client.
func (x *exporter) unreachable() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failed != nil {
		return x.failed
	}
	return errNoSession
}

func (x *exporter) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, exporterPage)
	})
	mux.HandleFunc("GET "+metricsPath, x.scrape)
	mux.HandleFunc("GET /-/healthy", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "healthy\n") })
	mux.HandleFunc("GET /-/ready", x.ready)
	return mux
}

const exporterPage = `<!doctype html>
<html lang="en"><head><title>zkrecipes exporter</title></head>
<body><h1>zkrecipes exporter</h1><p><a href="metrics">Metrics</a> of the locks in a ZooKeeper ensemble.</p></body></html>
`

// ready says whether a server can be reached now.
func (x *exporter) ready(w http.ResponseWriter, _ *http.Request) {
	var err error
	select {
	case <-x.connected:
		err = x.client.Reachable()
	default:
		err = x.unreachable()
	}
	if err != nil {
		http.Error(w, quote.Line(errorText(err)), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

// scrape writes the metrics. That there are none is one of them, and no failure of the
// scrape: else an alert would not tell it from an exporter that is gone.
func (x *exporter) scrape(w http.ResponseWriter, r *http.Request) {
	limit := scrapeLimit(r.Header.Get("X-Prometheus-Scrape-Timeout-Seconds"), x.limit)
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, unanswered("no answer within %v", limit))
	defer cancel()
	text, err := x.metrics(ctx)
	if r.Context().Err() != nil {
		return // nobody reads it
	}
	x.note(err)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, text)
}

// metrics returns what one scrape gets, also if there is an error.
func (x *exporter) metrics(ctx context.Context) (text string, err error) {
	if err = x.reach(ctx); err == nil {
		if text, err = x.surveys.get(ctx); err == nil {
			return text, nil
		}
		if cause := context.Cause(ctx); errors.Is(err, ctx.Err()) {
			err = cause
		}
	}
	return withoutSurvey().String(), err
}

// scrapeLimit is how long a scrape may take: less than Prometheus waits, which is in a
// header, and no longer than a survey.
func scrapeLimit(header string, longest time.Duration) time.Duration {
	seconds, err := strconv.ParseFloat(header, 64)
	if err != nil || !(seconds > 0 && seconds < (longest+scrapeMargin).Seconds()) {
		return longest
	}
	waits := time.Duration(seconds * float64(time.Second))
	return max(waits-scrapeMargin, waits/2)
}
