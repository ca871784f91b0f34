// Command cache has eight instances of a service serve exchange rates from a shared
// cache. When the rates expire all of them notice at once, which is called a cache
// stampede: how does one refresh, while the others go on to serve? It needs nothing but
// Go:
//
//	go run ./examples/cache
//
// With a lock in each process only, every instance asks the slow origin. With one lock
// for all, which is tried and not waited for, one asks, and who comes late looks again
// before it does. If the one that refreshes is cut off or paused, another does it, and
// the late write of the first is refused by its token. File rates.go is what a service
// needs; the rest plays the world around it.
//
// The shared cache is played by a variable. In Redis the rates are a hash, and a script
// compares the tokens and writes in one step (its numbers are exact up to 2^53):
//
//	local had = redis.call('HGET', KEYS[1], 'token')
//	if had and tonumber(ARGV[1]) < tonumber(had) then return 0 end
//	redis.call('HSET', KEYS[1], 'token', ARGV[1], 'until', ARGV[2], 'rates', ARGV[3])
//	return 1
//
// The hash must neither expire nor be evicted or deleted: else it forgets the token,
// and there is nothing to serve.
//
// The program starts a ZooKeeper server in its own process. With --servers HOST:PORT it
// uses that one.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	instances = 8
	expiries  = 3
	// calm is the session timeout where nobody is to be cut off, and brief where the
	// lock of one that is has to be free soon.
	calm, brief = 20 * time.Second, 2 * time.Second
	// tooLong is more than the program takes on the slowest machine, and patience how
	// long it waits in the end to remove its znodes.
	tooLong, patience = 2 * time.Minute, 10 * time.Second
)

// errOldToken is what the shared cache answers to a late write.
var errOldToken = errors.New("the token is old")

// errTooLong is why the program ends when somebody waits for the origin.
var errTooLong = fmt.Errorf("not done in %v: somebody waits for what does not come", tooLong)

var program = example.Program{Name: "cache", Server: []zktest.Option{zktest.WithTick(brief / 2)}, Run: run}

func main() { program.Main() }

func run(ctx context.Context, servers []string, out io.Writer) error {
	// A path of its own, as runs of this program at the same time share no cache.
	path := "/examples/cache/" + rand.Text()
	for _, stage := range []struct {
		path    string
		timeout time.Duration
		play    func(*cluster, io.Writer) error
	}{{"", calm, stampede}, {path, calm, oneRefreshes}, {path, brief, anotherRefreshes}} {
		c := &cluster{servers: servers, path: stage.path, sessionTimeout: stage.timeout}
		if err := c.play(ctx, func() error { return stage.play(c, out) }); err != nil {
			return err
		}
	}
	return nil
}

// play starts the instances, has do done, and ends them.
func (c *cluster) play(ctx context.Context, do func() error) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, tooLong, errTooLong)
	c.ctx = ctx
	defer func() { err = errors.Join(err, c.close()) }()
	defer cancel()
	if err := c.start(instances); err != nil {
		return err
	}
	return do()
}

// stampede is without a common lock.
func stampede(c *cluster, out io.Writer) error {
	return c.count(out, "a lock in each process only", instances, -1)
}

// oneRefreshes is with one.
func oneRefreshes(c *cluster, out io.Writer) error {
	before := c.leases - c.calls // of instances that waited for the first rates
	if c.calls != 1 {
		return fmt.Errorf("the origin was called %d times at the start, not once", c.calls)
	}
	if err := c.count(out, "one lock for all", 1, instances-1); err != nil {
		return err
	}
	looks := c.leases - c.calls - before
	if looks < expiries {
		return fmt.Errorf("only %d instances that came late looked again", looks)
	}
	fmt.Fprintf(out, "  1 did when all started, as nobody had rates, and %d times one came late, looked again, and found fresh rates\n", looks)
	return nil
}

// count lets the rates expire, and fails unless the origin is called so many times at
// each expiry.
func (c *cluster) count(out io.Writer, locks string, calls, late int) error {
	for range expiries {
		if err := c.expire(none, late); err != nil {
			return err
		}
		if c.round.calls != calls {
			return fmt.Errorf("with %s the origin was called %d times at an expiry, not %d", locks, c.round.calls, calls)
		}
	}
	fmt.Fprintf(out, "%s: %d of %d instances called the origin at each of %d expiries\n", locks, calls, instances, expiries)
	fmt.Fprintf(out, "  %d reads of old rates while the origin was slow: none of %d readers waited for it\n",
		c.reads, instances*atOnce)
	return nil
}

// anotherRefreshes is with one lock, and faults.
func anotherRefreshes(c *cluster, out io.Writer) error {
	if err := c.expireWith(cutOff); err != nil {
		return err
	}
	fmt.Fprintln(out, "the one that refreshes is cut off: its call of the origin ended with its lease, and another refreshed")
	if err := c.expireWith(paused); err != nil {
		return err
	}
	if c.shared.refused == 0 {
		return errors.New("no late write was refused")
	}
	fmt.Fprintf(out, "the one that refreshes is paused before its write: another refreshed, and %d late write was refused\n", c.shared.refused)
	return nil
}

// expireWith fails unless another instance refreshes, and the newest rates stay.
func (c *cluster) expireWith(f fault) error {
	if err := c.expire(f, -1); err != nil {
		return err
	}
	if c.round.struck == nil || c.round.calls < 2 {
		return fmt.Errorf("the origin was called %d times: nobody took over", c.round.calls)
	}
	left, err := number(c.shared.entry.rates)
	if err == nil && left < c.newest {
		err = fmt.Errorf("rates %d were overwritten with rates %d", c.newest, left)
	}
	return err
}
