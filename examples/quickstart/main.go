// Command quickstart shows a mutex at work, and needs nothing but Go:
//
//	go run ./examples/quickstart
//
// It starts a ZooKeeper server in its own process and lets four contenders, each with a
// session of its own as if they were four programs, take turns, enter again, give up,
// and lose the mutex. It ends by itself after some seconds.
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

// run plays all scenes. pace is how long work under the mutex takes.
func run(ctx context.Context, out io.Writer, pace time.Duration) error {
	s, err := openStage(ctx, out, pace)
	if err != nil {
		return err
	}
	defer s.close()
	for _, scene := range []func(context.Context, *stage) error{
		takeTurns, enterAgain, giveUp, loseIt,
	} {
		if err := scene(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// takeTurns: leases are granted in the order in which the contenders came, and each has
// a greater token than the one before.
func takeTurns(ctx context.Context, s *stage) error {
	s.title("Turns are taken in the order of arrival, and tokens grow")
	held, err := s.ann.Acquire(ctx, lease.Forever)
	if err != nil {
		return err
	}
	s.say("ann", "holds it, token %v", held.Token())

	others := []contender{s.bob, s.eve, s.max}
	done := make(chan error, len(others))
	for i, c := range others {
		go func() { done <- s.takeTurn(ctx, c) }()
		if err := s.awaitQueue(ctx, i+2); err != nil {
			return err
		}
		s.say(c.name, "waits, %d ahead", i+1)
	}
	errs := []error{retry.Sleep(held.Context(), s.pace)} // ann's work
	s.say("ann", "is done")
	errs = append(errs, held.Release())
	for range others {
		errs = append(errs, <-done)
	}
	return errors.Join(errs...)
}

// takeTurn is what most programs do: lease.Do acquires, calls the function with a
// context that ends if the lease is lost, and releases.
func (s *stage) takeTurn(ctx context.Context, c contender) error {
	return lease.Do(ctx, c, lease.Forever, func(ctx context.Context, held *lease.Lease) error {
		s.say(c.name, "holds it, token %v", held.Token())
		err := retry.Sleep(ctx, s.pace) // the work
		s.say(c.name, "is done")
		return err
	})
}

// enterAgain: a function that needs the mutex may be called with or without it, as long
// as it is passed the context.
func enterAgain(ctx context.Context, s *stage) error {
	s.title("Who holds the mutex can enter it again, through the context")
	return lease.Do(ctx, s.ann, lease.Forever, func(ctx context.Context, outer *lease.Lease) error {
		s.say("ann", "holds it, token %v", outer.Token())
		err := lease.Do(ctx, s.ann, 0, func(_ context.Context, inner *lease.Lease) error {
			s.say("ann", "holds it twice, token %v", inner.Token())
			return nil
		})
		s.say("ann", "holds it once: %t", outer.Err() == nil)
		return err
	})
}

// giveUp: an acquire that comes too late says who is in the way.
func giveUp(ctx context.Context, s *stage) error {
	s.title("Who cannot wait any longer is told who holds it")
	return lease.Do(ctx, s.ann, lease.Forever, func(_ context.Context, held *lease.Lease) error {
		s.say("ann", "holds it, token %v", held.Token())
		_, err := s.bob.Acquire(ctx, s.pace)
		s.say("bob", "gives up: %v", err)
		if errors.Is(err, lease.ErrTimeout) {
			return nil
		}
		return err
	})
}

// loseIt: when the session of a holder expires, the work stops and the next in line
// goes on.
func loseIt(ctx context.Context, s *stage) error {
	s.title("A mutex can be lost, and then the holder is told")
	held, err := s.ann.Acquire(ctx, lease.Forever)
	if err != nil {
		return err
	}
	s.say("ann", "holds it, token %v, and works for an hour", held.Token())
	done := make(chan error, 1)
	go func() { done <- s.takeTurn(ctx, s.bob) }()
	if err := s.awaitQueue(ctx, 2); err != nil {
		return err
	}
	s.say("bob", "waits, 1 ahead")

	session := s.ann.client.Session().ID()
	expiry := time.AfterFunc(s.pace, func() {
		s.say("server", "expires ann's session")
		s.server.ExpireSession(session)
	})
	defer expiry.Stop()
	stopped := retry.Sleep(held.Context(), time.Hour) // the work
	s.say("ann", "stops: %v", stopped)
	// The server told bob first, so for a moment both may have been at work. That is
	// what tokens are for: a store that has seen bob's refuses ann's.
	err = held.Release()
	s.say("ann", "releases, and is told that it was lost: %t", errors.Is(err, lease.ErrLost))
	return <-done
}
