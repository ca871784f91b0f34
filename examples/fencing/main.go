// Command fencing has a holder of a lock write late: after its session has ended, and
// the next holder has read what it is about to change. It shows what becomes of that in
// an HTTP service, in an object store with conditional writes, and in ZooKeeper itself,
// without a fencing token, and with one. It needs nothing but Go:
//
//	go run ./examples/fencing
//
// Files service.go and object.go are to be copied. The rest plays the world around
// them. For SQL see examples/sql.
//
// It starts a ZooKeeper server in its own process. With --servers HOST:PORT it uses
// that one.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
)

var program = example.Program{Name: "fencing", Run: run}

func main() { program.Main() }

// A holder is a process that holds the lock, or thinks so.
type holder struct {
	client *framework.Client
	*lease.Lease
}

// A store has one number, to which each holder of the lock adds 1. Between its read and
// its write nobody else may write.
type store interface {
	// read returns the number, and what the write of the same holder has to know.
	read(ctx context.Context, h holder) (number int, version string, err error)
	// write returns an errFenced if it is refused.
	write(ctx context.Context, h holder, version string, number int) error
}

// folder is where the lock and the number are.
const folder = "/examples/fencing"

// errFenced means that the store knows of a newer holder. Nothing was changed.
var errFenced = errors.New("refused: there is a newer holder")

// An act is a late write to a store.
type act struct {
	how   string
	store store
	loses bool // one of the two additions
}

func run(ctx context.Context, servers []string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cfg := framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)}
	one, err := framework.Connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer one.Close()
	other, err := framework.Connect(ctx, cfg) // of another process, on another machine
	if err != nil {
		return err
	}
	defer other.Close()
	acts, end, err := allActs(ctx, one)
	if err != nil {
		return err
	}
	defer end()
	for _, a := range acts {
		if err := a.play(ctx, one, other, out); err != nil {
			return fmt.Errorf("%s: %w", a.how, err)
		}
	}
	return nil
}

// play has the first process read, lose the lock, and write when the second has read.
func (a act) play(ctx context.Context, one, other *framework.Client, out io.Writer) error {
	first, err := acquire(ctx, one)
	if err != nil {
		return err
	}
	defer first.Release() // it is lost
	before, firstVersion, err := a.store.read(ctx, first)
	if err != nil {
		return err
	}
	// The first one is paused for longer than its session. So the servers delete its
	// znode; this does that sooner. The write below is that of a process that goes on
	// and does not look at its lease.
	if err := other.Delete(ctx, first.Path(), framework.AnyVersion); err != nil {
		return err
	}
	second, err := acquire(ctx, other)
	if err != nil {
		return err
	}
	defer second.Release() // the store has said whether the lease was good for the write
	number, version, err := a.store.read(ctx, second)
	if err != nil {
		return err
	}
	late := a.store.write(ctx, first, firstVersion, before+1)
	if late != nil && !errors.Is(late, errFenced) {
		return late
	}
	if err := a.store.write(ctx, second, version, number+1); err != nil {
		return err
	}
	after, _, err := a.store.read(ctx, second)
	if err != nil {
		return err
	}
	accepted := 2
	if late != nil {
		accepted = 1
	}
	return a.tell(out, accepted, after-before)
}

// tell fails unless it is as it has to be.
func (a act) tell(out io.Writer, accepted, added int) error {
	text := fmt.Sprintf("%d of 2 writes accepted, %d added", accepted, added)
	if added != accepted {
		text += ", LOST"
	}
	fmt.Fprintf(out, "%s: %s\n", a.how, text)
	if lost := added != accepted; lost != a.loses || added != 1 {
		return fmt.Errorf("not as expected: %s", text)
	}
	return nil
}

func acquire(ctx context.Context, client *framework.Client) (holder, error) {
	lock, err := mutex.New(client, folder+"/lock")
	if err != nil {
		return holder{}, err
	}
	held, err := lock.Acquire(ctx, lease.Forever)
	return holder{client, held}, err
}
