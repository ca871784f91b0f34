package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// A cluster is the processes, and what happens to them. They report here what they do,
// so that they are killed and paused in the middle of it.
type cluster struct {
	store *store
	job   *once.Job
	args  []string // of a process
	ended sync.WaitGroup

	example.State // guards what follows
	live          map[int]*process
	recorded      map[time.Time]bool // which ticks are known to be
	round         []act              // what is still to do in this round
	tick          time.Time          // to those that begin this one, zero until it is chosen
	acted         map[act]int
}

// A process is one of the cluster, from its start to its end.
type process struct {
	cmd     *exec.Cmd
	input   io.Closer // it ends when this is closed
	killed  bool
	late    bool               // it is killed after its change, before it hears of that
	resumed chan struct{}      // not nil while it is to be paused; then closed
	seen    map[time.Time]bool // the ticks that it knows of
	fresh   bool               // it has seen a tick since it was started or resumed
}

func newCluster(job *once.Job) *cluster {
	return &cluster{
		store: newStore(), job: job, live: map[int]*process{},
		recorded: map[time.Time]bool{}, acted: map[act]int{},
	}
}

// await waits until what does() does is done, which it tries at each change, after it
// has found out which ticks are recorded.
func (c *cluster) await(ctx context.Context, does func() bool) error {
	for {
		if err := c.settle(ctx); err != nil {
			return err
		}
		done, looked := false, false
		err := c.Await(ctx, func() bool {
			if looked {
				return true // something has changed: settle first
			}
			looked, done = true, does()
			return done
		})
		if done || err != nil {
			return err
		}
	}
}

// settle finds out which ticks are recorded.
func (c *cluster) settle(ctx context.Context) error {
	for _, tick := range c.store.known() {
		c.Lock()
		known := c.recorded[tick]
		c.Unlock()
		if known {
			continue
		}
		record, err := c.job.Tick(tick).Recorded(ctx)
		if err != nil {
			return err
		}
		if record != nil {
			c.Lock()
			c.recorded[tick] = true
			c.Unlock()
		}
	}
	return nil
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
	p := &process{cmd: cmd, input: input, seen: map[time.Time]bool{}}
	c.Change(func() {
		if err = cmd.Start(); err == nil {
			c.live[cmd.Process.Pid] = p
		}
	})
	if err != nil {
		return err
	}
	c.ended.Go(func() {
		err := cmd.Wait()
		c.Change(func() {
			delete(c.live, cmd.Process.Pid)
			if !p.killed && err != nil && c.Failure == nil {
				c.Failure = fmt.Errorf("a process ended: %w", err)
			}
		})
	})
	return nil
}

// ServeHTTP takes the reports of processes.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pid, err := strconv.Atoi(r.FormValue("pid"))
	tick, errTick := time.Parse(time.RFC3339, r.FormValue("tick"))
	token, errToken := strconv.ParseInt(r.FormValue("token"), 10, 64)
	c.Lock()
	p := c.live[pid]
	if p == nil || p.killed || err != nil || errTick != nil || errToken != nil {
		c.Unlock()
		http.Error(w, "not a report", http.StatusBadRequest)
		return
	}
	c.Unlock()
	switch r.URL.Path {
	case "/seen":
		c.see(p, tick)
	case "/begin":
		c.see(p, tick)
		if err = c.store.begin(tick, lease.Token(token)); err == nil {
			c.fault(r.Context(), p, tick)
		}
	case "/apply":
		c.delay(r.Context(), p)
		if err = c.store.apply(tick, lease.Token(token)); err == nil {
			c.killLate(r.Context(), p)
		}
	}
	if err == nil {
		return // with 200
	}
	http.Error(w, err.Error(), http.StatusConflict)
}

// see keeps that a process has seen a tick: unless it is killed, it is its duty now.
func (c *cluster) see(p *process, tick time.Time) {
	c.Change(func() {
		if !p.killed {
			c.store.see(tick)
			p.seen[tick], p.fresh = true, true
		}
	})
}

// others returns how many other processes that go on know of all that this one knows of
// and that is not recorded. If it is killed they are to do that.
func (c *cluster) others(p *process) int {
	n := 0
	for _, other := range c.live {
		if other == p || other.killed || other.late || other.resumed != nil {
			continue
		}
		unseen := func(tick time.Time) bool { return !c.recorded[tick] && !other.seen[tick] }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(p.seen)), unseen) {
			n++
		}
	}
	return n
}
