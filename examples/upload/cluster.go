package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
)

// A kill is what happens to the process that sends a request: it is killed with
// SIGKILL.
type kill struct {
	method, path string
	late         bool // the request arrives after another process has finished the object
}

// A cluster is the processes. Their requests pass through it to the store, so that they
// are killed in the middle.
type cluster struct {
	ctx   context.Context // of the program
	store *store
	args  []string // of a process
	ended sync.WaitGroup

	example.State // guards what follows
	started       int
	live          map[int]*process
	plan          []kill // what is still to do
	late          int    // requests that are on their way
	killed        int
}

// A process is one of the cluster, from its start to its end.
type process struct {
	cmd    *exec.Cmd
	input  io.Closer // it ends when this is closed
	killed bool
}

func newCluster(ctx context.Context, s *store, plan []kill) *cluster {
	return &cluster{ctx: ctx, store: s, plan: plan, live: map[int]*process{}}
}

// play starts n processes, and waits until all have ended, and so have those that are
// started in the place of a killed one.
func (c *cluster) play(n int, url string) error {
	for range n {
		if err := c.start(url); err != nil {
			return err
		}
	}
	return c.Await(c.ctx, func() bool { return len(c.live) == 0 && c.late == 0 })
}

// start starts a process, which the end of the context kills.
func (c *cluster) start(url string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c.Lock()
	c.started++
	id := c.started
	c.Unlock()
	args := append([]string{"--bucket", fmt.Sprint(url, "/", id)}, c.args...)
	p := &process{cmd: exec.CommandContext(c.ctx, program, args...)}
	p.cmd.Stderr = os.Stderr
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	c.Change(func() {
		if err = p.cmd.Start(); err == nil {
			c.live[id] = p
		}
	})
	if err != nil {
		return err
	}
	c.ended.Go(func() {
		err := p.cmd.Wait()
		c.Lock()
		killed := p.killed
		c.Unlock()
		if killed {
			err = c.start(url) // as a supervisor does
		}
		c.Change(func() {
			delete(c.live, id)
			if err != nil && c.Failure == nil {
				c.Failure = fmt.Errorf("process %d: %w", id, err)
			}
		})
	})
	return nil
}

// ServeHTTP takes a request of a process.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	first, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	id, err := strconv.Atoi(first)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // it was killed
	}
	r.URL.Path, r.Body = "/"+path, io.NopCloser(bytes.NewReader(body))
	planned := c.next(r.Method, path)
	switch {
	case planned == nil:
		c.store.ServeHTTP(w, r)
		c.Change(func() {})
		if r.Method == http.MethodPost && path == unlockedReport.name {
			_ = c.Await(c.ctx, func() bool { return c.store.begun(path) == processes }) // all see nothing
		}
	case planned.late:
		c.kill(id)
		name, _, _ := strings.Cut(path, "/")
		_ = c.Await(c.ctx, func() bool { return c.store.finished(name) })
		c.store.ServeHTTP(w, r)
		c.Change(func() { c.late-- })
	default:
		c.store.ServeHTTP(w, r)
		c.kill(id) // before it gets the answer
	}
}

// next returns what happens to the process that sends a request, nil for nothing.
func (c *cluster) next(method, path string) *kill {
	c.Lock()
	defer c.Unlock()
	for i, k := range c.plan {
		if k.method == method && k.path == path {
			c.plan = append(c.plan[:i:i], c.plan[i+1:]...)
			if k.late {
				c.late++
			}
			return &k
		}
	}
	return nil
}

// kill kills a process.
func (c *cluster) kill(id int) {
	c.Change(func() {
		if p := c.live[id]; p != nil {
			p.killed = true
			_ = p.cmd.Process.Kill()
			c.killed++
		}
	})
}
