package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// path is the znode of the mutex.
const path = "/locks/orders"

const (
	// sessionTimeout is so long that a busy machine ends no session.
	sessionTimeout = 20 * time.Second
	// shortTimeout is that of ann in scene 4, so that bob does not wait long.
	shortTimeout = 2 * time.Second
)

// A client is a mutex, as one program sees it.
type client struct {
	*mutex.Mutex

	name   string
	client *framework.Client
}

// A demo has the server, the clients, and the output.
type demo struct {
	server               *zktest.Server
	ann, bob, carl, dora client
	work                 time.Duration

	mu    sync.Mutex // guards what follows
	out   io.Writer
	start time.Time
	scene int
}

// newDemo starts the server and connects the clients.
func newDemo(ctx context.Context, out io.Writer, work time.Duration, opts ...zktest.Option) (*demo, error) {
	opts = append(opts, zktest.WithSessionTimeouts(shortTimeout, sessionTimeout))
	server, err := zktest.Start(opts...)
	if err != nil {
		return nil, err
	}
	d := &demo{server: server, work: work, out: out, start: time.Now()}
	for name, c := range map[string]*client{"ann": &d.ann, "bob": &d.bob, "carl": &d.carl, "dora": &d.dora} {
		if *c, err = connect(ctx, server, name, sessionTimeout); err != nil {
			d.close()
			return nil, err
		}
	}
	fmt.Fprintf(out, "A ZooKeeper server runs in this process, on %s.\n", server.Addr())
	fmt.Fprintf(out, "Four clients are connected to it and want the mutex %s.\n", path)
	fmt.Fprintln(out, "A token is the number of a ZooKeeper transaction, so it grows in jumps.")
	return d, nil
}

// connect is all that a program needs to use a mutex. In a real program, Servers are
// the addresses of an ensemble.
func connect(ctx context.Context, server *zktest.Server, name string, timeout time.Duration) (client, error) {
	c, err := framework.Connect(ctx, framework.Config{
		Servers:        []string{server.Addr()},
		SessionTimeout: timeout,
		Dial:           server.Dial(name),             // only so that scene 4 can cut ann off
		Logger:         slog.New(slog.DiscardHandler), // the scenes show what happens
	})
	if err != nil {
		return client{}, err
	}
	m, err := mutex.New(c, path, mutex.WithHolder(name))
	return client{m, name, c}, err
}

// awaitQueue waits until the queue, with the holder, has that length.
func (d *demo) awaitQueue(ctx context.Context, length int) error {
	for {
		queue, _, watch, err := d.ann.client.ChildrenWatch(ctx, path)
		if err != nil || len(queue) == length {
			return err
		}
		select {
		case <-watch.Events():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// title prints the title of a scene.
func (d *demo) title(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.scene++
	fmt.Fprintf(d.out, "\n%d. %s\n", d.scene, text)
}

// say prints what a client or the network does, and when.
func (d *demo) say(who, format string, arguments ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(d.out, "   %4.2fs  %-7s  %s\n", time.Since(d.start).Seconds(), who, fmt.Sprintf(format, arguments...))
}

func (d *demo) close() {
	for _, c := range []client{d.ann, d.bob, d.carl, d.dora} {
		if c.client != nil {
			_ = c.client.Close()
		}
	}
	d.server.Close()
}
