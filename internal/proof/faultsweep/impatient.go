package faultsweep

import (
	"context"
	"errors"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// errCancelled is the cause with which a plan cancels an acquire.
var errCancelled = errors.New("cancelled by the plan")

// impatient acquires in one of the ways that may fail.
func (r *run) impatient(ctx context.Context, c *framework.Client, who string, way int) {
	a := r.side(c, 32+way)
	var l *lease.Lease
	var err error
	name := "the impatient " + who
	switch way % 4 {
	case 0:
		l, err = a.Acquire(ctx, 0)
	case 1:
		l, err = a.Acquire(ctx, 35300*time.Microsecond)
	case 2:
		limited, cancel := context.WithTimeoutCause(ctx, 25700*time.Microsecond, errCancelled)
		defer cancel()
		l, err = a.Acquire(limited, lease.Forever)
	case 3:
		r.quit(ctx, quitter+who)
		return
	}
	switch {
	case err == nil:
		r.hold(name, c, l, 13100*time.Microsecond)
	case way%4 == 2 && errors.Is(err, errCancelled), way%4 != 2 && errors.Is(err, lease.ErrTimeout):
	default:
		r.brokenf("errors: way %d failed with %v", way%4, err)
	}
}

// quitter begins the names of clients that are closed in the middle of an acquire.
const quitter = "quitter "

// connectFor starts a client that is closed after that time. Then the channel is
// closed. The client is nil if it could not connect.
func (r *run) connectFor(ctx context.Context, name string, d time.Duration) (*framework.Client, <-chan struct{}) {
	c, err := framework.Connect(ctx, r.config(name))
	if err != nil {
		r.brokenf("I4: a quitter could not connect: %v", err)
		return nil, nil
	}
	closed := make(chan struct{})
	go func() {
		<-time.After(d)
		if r.delays != nil {
			r.delays.Quitting(c.Session().ID())
		}
		_ = c.Close()
		close(closed)
	}()
	return c, closed
}

// quit runs a client that is closed in the middle of an acquire.
func (r *run) quit(ctx context.Context, name string) {
	c, closed := r.connectFor(ctx, name, 17170*time.Microsecond)
	if c == nil {
		return
	}
	l, err := r.side(c, 48).Acquire(ctx, lease.Forever)
	switch {
	case err == nil:
		r.hold(name, c, l, 23450*time.Microsecond)
	case !errors.Is(err, framework.ErrClosed):
		r.brokenf("errors: an acquire whose client was closed failed with %v", err)
	}
	<-closed
}
