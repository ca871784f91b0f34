package main

import (
	"context"
	"syscall"
	"time"
)

// An act is what is done to a process that has just begun a tick.
type act int

const (
	kill     act = iota // it is killed before it has done anything
	killLate            // when it has changed something, before it can record that
	pause               // when its change is on its way, which arrives too late
)

// patience is how long a process that begins is stopped, until others know of its tick.
const patience = 3 * time.Second

// play starts the processes, does to them what is planned, and has them end.
func (c *cluster) play(ctx context.Context, plan [][]act) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.ended.Wait()
	defer cancel()
	if err := c.fill(ctx); err != nil {
		return err
	}
	for _, round := range plan {
		if err := c.playRound(ctx, round); err != nil {
			return err
		}
	}
	c.Change(func() {
		for _, p := range c.live {
			p.input.Close()
		}
	})
	return c.await(ctx, func() bool { return len(c.live) == 0 })
}

// playRound does all acts to processes that begin the same tick, and waits until
// another has recorded it. Then all go on, or are started again.
func (c *cluster) playRound(ctx context.Context, round []act) error {
	c.Change(func() { c.round, c.tick = round, time.Time{} })
	if err := c.await(ctx, func() bool { return len(c.round) == 0 && c.recorded[c.tick] }); err != nil {
		return err
	}
	c.Change(func() {
		for _, p := range c.live {
			if p.resumed != nil {
				_ = p.cmd.Process.Signal(syscall.SIGCONT)
				close(p.resumed)
				p.resumed, p.fresh = nil, false
			}
		}
	})
	return c.fill(ctx)
}

// fill starts the processes that are missing, and waits until all have seen a tick.
func (c *cluster) fill(ctx context.Context) error {
	all := func() (n int, fresh bool) {
		fresh = true
		for _, p := range c.live {
			if !p.killed {
				n, fresh = n+1, fresh && p.fresh
			}
		}
		return n, fresh
	}
	c.Lock()
	n, _ := all()
	c.Unlock()
	for ; n < processes; n++ {
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	return c.await(ctx, func() bool { _, fresh := all(); return fresh })
}

// fault does the next act to a process that has begun a tick, if as many others know
// of it as there are acts left, so that one will finish it.
func (c *cluster) fault(ctx context.Context, p *process, tick time.Time) {
	c.Lock()
	chosen := c.tick
	c.Unlock()
	wait := ctx
	if chosen.IsZero() { // else they do: this is not the first act
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		wait = limited
	}
	_ = c.await(wait, func() bool {
		if len(c.round) == 0 || (!c.tick.IsZero() && !c.tick.Equal(tick)) {
			return true // not this tick
		}
		if c.others(p) < len(c.round) {
			return false
		}
		c.perform(p, c.round[0])
		c.round, c.tick = c.round[1:], tick
		return true
	})
	c.Change(func() {})
}

// perform does an act, or begins to.
func (c *cluster) perform(p *process, a act) {
	c.acted[a]++
	switch a {
	case kill:
		p.kill()
	case killLate:
		p.late = true
	case pause:
		p.resumed = make(chan struct{})
	}
}

func (p *process) kill() {
	p.killed = true
	_ = p.cmd.Process.Kill()
}

// delay pauses a process whose change is on its way, if that is to be, and keeps the
// change until the process goes on.
func (c *cluster) delay(ctx context.Context, p *process) {
	c.Lock()
	resumed := p.resumed
	if resumed != nil {
		_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	}
	c.Unlock()
	if resumed != nil {
		select {
		case <-resumed:
		case <-ctx.Done():
		}
	}
}

// killLate kills a process that has changed something, if that is to be.
func (c *cluster) killLate(ctx context.Context, p *process) {
	_ = c.await(ctx, func() bool {
		if p.late && c.others(p) > 0 {
			p.kill()
		}
		return !p.late || p.killed
	})
}
