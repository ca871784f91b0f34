// Command cron runs a job every second in a cluster of three processes, of which some
// are killed or paused in the middle of it, and counts. It needs nothing but Go, on a
// system with SIGSTOP, and is a module of its own:
//
//	cd examples/cron && GOWORK=off go run .
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	processes      = 3
	sessionTimeout = 2 * time.Second
	// jobPath is that of the job, and sumPath of the node that its ticks add to.
	jobPath, sumPath = "/examples/cron/job", "/examples/cron/sum"
	// tooLong is more than a round takes on the slowest machine.
	tooLong = 2 * time.Minute
)

// plan is what happens in each round to the processes that begin the same tick, one
// after the other.
var plan = [][]act{{kill}, {pause}, {killLate}, {kill, pause}, {pause, killLate}}

func main() { program(plan).Main() }

// program returns one of the processes, or all of them and what happens to them.
func program(plan [][]act) example.Program {
	var store string
	return example.Program{
		Name: "cron",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&store, "store", "", "the `URL` of the store, for one of the processes")
		},
		Server: []zktest.Option{zktest.WithTick(sessionTimeout / 2)},
		Run: func(ctx context.Context, servers []string, out io.Writer) error {
			if store != "" {
				return work(ctx, servers, remote(store), os.Stdin)
			}
			return run(ctx, servers, plan, out)
		},
	}
}

// run plays all rounds, and compares what was done.
func run(ctx context.Context, servers []string, plan [][]act, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(len(plan)+1)*tooLong)
	defer cancel()
	client, job, err := connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := prepare(ctx, client); err != nil {
		return err
	}
	c := newCluster(job)
	url, stop, err := example.Serve(c)
	if err != nil {
		return err
	}
	defer stop()

	c.args = []string{"--servers", strings.Join(servers, ","), "--store", url}
	began := time.Now()
	if err := c.play(ctx, plan); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d processes, %d rounds in %v: %d times killed, %d times paused for longer than a session\n",
		processes, len(plan), time.Since(began).Round(time.Second), c.acted[kill]+c.acted[killLate], c.acted[pause])
	t, err := count(ctx, c.store, client, job)
	if err != nil {
		return err
	}
	fmt.Fprint(out, t)
	return t.check()
}

// connect returns a client and the job, as each process has them.
func connect(ctx context.Context, servers []string) (*framework.Client, *once.Job, error) {
	client, err := framework.Connect(ctx, framework.Config{
		Servers: servers, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, nil, err
	}
	job, err := once.New(client, jobPath)
	if err != nil {
		client.Close()
	}
	return client, job, err
}

// prepare removes what an earlier run has left, and makes the node to add to.
func prepare(ctx context.Context, client *framework.Client) error {
	err := client.Delete(ctx, sumPath, framework.AnyVersion)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return err
	}
	if err := client.CreateParents(ctx, sumPath); err != nil {
		return err
	}
	_, err = client.Create(ctx, sumPath, []byte("0"), framework.Persistent)
	return err
}
