package zkprom_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"

	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
)

// A program serves the metrics of its locks, and loses one of them.
func Example() {
	server, err := zktest.Start() // in your program: the servers of an ensemble
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	ctx := context.Background()

	metrics, err := zkprom.New(zkprom.Config{Paths: []string{"/locks/orders", "/jobs/*"}})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	web := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{})) // at /metrics of your server
	defer web.Close()

	client, err := framework.Connect(ctx, framework.Config{
		Servers:   []string{server.Addr()},
		Observers: []framework.Observer{metrics.Observer()},
		Logger:    slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	metrics.Track(client)

	report, err := mutex.New(client, "/jobs/42")
	if err != nil {
		log.Fatal(err)
	}
	held, err := report.Acquire(ctx, time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	printSeries(web.URL, "zkrecipes_holds", "zkrecipes_clients")
	server.ExpireSession(client.Session().ID())
	<-held.Done()
	_ = held.Release() // says that it was lost
	client.Close()     // now all events have been counted
	printSeries(web.URL, "zkrecipes_holds", "zkrecipes_losses_total")
	// Output:
	// zkrecipes_clients{state="connected"} 1
	// zkrecipes_holds{path="/jobs/*",recipe="mutex"} 1
	// zkrecipes_holds{path="/jobs/*",recipe="mutex"} 0
	// zkrecipes_losses_total{path="/jobs/*",reason="session-expired",recipe="mutex"} 1
}

// printSeries prints the series of metrics that are not 0, and all of holds.
func printSeries(url string, names ...string) {
	answer, err := http.Get(url) //nolint:noctx // of a server in this process
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		for _, name := range names {
			line := lines.Text()
			if strings.HasPrefix(line, name+"{") && (name == "zkrecipes_holds" || !strings.HasSuffix(line, " 0")) {
				fmt.Println(line)
			}
		}
	}
}
