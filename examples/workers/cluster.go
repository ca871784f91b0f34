package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// A cluster is the processes.
type cluster struct {
	service *service
	args    []string // of a process
	ended   sync.WaitGroup

	live map[int]*process // guarded by the service's mutex
}

// A process is one of the cluster.
type process struct {
	cmd    *exec.Cmd
	input  io.Closer // it ends when this is closed
	killed bool
}

// run starts the processes, calls play, and has them end.
func (c *cluster) run(ctx context.Context, play func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer c.ended.Wait()
	defer cancel()
	c.live = map[int]*process{}
	for range processes {
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	if err := play(ctx); err != nil {
		return err
	}
	c.service.Change(func() {
		for _, p := range c.live {
			p.input.Close()
		}
	})
	return c.service.Await(ctx, func() bool { return len(c.live) == 0 })
}

// start starts a process, which ctx kills.
func (c *cluster) start(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, c.args...)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	p := &process{cmd: cmd, input: input}
	c.service.Change(func() {
		if err = cmd.Start(); err == nil {
			c.live[cmd.Process.Pid] = p
		}
	})
	if err != nil {
		return err
	}
	c.ended.Go(func() {
		err := cmd.Wait()
		c.service.Change(func() {
			delete(c.live, cmd.Process.Pid)
			if !p.killed && err != nil && c.service.Failure == nil {
				c.service.Failure = fmt.Errorf("a process ended: %w", err)
			}
		})
	})
	return nil
}

// kill kills the process that runs most jobs, as kill -9 does, and returns how many
// those are. What it had taken returns to the queue.
func (c *cluster) kill() (jobs int) {
	c.service.Change(func() {
		pid := c.service.busiest()
		if p := c.live[pid]; p != nil { // else it has ended, which is a failure
			p.killed = true
			_ = p.cmd.Process.Kill()
			jobs = c.service.lose(pid)
		}
	})
	return jobs
}
