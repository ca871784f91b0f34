package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
)

// atOnce is how many readers an instance has, and every is how often they read.
const (
	atOnce = 4
	every  = 5 * time.Millisecond
)

// A fault is what happens to the first instance that refreshes.
type fault int

const (
	none   fault = iota
	cutOff       // it is cut off from ZooKeeper while it waits for the origin
	paused       // it is paused, and cut off, between its last check and its write
)

// expire makes the rates old, and waits until all readers of all instances have newer
// ones, and nothing is under way any more.
func (c *cluster) expire(f fault, late int) error {
	readers := len(c.instances) * atOnce
	c.Change(func() { c.round = round{fault: f, late: late, readers: readers, noticed: map[int]bool{}} })
	old := c.shared.expire()
	errs := make(chan error, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() { errs <- c.readUntilNew(c.instances[i%len(c.instances)], old) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	if err := c.Await(c.ctx, func() bool { return c.under == 0 }); err != nil {
		return err
	}
	c.Lock()
	struck := c.round.struck
	c.Unlock()
	if struck != nil {
		struck.line.set(false)
		if _, err := struck.client.AwaitSession(c.ctx); err != nil {
			return err
		}
	}
	return nil
}

// readUntilNew is one of the readers.
func (c *cluster) readUntilNew(in *instance, old string) error {
	for first := true; ; first = false {
		now, err := in.rates.get(c.ctx)
		if err != nil || now != old {
			return err
		}
		c.Change(func() {
			c.reads++
			if first {
				c.round.read++
			}
		})
		if err := c.Await(c.ctx, func() bool { return true }); err != nil {
			return err // of an instance
		}
		if err := retry.Sleep(c.ctx, every); err != nil {
			return err
		}
	}
}

// look is called when an instance has looked into the shared cache, and waits until all
// have.
func (c *cluster) look(ctx context.Context, in *instance) error {
	c.Lock()
	known := c.looked[in.id]
	c.Unlock()
	if known {
		return nil
	}
	c.Change(func() { c.looked[in.id] = true })
	return c.Await(ctx, func() bool { return len(c.looked) == len(c.instances) })
}

// try is called before an instance tries to get the lock, and returns for how long. The
// late one comes when another has the lock, and gets it directly after that.
func (c *cluster) try(ctx context.Context, in *instance, timeout time.Duration) time.Duration {
	late := false
	c.Change(func() {
		c.under++
		if late = in.id == c.round.late; late {
			c.round.late = -1
		}
	})
	if late {
		_ = c.Await(ctx, func() bool { return c.round.calls > 0 })
		c.Change(func() { c.round.noticed[in.id] = true })
		timeout = longest
	}
	return timeout
}

// tried is called after that.
func (c *cluster) tried(in *instance, held *lease.Lease, err error) {
	c.Change(func() {
		if err != nil {
			c.round.noticed[in.id] = true
			c.under--
			return
		}
		c.leases++
		c.running.Go(func() {
			<-held.Done()
			c.Change(func() { c.under-- })
		})
	})
}

// answer is the origin. It is slow: when rates have expired it answers after all
// instances have noticed that, and all their readers have been served the old ones.
func (c *cluster) answer(ctx context.Context, in *instance) (string, error) {
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	var n int
	var cut bool
	c.Change(func() {
		c.calls++
		c.round.calls++
		c.round.noticed[in.id] = true
		n = c.calls
		if cut = c.round.fault == cutOff && c.round.struck == nil; cut {
			c.round.struck = in
		}
	})
	if cut {
		in.line.set(true)
		<-ctx.Done() // with the lease
		return "", context.Cause(ctx)
	}
	err := c.Await(ctx, func() bool {
		return c.round.readers == 0 || c.round.fault != none || (len(c.round.noticed) == len(c.instances) && c.round.read == c.round.readers)
	})
	return fmt.Sprint("rates ", n), err
}

// put is a write to the shared cache. If the instance is to be paused before that, the
// write comes when another has written: no context ends what is stopped.
func (c *cluster) put(ctx context.Context, in *instance, e entry) error {
	pause := false
	c.Change(func() {
		if pause = c.round.fault == paused && c.round.struck == nil; pause {
			c.round.struck = in
			c.under++
		}
	})
	if pause {
		defer c.Change(func() { c.under-- })
		in.line.set(true)
		if err := c.Await(c.ctx, func() bool { return c.round.stored > 0 }); err != nil {
			return err
		}
	}
	if err := c.shared.put(ctx, e); err != nil {
		return err
	}
	n, err := number(e.rates)
	c.Change(func() {
		c.round.stored++
		c.newest = max(c.newest, n)
	})
	return err
}

// number is that of an answer of the origin.
func number(rates string) (n int, err error) {
	_, err = fmt.Sscanf(rates, "rates %d", &n)
	return n, err
}
