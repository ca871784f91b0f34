package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/robfig/cron/v3"
	oncecron "github.com/zkrecipes/zkrecipes/contrib/cron"
	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// everySecond is the schedule of the job.
const everySecond = "* * * * * *"

// work is one of the processes. It ends when the input does, and so when the process
// does that has started it. That is only for this program: a service ends with ctx, by
// a SIGTERM, and its input may be empty from the start.
func work(ctx context.Context, servers []string, store remote, in io.Reader) error {
	client, job, err := connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close()
	w := &worker{client, job, store}
	c := cron.New(cron.WithSeconds(), cron.WithLocation(time.UTC))
	if _, err := oncecron.AddFunc(ctx, c, everySecond, job, w.run, oncecron.OnError(complain)); err != nil {
		return err
	}
	// An ordinary entry of the same schedule, so that it is known which ticks this
	// process has seen, also those that it does not run.
	var seen cron.EntryID
	seen, err = c.AddFunc(everySecond, func() { complain(time.Time{}, store.call(ctx, "seen", c.Entry(seen).Prev, 0)) })
	if err != nil {
		return err
	}
	c.Start()
	_, err = io.Copy(io.Discard, in)
	// The context goes on, so this waits until all ticks that have begun are recorded.
	<-c.Stop().Done()
	return err
}

// complain prints errors but those that come of what is done to the processes.
func complain(_ time.Time, err error) {
	if err != nil && !errors.Is(err, lease.ErrLost) {
		fmt.Fprintln(os.Stderr, "cron:", err)
	}
}

// A worker is what the job needs.
type worker struct {
	client *framework.Client
	job    *once.Job
	store  remote
}

// run is the job.
func (w *worker) run(ctx context.Context, held *lease.Lease, tick time.Time) error {
	if err := w.store.call(ctx, "begin", tick, held.Token()); err != nil {
		return err
	}
	if err := w.store.call(ctx, "apply", tick, held.Token()); err != nil {
		return err
	}
	return w.add(ctx, held, tick)
}

// add adds 1 to the sum in ZooKeeper, in the transaction that records the tick.
func (w *worker) add(ctx context.Context, held *lease.Lease, tick time.Time) error {
	for {
		sum, stat, err := w.client.Get(ctx, sumPath)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(sum))
		if err != nil {
			return err
		}
		err = w.job.Tick(tick).Record(ctx, held, framework.SetOp(sumPath, []byte(strconv.Itoa(n+1)), stat.Version))
		if !errors.Is(err, framework.ErrBadVersion) { // else another tick has been added
			return err
		}
	}
}

// remote is the address of the store.
type remote string

// call tells the store what this process does, and returns what it has against that.
func (r remote) call(ctx context.Context, what string, tick time.Time, token lease.Token) error {
	url := fmt.Sprintf("%s/%s?pid=%d&tick=%s&token=%d", r, what, os.Getpid(), tick.UTC().Format(time.RFC3339), token)
	_, err := example.Post(ctx, url)
	return err
}
