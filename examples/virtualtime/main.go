// Command virtualtime bills accounts in two processes at once, each account once. It is
// there for its tests, and answers: how do I test my own code against a network that
// breaks, and a lock that is lost, without waiting?
//
//	go run ./examples/virtualtime
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
//
// The code under test is biller.go. Its tests are written to be copied:
//
//   - virtual_test.go runs it with a server in memory, in virtual time. An hour of
//     waiting takes a moment, and a fault strikes exactly when the test wants it. Each
//     test answers something that users of locks fear.
//   - unit_test.go runs it with a fake lock, without any server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

const (
	processes = 2
	accounts  = 6
	lockPath  = "/examples/virtualtime"
)

var program = example.Program{Name: "virtualtime", Run: run}

func main() { program.Main() }

// run bills in two processes, as it were: each has a client of its own.
func run(ctx context.Context, servers []string, out io.Writer) error {
	ledger := newMemory(accounts, 20*time.Millisecond)
	err := atOnce(func() error { return work(ctx, servers, ledger) })
	if err := errors.Join(err, ledger.check()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d processes and %d accounts: each was billed once, and no two at the same time\n", processes, accounts)
	fmt.Fprintln(out, "what happens when the holder is cut off, or answers are dropped: go test -v ./examples/virtualtime")
	return nil
}

// work is what the function main of a process would do.
func work(ctx context.Context, servers []string, ledger Ledger) error {
	connecting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	client, err := framework.Connect(connecting, framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer client.Close()
	lock, err := mutex.New(client, lockPath)
	if err != nil {
		return err
	}
	biller := &Biller{Lock: lock, Ledger: ledger, Pause: time.Second}
	return biller.Run(ctx)
}

// atOnce runs all processes.
func atOnce(work func() error) error {
	var errs [processes]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = work() })
	}
	all.Wait()
	return errors.Join(errs[:]...)
}
