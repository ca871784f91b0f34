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

// path is the mutex that everybody wants.
const path = "/locks/orders"

// A contender is one who wants the mutex.
type contender struct {
	*mutex.Mutex

	name   string
	client *framework.Client
}

// A stage has the server, the contenders, and the terminal.
type stage struct {
	server             *zktest.Server
	ann, bob, eve, max contender
	pace               time.Duration

	mu    sync.Mutex // guards what follows
	out   io.Writer
	start time.Time
	scene int
}

// openStage starts the server and connects the contenders.
func openStage(ctx context.Context, out io.Writer, pace time.Duration) (*stage, error) {
	server, err := zktest.Start()
	if err != nil {
		return nil, err
	}
	s := &stage{server: server, pace: pace, out: out, start: time.Now()}
	for name, c := range map[string]*contender{"ann": &s.ann, "bob": &s.bob, "eve": &s.eve, "max": &s.max} {
		if *c, err = connect(ctx, server.Addr(), name); err != nil {
			s.close()
			return nil, err
		}
	}
	fmt.Fprintf(out, "A ZooKeeper server runs in this process, on %s.\n", server.Addr())
	fmt.Fprintf(out, "Four contenders are connected to it and want the mutex %s.\n", path)
	return s, nil
}

// connect is all it takes to use a mutex. In a real program Servers are those of an
// ensemble.
func connect(ctx context.Context, addr, name string) (contender, error) {
	client, err := framework.Connect(ctx, framework.Config{
		Servers: []string{addr},
		Logger:  slog.New(slog.DiscardHandler), // the scenes tell what happens
	})
	if err != nil {
		return contender{}, err
	}
	m, err := mutex.New(client, path, mutex.WithHolder(name))
	return contender{m, name, client}, err
}

// awaitQueue waits until the holder and all who wait are that many.
func (s *stage) awaitQueue(ctx context.Context, length int) error {
	for {
		queue, _, watch, err := s.ann.client.ChildrenWatch(ctx, path)
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

// title prints the line above a scene.
func (s *stage) title(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scene++
	fmt.Fprintf(s.out, "\n%d. %s\n", s.scene, text)
}

// say prints what somebody does, and when.
func (s *stage) say(who, format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.out, "   %4.2fs  %-6s  %s\n", time.Since(s.start).Seconds(), who, fmt.Sprintf(format, arguments...))
}

func (s *stage) close() {
	for _, c := range []contender{s.ann, s.bob, s.eve, s.max} {
		if c.client != nil {
			_ = c.client.Close()
		}
	}
	s.server.Close()
}
