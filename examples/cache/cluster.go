package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
)

// A cluster is all instances, with what they share, and what they do.
type cluster struct {
	ctx            context.Context // of the program
	servers        []string
	sessionTimeout time.Duration
	path           string // of the lock; "" is a lock in each process only
	shared         *redis
	instances      []*instance
	running        sync.WaitGroup

	example.State              // guards what follows
	looked        map[int]bool // instances that have looked into the shared cache
	ready         int          // instances that have rates
	calls         int          // of the origin; it numbers its answers
	newest        int          // the greatest number that was stored
	leases        int          // granted; all but those under which the origin was called found fresh rates
	reads         int          // answered with the old rates
	under         int          // what is under way: attempts, leases, and delayed writes
	round         round
}

// A round is what happens from one expiry to the next.
type round struct {
	fault   fault
	late    int          // the instance that gets the lock after the refresh, -1 for none
	readers int          // how many must have read the old rates before the origin answers
	read    int          // how many have
	noticed map[int]bool // the instances that call the origin, or know that another does
	calls   int          // of the origin
	stored  int          // refreshes that are done
	struck  *instance    // to which the fault happened
}

// start starts instances, and waits until all have rates.
func (c *cluster) start(n int) error {
	c.shared, c.looked = new(redis), map[int]bool{}
	c.round = round{late: -1, noticed: map[int]bool{}}
	for id := range n {
		in, err := newInstance(c.ctx, c, id)
		if err != nil {
			return err
		}
		c.instances = append(c.instances, in)
	}
	for _, in := range c.instances {
		c.running.Go(func() {
			ready := func() { c.Change(func() { c.ready++ }) }
			err := in.rates.run(c.ctx, ready)
			for errors.Is(err, lease.ErrLost) && c.ctx.Err() == nil {
				err = in.rates.run(c.ctx, ready) // as a process that ended is started again
			}
			if err != nil {
				c.fail(in, err)
			}
		})
	}
	return c.Await(c.ctx, func() bool { return c.ready == n && c.under == 0 })
}

// lock returns the lock of an instance.
func (c *cluster) lock(client *framework.Client) (lease.Acquirer, error) {
	if c.path == "" {
		return new(leasetest.Acquirer), nil // in memory
	}
	return newLock(client, c.path)
}

// close ends all instances, whose context has ended, and removes the lock.
func (c *cluster) close() (err error) {
	c.running.Wait()
	for i, in := range c.instances {
		if i == 0 && c.path != "" {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), patience)
			if err = in.client.DeleteTree(ctx, c.path); errors.Is(err, framework.ErrNoNode) {
				err = nil
			}
			cancel()
		}
		err = errors.Join(err, in.client.Close())
	}
	return err
}

// fail is told what went wrong in an instance. With a brief session it may lose a lease
// at any time, when the machine is busy.
func (c *cluster) fail(in *instance, err error) {
	lost := errors.Is(err, lease.ErrLost) || errors.Is(err, errOldToken) || errors.Is(err, framework.ErrNotConnected)
	if lost && c.sessionTimeout == brief {
		return
	}
	c.Change(func() {
		if c.Failure == nil {
			c.Failure = fmt.Errorf("instance %d: %w", in.id, err)
		}
	})
}
