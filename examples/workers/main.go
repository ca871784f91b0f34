// Command workers runs jobs in three processes with 16 workers each, of which together
// never more than a number run at once: they share the permits of one semaphore. While
// they run, the number is raised and lowered, with Resize, and a process is killed. It
// answers: how do I bound what many processes do to a service that bears only so much?
// It needs nothing but Go:
//
//	go run ./examples/workers
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one. The part to copy is worker.go.
//
// Resize promises that no permit is granted from then on unless fewer than the new
// number are held. It takes nothing away from those who hold permits: right after the
// number was lowered more run than it says, until they are done. The permits of a
// process that was killed come back when ZooKeeper ends its session.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

const (
	processes = 3
	jobs      = 100
	// The numbers of jobs at once, in this order. As more than one process has workers
	// run then, not all are killed; and those that are left are enough.
	first, more, fewer = 4, 20, 3
	// root is where each run has a semaphore, so that several runs have nothing to do
	// with each other.
	root = "/examples/workers"
	// tooLong is more than a run takes on the slowest machine.
	tooLong = 2 * time.Minute
)

func main() { program(shared).Main() }

// A bound returns what bounds the work of a process.
type bound func(client *framework.Client, path string) (lease.Acquirer, error)

// program returns one of the processes, or all of them and what happens to them.
func program(b bound) example.Program {
	var address, path string
	return example.Program{
		Name: "workers",
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&address, "service", "", "the `URL` of the service, for one of the processes")
			flags.StringVar(&path, "semaphore", "", "the `path` of the semaphore, for one of the processes")
		},
		Run: func(ctx context.Context, servers []string, out io.Writer) error {
			if address != "" {
				return work(ctx, servers, path, b, remote(address), os.Stdin)
			}
			return run(ctx, servers, out)
		},
	}
}

// run makes the semaphore, starts service and processes, and removes what it made.
func run(ctx context.Context, servers []string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	client, err := connect(ctx, servers)
	if err != nil {
		return err
	}
	defer client.Close()
	path := root + "/" + rand.Text()
	limit, err := semaphore.New(client, path, 0) // as many as the path stores
	if err != nil {
		return err
	}
	if err := limit.Resize(ctx, first); err != nil { // stores it before the first worker comes
		return err
	}
	defer func() {
		if removed := client.DeleteTree(ctx, path); err == nil && !errors.Is(removed, framework.ErrNoNode) {
			err = removed
		}
	}()

	s := newService(jobs, first)
	address, stop, err := example.Serve(s)
	if err != nil {
		return err
	}
	defer stop()
	c := &cluster{service: s, args: []string{"--servers", strings.Join(servers, ","), "--service", address, "--semaphore", path}}
	return c.run(ctx, func(ctx context.Context) error { return play(ctx, c, limit, out) })
}
