package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// An instance of the service, as if it was a process of its own. What it does passes
// through the cluster, which counts it, and lets happen to it what is planned.
type instance struct {
	id      int
	cluster *cluster
	line    line
	client  *framework.Client
	lock    lease.Acquirer
	rates   *rates
}

func newInstance(ctx context.Context, c *cluster, id int) (*instance, error) {
	in := &instance{id: id, cluster: c}
	client, err := framework.Connect(ctx, framework.Config{
		Servers: c.servers, SessionTimeout: c.sessionTimeout, Dial: in.line.dial, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	in.client = client
	if in.lock, err = c.lock(client); err != nil {
		client.Close()
		return nil, err
	}
	in.rates = &rates{
		shared: in, lock: in, fetch: in.fetch, expired: make(chan struct{}),
		failed: func(err error) { c.fail(in, err) },
	}
	return in, nil
}

// Acquire is that of the lock.
func (in *instance) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	timeout = in.cluster.try(ctx, in, timeout)
	held, err := in.lock.Acquire(ctx, timeout)
	in.cluster.tried(in, held, err)
	return held, err
}

// fetch is a call of the origin.
func (in *instance) fetch(ctx context.Context) (string, error) { return in.cluster.answer(ctx, in) }

// get is that of the shared cache. All instances start at once: each looks before any
// of them goes on.
func (in *instance) get(ctx context.Context) (entry, error) {
	e, err := in.cluster.shared.get(ctx)
	if err != nil {
		return entry{}, err
	}
	return e, in.cluster.look(ctx, in)
}

// put is that of the shared cache. Tokens of different locks cannot be compared.
func (in *instance) put(ctx context.Context, e entry) error {
	if in.cluster.path == "" {
		e.token = 0
	}
	return in.cluster.put(ctx, in, e)
}
