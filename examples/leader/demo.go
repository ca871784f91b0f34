package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/retry"
)

const (
	// tooLong is more than any part takes on the slowest machine.
	tooLong = time.Minute
	// pollInterval is how often instances are asked who leads.
	pollInterval = 10 * time.Millisecond
	// enough jobs are done in each term, before its leader is ended.
	enough = 20
)

// A demo has the instances, and what they report.
type demo struct {
	client *framework.Client
	path   string // of the election
	out    io.Writer
	board  *board
	live   map[string]*process
	ended  sync.WaitGroup
}

// demonstrate starts three instances, ends two of them in different ways while they
// lead, then the third, and counts.
func demonstrate(ctx context.Context, servers []string, out io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*tooLong, errors.New("it takes too long"))
	defer cancel()
	client, err := framework.Connect(ctx, framework.Config{
		Servers: servers, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	defer client.Close()
	// Of its own, as several may be shown at the same time.
	d := &demo{client: client, path: "/examples/leader/demo-" + rand.Text(), out: out, board: newBoard(), live: map[string]*process{}}
	url, stop, err := example.Serve(d.board)
	if err != nil {
		return err
	}
	defer stop()

	err = d.play(ctx, "--servers", strings.Join(servers, ","), "--election", d.path, "--report", url)
	for _, p := range d.live { // after a failure
		p.end()
	}
	d.ended.Wait()
	if err != nil {
		return err
	}
	t := d.board.count()
	fmt.Fprint(out, t)
	if err := t.check(); err != nil {
		return err
	}
	return client.DeleteTree(ctx, d.path)
}

// play is what happens to the instances, which are started with those arguments.
func (d *demo) play(ctx context.Context, args ...string) error {
	for _, id := range []string{"a", "b", "c"} {
		p, err := start(ctx, id, args...)
		if err != nil {
			return err
		}
		d.live[id] = p
		d.ended.Go(func() { d.watch(p) })
		if err := p.request(ctx); err != nil {
			return err
		}
	}
	if err := d.awaitCandidates(ctx); err != nil {
		return err
	}
	if err := d.ask(ctx); err != nil {
		return err
	}
	for _, act := range []func(context.Context) error{d.terminate, d.kill, d.terminateLast} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// watch notes that a process has failed by itself.
func (d *demo) watch(p *process) {
	<-p.ended
	d.board.Change(func() {
		if p.status != nil && !d.board.dead[p.id] && d.board.Failure == nil {
			d.board.Failure = p.await(context.Background())
		}
	})
}

// awaitCandidates waits until one leads, and all others wait for that.
func (d *demo) awaitCandidates(ctx context.Context) error {
	if err := d.board.Await(ctx, func() bool { return d.board.leads() != nil }); err != nil {
		return err
	}
	for {
		candidates, _, watch, err := d.client.ChildrenWatch(ctx, d.path)
		if err != nil || len(candidates) == len(d.live) {
			return err
		}
		select {
		case <-watch.Events():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ask asks all instances who leads, until they agree, and whether they are well.
func (d *demo) ask(ctx context.Context) error {
	for {
		var leader string
		said := map[string]bool{}
		for _, p := range d.live {
			leader = p.leader(ctx)
			said[leader] = true
		}
		if len(said) == 1 && leader != "" {
			fmt.Fprintf(d.out, "%d instances serve HTTP, and all say that %s leads\n", len(d.live), leader)
			break
		}
		if err := retry.Sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
	for _, p := range d.live {
		for _, probe := range []string{"/healthz", "/readyz"} {
			if _, err := p.get(ctx, probe); err != nil {
				return fmt.Errorf("instance %s at %s: %w", p.id, probe, err)
			}
		}
	}
	return nil
}

// strike waits until one leads and is busy with that, does something to it, and waits
// until another leads.
func (d *demo) strike(ctx context.Context, act func(*process) error) (p *process, handOver string, err error) {
	var leads *term
	var struck time.Time
	if err := d.board.Await(ctx, func() bool {
		if leads = d.board.leads(); leads != nil && leads.jobs < enough {
			leads = nil
		}
		if leads != nil {
			p, struck = d.live[leads.id], time.Now()
			err = act(p)
		}
		return leads != nil
	}); err != nil {
		return p, "", err
	}
	if err != nil {
		return p, "", err
	}
	var next *term
	if err := d.board.Await(ctx, func() bool {
		if next = d.board.leads(); next != nil && next.id == p.id {
			next = nil
		}
		return next != nil
	}); err != nil {
		return p, "", fmt.Errorf("nobody leads after %s: %w", p.id, err)
	}
	return p, fmt.Sprintf("%s leads %v later", next.id, next.began.Sub(struck).Round(time.Millisecond)), nil
}

// terminate ends the leader as a platform does, while it serves a request. Another
// leads before that is finished.
func (d *demo) terminate(ctx context.Context) error {
	p, handOver, err := d.strike(ctx, func(p *process) error { return p.cmd.Process.Signal(syscall.SIGTERM) })
	if err != nil {
		return err
	}
	if err := errors.Join(p.finish(), p.await(ctx)); err != nil {
		return err
	}
	delete(d.live, p.id)
	fmt.Fprintf(d.out, "SIGTERM to %s: %s; after that %s has finished a request, and ended with status 0\n", p.id, handOver, p.id)
	return nil
}

// kill kills the leader.
func (d *demo) kill(ctx context.Context) error {
	p, handOver, err := d.strike(ctx, func(p *process) error {
		err := p.cmd.Process.Signal(os.Kill)
		d.board.bury(p.id)
		return err
	})
	if err != nil {
		return err
	}
	p.end()
	delete(d.live, p.id)
	fmt.Fprintf(d.out, "SIGKILL to %s: %s, as its session timeout, %v, had to pass\n", p.id, handOver, d.client.Session().Timeout())
	return nil
}

// terminateLast ends what is left.
func (d *demo) terminateLast(ctx context.Context) error {
	for id, p := range d.live {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := errors.Join(p.finish(), p.await(ctx)); err != nil {
			return err
		}
		delete(d.live, id)
		fmt.Fprintf(d.out, "SIGTERM to %s: it has finished a request, and ended with status 0\n", id)
	}
	return nil
}
