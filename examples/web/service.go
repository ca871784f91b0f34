package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	zkprom "github.com/zkrecipes/zkrecipes/contrib/prometheus"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

const (
	// locksPath has the locks of the orders: so many stripes for all there are.
	locksPath, stripes = "/examples/web/orders", 64
	// drainTimeout is how long requests may take that are under way at a SIGTERM. It is
	// more than they wait and work, and less than what the platform grants.
	drainTimeout  = 20 * time.Second
	headerTimeout = 10 * time.Second
	// closeGrace is for requests that are cut off after that: to give up their locks.
	closeGrace = 2 * time.Second
)

// A service is one instance of several, which share the orders.
type service struct {
	client   *framework.Client
	registry *prometheus.Registry
	orders   *orders
}

// newService connects to ZooKeeper. The metrics of all stripes are labeled with the path
// that they have in common, without the number of a stripe.
func newService(ctx context.Context, config framework.Config, db *database, wait time.Duration) (*service, error) {
	metrics, err := zkprom.New(zkprom.Config{Paths: []string{locksPath}})
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(metrics); err != nil {
		return nil, err
	}
	config.Observers, config.CloseGrace = append(config.Observers, metrics.Observer()), closeGrace
	client, err := framework.Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	metrics.Track(client)
	locks, err := striped.New(client, locksPath, stripes)
	if err != nil {
		client.Close()
		return nil, err
	}
	return &service{client, registry, &orders{locks, db, wait, config.Logger}}, nil
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /orders/{id}", s.orders)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	// The process works: a restart does not bring ZooKeeper back.
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "healthy") })
	// It can serve orders, for which it needs ZooKeeper.
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.client.Reachable(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	return mux
}

// run serves until ctx ends, as by a SIGTERM. Then it finishes the requests that are
// under way, with their locks, and closes the client.
func (s *service) run(ctx context.Context, listener net.Listener) error {
	defer s.client.Close()
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: headerTimeout}
	var served sync.WaitGroup
	served.Go(func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serve: %w", err))
		}
	})
	<-running.Done()
	var err error
	if ctx.Err() == nil {
		err = context.Cause(running)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if late := web.Shutdown(drain); late != nil {
		err = errors.Join(err, fmt.Errorf("requests were cut off: %w", late), web.Close())
	}
	served.Wait()
	return err
}
