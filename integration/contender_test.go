package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

// contenderPlan is the environment variable that makes this binary a contender.
const contenderPlan = "ZKRECIPES_TEST_CONTENDER"

// A plan describes what a contender process does.
type plan struct {
	Servers  []string
	Path     string
	Workers  int  // goroutines
	Grants   int  // per goroutine
	Until    bool // at least Grants, and then more until standard input ends
	Tolerant bool // a lost lease is not a failure
	Linger   bool // hold the first lease until it is lost
}

// A grant is what a contender writes on a line of its standard output for each lease.
// From and Until are on the machine's clock: at From the lease had been granted, and at
// Until it was still valid.
type grant struct {
	Token    int64
	Sequence string
	From     int64
	Until    int64
	Lost     bool
}

// contend runs a contender and returns its exit code.
func contend(text string) int {
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	client, err := framework.Connect(ctx, framework.Config{
		Servers: p.Servers, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	m, err := mutex.New(client, p.Path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if p.Linger {
		return linger(ctx, m)
	}
	over := make(chan struct{})
	if p.Until {
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, os.Stdin)
			close(over)
		}()
	} else {
		close(over)
	}
	var out sync.Mutex
	encoder := json.NewEncoder(os.Stdout)
	failed := false
	var group sync.WaitGroup
	for range p.Workers {
		group.Go(func() {
			for n := 0; n < p.Grants || !ended(over); n++ {
				g, err := hold(ctx, m, p.Tolerant)
				out.Lock()
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					failed = true
				} else {
					_ = encoder.Encode(g)
				}
				out.Unlock()
				if ctx.Err() != nil {
					return
				}
			}
		})
	}
	group.Wait()
	_ = client.Close()
	if failed {
		return 1
	}
	return 0
}

// ended tells whether a channel is closed.
func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// hold takes the mutex once and observes how long the lease is valid. With tolerant a
// lost lease is no failure.
func hold(ctx context.Context, m *mutex.Mutex, tolerant bool) (grant, error) {
	held, err := m.Acquire(ctx, lease.Forever)
	if err != nil {
		return grant{}, err
	}
	g := grant{
		Token: int64(held.Token()), Sequence: held.Path()[strings.LastIndex(held.Path(), "lock-")+len("lock-"):],
		From: time.Now().UnixNano(),
	}
	for range 3 {
		now := time.Now().UnixNano()
		if held.Err() != nil {
			break
		}
		g.Until = now
	}
	err = held.Release()
	g.Lost = err != nil
	if tolerant {
		err = nil
	}
	return g, err
}

// linger holds one lease until it is lost, and checks it all the time. It writes a
// grant without an end when it has the lease, and another when it has lost it.
func linger(ctx context.Context, m *mutex.Mutex) int {
	held, err := m.Acquire(ctx, lease.Forever)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	g := grant{Token: int64(held.Token()), From: time.Now().UnixNano()}
	encoder := json.NewEncoder(os.Stdout)
	_ = encoder.Encode(g)
	for {
		now := time.Now().UnixNano()
		if held.Err() != nil {
			break
		}
		g.Until = now
	}
	g.Lost = true
	_ = encoder.Encode(g)
	return 0
}
