package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const (
	// drainTimeout is how long requests may take that are under way at a SIGTERM. With
	// what the leader's work takes to stop, it has to be less than what the platform
	// grants: TimeoutStopSec of systemd, terminationGracePeriodSeconds of Kubernetes.
	drainTimeout  = 20 * time.Second
	headerTimeout = 10 * time.Second
	// stopTimeout is how long the leader's work may take to stop, before the instance
	// counts as broken.
	stopTimeout = 5 * time.Second
)

// A service is one instance, as the platform starts and stops it. All instances serve
// HTTP, and one at a time does the leader's work.
type service struct {
	config framework.Config
	path   string // of the election
	id     string // as others see it; by default host:pid
	log    *slog.Logger
	// work is what only the leader does. It returns when its context has ended, and
	// when all of the work has ended.
	work func(ctx context.Context, term *lease.Lease) error

	leader atomic.Pointer[lease.Contender] // as it was last observed, nil before that
	stuck  atomic.Bool                     // the work did not stop in time
}

// run serves until ctx ends, as by a SIGTERM. Then all ends in the order in which
// others need it: the leader's work; its term, so that another instance leads at once
// and need not wait for the requests; the requests; and the session.
func (s *service) run(ctx context.Context, listener net.Listener) error {
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// It serves before there is a session, as ZooKeeper may be away at the start.
	web := &http.Server{Handler: s.handler(running), ReadHeaderTimeout: headerTimeout}
	var served sync.WaitGroup
	served.Go(func() {
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serve: %w", err))
		}
	})
	client, err := framework.Connect(running, s.config)
	if err == nil {
		defer client.Close() // the last that is done
		err = s.takePart(running, client)
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		err = nil // it was told to end
	}
	s.log.Info("finishing the requests")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if late := web.Shutdown(drain); late != nil {
		err = errors.Join(err, fmt.Errorf("requests were cut off: %w", late), web.Close())
	}
	served.Wait()
	return err
}

// takePart campaigns, leads, and campaigns again, until ctx ends. When it returns the
// work has ended, and the term is given up. Meanwhile it observes who leads.
func (s *service) takePart(ctx context.Context, client *framework.Client) error {
	election, err := leader.New(client, s.path, leader.WithID(s.id))
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	var observed sync.WaitGroup
	defer observed.Wait()
	defer fail(nil)
	observed.Go(func() {
		for present, err := range election.Observe(ctx) {
			if err != nil {
				fail(err)
				return
			}
			s.leader.Store(&present)
		}
	})
	return election.Lead(ctx, s.lead)
}

// lead does the work for one term. If that does not stop when it has to, nobody leads
// until this process ends. So the process says at /healthz that it has to be ended.
func (s *service) lead(ctx context.Context, term *lease.Lease) error {
	ended := make(chan struct{})
	defer close(ended)
	context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(stopTimeout):
			s.log.Error("the leader's work does not stop", "cause", context.Cause(ctx))
			s.stuck.Store(true)
		}
	})
	return s.work(ctx, term)
}

// every returns the leader's work if that is a job to be done at each interval.
//
// A job runs on this goroutine, so none is left when the loop has ended. Jobs with
// goroutines of their own have to wait for them. What a job changes outside of
// ZooKeeper should be guarded by the token, as this process may be paused in the middle
// of it and go on when another leads: see examples/oversell.
func every(interval time.Duration, log *slog.Logger, job func(context.Context, lease.Token) error) func(context.Context, *lease.Lease) error {
	return func(ctx context.Context, term *lease.Lease) error {
		next := time.NewTicker(interval)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-next.C:
			}
			// When a paused process goes on, this may come before the end of ctx.
			// Err looks at the clock.
			if ctx.Err() != nil || term.Err() != nil {
				continue
			}
			if err := job(ctx, term.Token()); err != nil && ctx.Err() == nil {
				log.Error("job failed", "error", err)
			}
		}
	}
}
