// Command quickstart shows a mutex at work. It needs nothing but Go:
//
//	go run ./examples/quickstart
//
// It starts a ZooKeeper server in its own process and connects four clients to it, each
// with its own session, as if they were four programs. They wait for the mutex in a
// queue, re-enter it, time out, and lose it. The command ends after some seconds.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, 500*time.Millisecond)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

// run shows all scenes. work is how long each holder works.
func run(ctx context.Context, out io.Writer, work time.Duration, opts ...zktest.Option) error {
	d, err := newDemo(ctx, out, work, opts...)
	if err != nil {
		return err
	}
	defer d.close()
	for _, scene := range []func(context.Context, *demo) error{
		queueUp, reEnter, timeOut, loseIt,
	} {
		if err := scene(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// queueUp: clients get the mutex in the order in which they asked for it, and each has
// a greater token than the one before.
func queueUp(ctx context.Context, d *demo) error {
	d.title("Clients get the mutex in order, and each token is greater than the last")
	held, err := d.ann.Acquire(ctx, lease.Forever)
	if err != nil {
		return err
	}
	d.say("ann", "holds the mutex, token %v", held.Token())

	waiters := []client{d.bob, d.carl, d.dora}
	done := make(chan error, len(waiters))
	for i, c := range waiters {
		go func() { done <- d.holdAndWork(ctx, c) }()
		if err := d.awaitQueue(ctx, i+2); err != nil {
			return err
		}
		d.say(c.name, "waits, %d ahead", i+1)
	}
	errs := []error{retry.Sleep(held.Context(), d.work)} // ann's work
	d.say("ann", "is done")
	errs = append(errs, held.Release())
	for range waiters {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

// holdAndWork is what most programs do: lease.Do acquires, calls the function with a
// context that ends if the lease is lost, and releases.
func (d *demo) holdAndWork(ctx context.Context, c client) error {
	return lease.Do(ctx, c, lease.Forever, func(ctx context.Context, held *lease.Lease) error {
		d.say(c.name, "holds the mutex, token %v", held.Token())
		err := retry.Sleep(ctx, d.work) // the work
		d.say(c.name, "is done")
		return err
	})
}

// reEnter: a function that needs the mutex may be called with or without it, if it is
// passed the context.
func reEnter(ctx context.Context, d *demo) error {
	d.title("The holder can acquire it again: the context shows that it is the holder")
	return lease.Do(ctx, d.ann, lease.Forever, func(ctx context.Context, outer *lease.Lease) error {
		d.say("ann", "holds the mutex, token %v", outer.Token())
		err := lease.Do(ctx, d.ann, 0, func(_ context.Context, inner *lease.Lease) error {
			d.say("ann", "holds it twice, token %v", inner.Token())
			return nil
		})
		d.say("ann", "still holds it after the inner release: %t", outer.Err() == nil)
		return err
	})
}

// timeOut: the error of an Acquire that times out says who holds the mutex.
func timeOut(ctx context.Context, d *demo) error {
	d.title("A wait can time out, and then the error says who holds the mutex")
	return lease.Do(ctx, d.ann, lease.Forever, func(_ context.Context, held *lease.Lease) error {
		d.say("ann", "holds the mutex, token %v", held.Token())
		second, err := d.bob.Acquire(ctx, d.work)
		d.say("bob", "gets an error: %v", err)
		switch {
		case errors.Is(err, lease.ErrTimeout):
			return nil
		case err == nil:
			return errors.Join(errors.New("two hold the mutex"), second.Release())
		}
		return err
	})
}

// loseIt: a holder that is cut off from the server stops in time. Its context ends
// before its session can expire on the server, and only then the next client in the
// queue gets the mutex.
func loseIt(ctx context.Context, d *demo) error {
	d.title("A mutex can be lost: the holder's context ends before the next client gets it")
	ann, err := connect(ctx, d.server, "ann", shortTimeout)
	if err != nil {
		return err
	}
	defer ann.client.Close()
	held, err := ann.Acquire(ctx, lease.Forever)
	if err != nil {
		return err
	}
	d.say("ann", "holds the mutex, token %v, with work for an hour", held.Token())
	done := make(chan error, 1)
	go func() { done <- d.holdAndWork(ctx, d.bob) }()
	if err := d.awaitQueue(ctx, 2); err != nil {
		return err
	}
	d.say("bob", "waits, 1 ahead")

	cut := time.AfterFunc(d.work, func() {
		d.say("network", "cuts ann off from the server")
		d.server.Partition("ann", true)
	})
	defer d.server.Partition("ann", false)
	defer cut.Stop()
	stopped := retry.Sleep(held.Context(), time.Hour) // the work
	d.say("ann", "stops: %v", stopped)
	err = held.Release()
	d.say("ann", "Release returns lease.ErrLost: %t", errors.Is(err, lease.ErrLost))
	if next := <-done; !errors.Is(err, lease.ErrLost) || next != nil {
		return errors.Join(errors.New("ann's release does not tell that the mutex was lost"), err, next)
	}
	return nil
}
