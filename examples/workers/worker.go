package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

const (
	workers = 16 // of a process
	// sessionTimeout is how long the permits of a process that was killed stay taken.
	// Servers with default settings grant no less than 4 s.
	sessionTimeout = 4 * time.Second
)

// connect returns a client, as each process has it.
func connect(ctx context.Context, servers []string) (*framework.Client, error) {
	return framework.Connect(ctx, framework.Config{
		Servers: servers, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler),
	})
}

// shared returns the permits of all processes. The path stores how many there are. The
// number given here is stored if there is none yet, and is never compared: a process
// that starts after a Resize follows that. The path is removed when it was not used for
// a minute. Create it as a persistent node where a number has to outlive that.
func shared(client *framework.Client, path string) (lease.Acquirer, error) {
	return semaphore.New(client, path, first, semaphore.WithStoredSize())
}

// A worker does jobs, one at a time.
type worker struct {
	permits lease.Acquirer
	service remote
}

// run takes jobs from the queue and does them, until there are none.
func (w *worker) run(ctx context.Context) error {
	for {
		job, ok, err := w.service.take(ctx)
		if err != nil || !ok {
			return err
		}
		if err := w.do(ctx, job); err != nil {
			return err
		}
	}
}

// do does a job, with a permit. It ends when the permit is lost, because ZooKeeper was
// not reached for too long, and is then begun again with another one. So it must be
// safe to begin a job twice, as with any queue that gives a job to another process if
// one was killed.
func (w *worker) do(ctx context.Context, job string) error {
	for {
		done := false
		err := lease.Do(ctx, w.permits, lease.Forever, func(ctx context.Context, _ *lease.Lease) error {
			err := w.service.do(ctx, job)
			done = err == nil
			return err
		})
		if done {
			return nil // also if the permit was lost after that
		}
		if ctx.Err() != nil || !errors.Is(err, lease.ErrLost) {
			return err
		}
	}
}

// work is one of the processes. It ends when there are no jobs, and when its input
// does, and so when the process does that has started it.
func work(ctx context.Context, servers []string, path string, b bound, service remote, in io.Reader) error {
	ctx, cancel := example.WhileOpen(ctx, in)
	defer cancel()
	client, err := connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close() // when all workers have ended
	permits, err := b(client, path)
	if err != nil {
		return err
	}
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			w := worker{permits, service}
			if err := w.run(ctx); err != nil && ctx.Err() == nil {
				errs[i] = err
				cancel() // the others end as well
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
