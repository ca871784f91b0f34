package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
)

// A figure is what one slice of one system gave.
type figure struct {
	ops, all       int // in time; with those that ended later
	took, queued   time.Duration
	client, server time.Duration // processor time
	violations     int
	requests       map[string]int // by kind, if they were counted
	before, memory contend.Values // what a process takes: before, and while it waits or holds
	released       float64        // locks per second, of those that were taken and kept
	left           int            // nodes of a crowd that has been granted
	err            error
}

func (f figure) rate() float64 { return float64(f.ops) / f.took.Seconds() }

// measure lets a system do a workload for a slice. A process that fails is replaced.
func (r *run) measure(ctx context.Context, w workload, s system, path string, via route) figure {
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, fmt.Errorf("no end within %v", r.limit))
	defer cancel()
	at := berth{s.name, via, w.session()}
	crew, err := r.crew(ctx, at, w.crew(s))
	if err != nil {
		return figure{err: err}
	}
	r.slots.Clear()
	if p := r.proxies[via]; p != nil {
		p.Counts()
	}
	f := figure{client: -spent(crew), server: -r.servers[s.server].CPU()}
	f.err = r.act(ctx, w, r.order(w, s, path), crew, &f)
	f.client += spent(crew)
	f.server += r.servers[s.server].CPU()
	if p := r.proxies[via]; p != nil {
		f.requests = p.Counts()
	}
	if f.err == nil && w.act == "take" { // not counted, and timed apart
		f.err = f.drop(ctx, crew[0])
	}
	if f.err != nil || w.act == "kill" {
		for _, c := range crew {
			c.kill()
		}
		delete(r.crews, at)
	}
	if !r.servers[s.server].Alive() {
		f.err = errServerEnded
	}
	return f
}

// drop has a process release what it has taken.
func (f *figure) drop(ctx context.Context, c *child) error {
	a, err := c.order(ctx, "drop", nil)
	f.released = float64(a.Int("ops")) / time.Duration(a.Int("ns")).Seconds()
	return err
}

// errServerEnded ends a run: nothing that follows would have a meaning.
var errServerEnded = errors.New("the server has ended by itself; is the disk full?")

func spent(crew []*child) (sum time.Duration) {
	for _, c := range crew {
		sum += c.cpu()
	}
	return sum
}

// act has the processes do it.
func (r *run) act(ctx context.Context, w workload, order contend.Values, crew []*child, f *figure) (err error) {
	switch w.act {
	case "kill":
		return kill(ctx, w.session(), order, crew, f)
	case "take":
		f.before, err = r.weigh(ctx, crew)
	case "drain":
		err = r.enqueue(ctx, order, crew, f)
	}
	if err != nil {
		return err
	}
	answers, err := all(ctx, crew, w.act, order)
	for _, a := range answers {
		f.ops += a.Int("ops")
		f.all += a.Int("all")
		f.violations += a.Int("violations")
		f.took = max(f.took, time.Duration(a.Int("ns")))
	}
	if err == nil && w.act == "drain" {
		var left contend.Values
		left, err = crew[0].order(ctx, "left", order)
		f.left = left.Int("nodes")
	}
	if err == nil && w.act == "take" {
		f.memory, err = r.weigh(ctx, crew)
	}
	if err == nil && f.all == 0 {
		err = errors.New("nothing was done")
	}
	return err
}

// enqueue makes waiters for a path that the first process holds.
func (r *run) enqueue(ctx context.Context, order contend.Values, crew []*child, f *figure) error {
	order["worker"] = order["n"] // of another session than the waiters, where each has one
	if _, err := crew[0].order(ctx, "hold", order); err != nil {
		return err
	}
	answers, err := all(ctx, crew, "queue", order)
	if err != nil {
		return err
	}
	for _, a := range answers {
		f.queued = max(f.queued, time.Duration(a.Int("ns")))
	}
	f.memory, err = r.weigh(ctx, crew)
	return err
}

// kill measures how long it takes from the end of a leader's process until the next
// leader knows that it is one. It depends on how long ago the leader had sent something,
// which right after an election is never long. So the process is killed at a random
// moment, when only what keeps the session has been sent for a while.
func kill(ctx context.Context, session time.Duration, order contend.Values, crew []*child, f *figure) error {
	for i, c := range crew {
		order["total"] = fmt.Sprint(i + 1)
		if _, err := c.order(ctx, "campaign", order); err != nil {
			return err
		}
		if i == 0 {
			if _, err := c.order(ctx, "elected", nil); err != nil {
				return err
			}
		}
	}
	select {
	case <-time.After(session + rand.N(session)):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	start := time.Now()
	crew[0].kill()
	_, err := crew[1].order(ctx, "elected", nil)
	f.took, f.ops, f.all = time.Since(start), 1, 1
	return err
}
