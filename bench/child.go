package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/contend"
	"github.com/zkrecipes/zkrecipes/bench/servers"
)

// A child is one process of a system.
type child struct {
	command *exec.Cmd
	in      io.WriteCloser
	answers chan string
	ended   <-chan struct{}
}

// startChild starts a process and waits until it is connected.
func startChild(ctx context.Context, command *exec.Cmd) (*child, error) {
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	command.Stdout, command.Stderr = to, os.Stderr
	c := &child{command: command, in: in, answers: make(chan string)}
	c.ended, err = servers.Launch(command)
	_ = to.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	go func() {
		defer out.Close()
		defer close(c.answers)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.answers <- lines.Text()
		}
	}()
	if _, err := c.answer(ctx); err != nil {
		c.kill()
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	return c, nil
}

// order has the process carry out an order. After an error it is of no more use.
func (c *child) order(ctx context.Context, verb string, v contend.Values) (contend.Values, error) {
	if _, err := fmt.Fprintln(c.in, contend.Format(verb, v)); err != nil {
		return nil, fmt.Errorf("%s: %w", verb, err)
	}
	answer, err := c.answer(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", verb, err)
	}
	return answer, nil
}

func (c *child) answer(ctx context.Context) (contend.Values, error) {
	select {
	case line, ok := <-c.answers:
		if !ok {
			return nil, errors.New("the process has ended")
		}
		_, v, err := contend.Parse(line)
		return v, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// cpu is the processor time that it has taken.
func (c *child) cpu() time.Duration { return servers.CPU(c.command.Process.Pid) }

// signal sends it a signal.
func (c *child) signal(s os.Signal) error { return c.command.Process.Signal(s) }

// kill ends it as kill -9 does.
func (c *child) kill() {
	_ = c.command.Process.Kill()
	go func() {
		for range c.answers { // so that their reader ends
		}
	}()
	<-c.ended
}

// stop lets it close its session.
func (c *child) stop() {
	_ = c.in.Close()
	select {
	case <-c.ended:
	case <-time.After(5 * time.Second):
		c.kill()
	}
}

// all has several processes carry out the same order at once, and returns the answers.
func all(ctx context.Context, crew []*child, verb string, v contend.Values) ([]contend.Values, error) {
	answers, errs := make([]contend.Values, len(crew)), make(chan error, len(crew))
	for i, c := range crew {
		go func() {
			var err error
			answers[i], err = c.order(ctx, verb, v)
			errs <- err
		}()
	}
	var first error
	for range crew {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return answers, first
}
