package framework_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// timeout is the session timeout of these tests: pings go out every 3 s, syncs every
// 0.75 s, a silent server is left after 1.5 s, and what is proved is trusted for
// window; a server may expire the session margin later.
const (
	timeout = 9 * time.Second
	window  = timeout - margin
	margin  = timeout / 6
)

var errStopped = errors.New("the caller has better things to do")

// inBubble runs a test in virtual time next to a server.
func inBubble(t *testing.T, test func(t *testing.T, s *zktest.Server), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, zktest.NewServer(t, append(opts, zktest.WithNetwork(new(zktest.Network)))...))
	})
}

type setting func(*framework.Config)

// config returns the configuration of a client, which the server knows by that name.
func config(s *zktest.Server, name string, settings ...setting) framework.Config {
	cfg := framework.Config{
		Servers: []string{s.Addr()}, Dial: s.Dial(name), SessionTimeout: timeout,
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, set := range settings {
		set(&cfg)
	}
	return cfg
}

// connect starts a client named "client" and closes it when the test ends.
func connect(t *testing.T, s *zktest.Server, settings ...setting) *framework.Client {
	t.Helper()
	return connectAs(t, s, "client", settings...)
}

func connectAs(t *testing.T, s *zktest.Server, name string, settings ...setting) *framework.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := framework.Connect(ctx, config(s, name, settings...))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// within returns a context that ends after d, by errStopped.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), d, errStopped)
	t.Cleanup(cancel)
	return ctx
}

// result is what a call in the background returned, and when.
type result[T any] struct {
	value T
	err   error
	took  time.Duration
}

// start makes a call in the background.
func start[T any](call func() (T, error)) <-chan result[T] {
	done := make(chan result[T], 1)
	begun := time.Now()
	go func() {
		v, err := call()
		done <- result[T]{v, err, time.Since(begun)}
	}()
	return done
}

// startErr is start for calls that return an error only.
func startErr(call func() error) <-chan result[struct{}] {
	return start(func() (struct{}, error) { return struct{}{}, call() })
}

// record collects a client's state changes.
type record struct {
	mu      sync.Mutex
	changes []framework.StateChange
}

func (r *record) note(change framework.StateChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, change)
}

func (r *record) all() []framework.StateChange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]framework.StateChange(nil), r.changes...)
}

func (r *record) states() []framework.State {
	var states []framework.State
	for _, change := range r.all() {
		states = append(states, change.State)
	}
	return states
}

// recording makes a client report its states to r.
func recording(r *record) setting {
	return func(cfg *framework.Config) {
		cfg.Observers = append(cfg.Observers, framework.Observer{StateChanged: r.note})
	}
}

// cleanups collects what clean-ups in the background came to.
type cleanups struct {
	mu    sync.Mutex
	ended map[string]error
}

func (c *cleanups) setting(cfg *framework.Config) {
	c.ended = map[string]error{}
	cfg.Observers = append(cfg.Observers, framework.Observer{CleanupEnded: func(path string, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended[path] = err
	}})
}

func (c *cleanups) of(path string) (err error, ended bool) { //nolint:revive // reads like a map
	c.mu.Lock()
	defer c.mu.Unlock()
	err, ended = c.ended[path]
	return err, ended
}

func (c *cleanups) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ended)
}

// dialer decides per address what a connection attempt meets.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// fronts is an ensemble in front of one server: each address leads to it, and the
// server knows the connections by the address, so that faults can be aimed at one of
// them. Addresses in special are dialed differently.
func fronts(s *zktest.Server, special map[string]dialer, addrs ...string) setting {
	return func(cfg *framework.Config) {
		cfg.Servers = addrs
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if d := special[addr]; d != nil {
				return d(ctx, network, addr)
			}
			return s.Dial(addr)(ctx, network, s.Addr())
		}
	}
}

// blackHole never answers an attempt to connect.
func blackHole(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// mute accepts a connection and all that is sent, and never says a word.
func mute(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		_, _ = io.Copy(io.Discard, far)
	}()
	return near, nil
}

// requests counts what a server received, without the syncs and pings by which a client
// keeps its session.
func requests(s *zktest.Server) map[zktest.Op]int {
	counts := s.Counts()
	delete(counts, zktest.OpSync)
	return counts
}

// suspend breaks the connection and refuses new ones.
func suspend(s *zktest.Server, name string) {
	s.RefuseConnections(name, true)
	s.DropConnections(name)
	synctest.Wait()
}

// reach lets a client connect again and waits until it surely has.
func reach(s *zktest.Server, name string) {
	s.RefuseConnections(name, false)
	time.Sleep(2 * time.Second)
}
