package ensemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

// ErrNotSupported is returned for a fault that the backend in use cannot cause.
var ErrNotSupported = errors.New("not supported by this backend")

// startLimit is how long New waits, with the time of a first download of the image.
const startLimit = 3 * time.Minute

// An Ensemble is one or three ZooKeeper servers that belong together.
type Ensemble interface {
	// Size returns the number of servers.
	Size() int
	// Node returns the server with index i, from 0 to Size()-1.
	Node(i int) Node
	// Servers returns the addresses of all servers, as clients on this host take them.
	Servers() []string
	// Leader waits until exactly one server leads and, with it, a majority serves; it
	// returns that server's index. A standalone server leads itself.
	Leader(ctx context.Context) (int, error)
	// AwaitReady waits until every server serves: one leads and all others follow.
	AwaitReady(ctx context.Context) error
	// Close ends all servers and removes their data. Further calls do nothing.
	Close() error
}

// A Node is one server of an Ensemble. Its methods may be called from several
// goroutines, but faults of one server that overlap have no defined order.
type Node interface {
	// Addr returns the server's client address, "host:port". It never changes.
	Addr() string
	// SecureAddr returns the address of the server's port for TLS, "" without
	// Options.TLSFolder.
	SecureAddr() string
	// Start starts the server again, with its data and address. It does not wait until
	// the server serves; AwaitReady does. A server that runs is left alone.
	Start(ctx context.Context) error
	// Kill ends the server with SIGKILL and returns when it is gone. Its address
	// refuses connections then; that of a container without Options.Publish is silent,
	// like that of a host without power.
	Kill() error
	// Stop ends the server with SIGTERM and returns when it is gone.
	Stop() error
	// Pause freezes the server; its connections stay open and silent.
	Pause() error
	// Resume ends a pause.
	Resume() error
	// Isolate takes the server off the network: nothing reaches its peers or clients,
	// and no connection is closed. Processes cannot: ErrNotSupported.
	Isolate() error
	// Heal ends an isolation.
	Heal() error
	// Log returns the last lines the server wrote.
	Log() string
	// Logged returns all lines that it wrote, since it was first started, and that
	// contain text. A process begins each with the time, as time.RFC3339Nano.
	Logged(text string) ([]string, error)

	// alive returns nil if the server runs or was ended on purpose, else why it is
	// gone.
	alive() error
}

// New starts an ensemble, waits until it serves, and closes it when the test ends. The
// test fails if anything for it is missing. The servers' last log lines are shown when
// the test fails.
func New(tb testing.TB, o Options) Ensemble {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startLimit)
	defer cancel()
	e, err := Start(ctx, o)
	if err != nil {
		tb.Fatalf("ensemble: %v", err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			for i := range e.Size() {
				tb.Logf("log of server %d ends:\n%s", i, e.Node(i).Log())
			}
		}
		if err := e.Close(); err != nil {
			tb.Errorf("ensemble: close: %v", err)
		}
	})
	return e
}

// Start does what New does, for programs that are not tests. If it fails, it leaves
// nothing running.
func Start(ctx context.Context, o Options) (Ensemble, error) {
	o, err := o.withDefaults(os.Getenv)
	if err != nil {
		return nil, err
	}
	c, err := backends[o.Backend](ctx, o)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", o.Backend, err)
	}
	for i, n := range c.nodes {
		if err := n.Start(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("start server %d: %w", i, err), c.Close())
		}
	}
	if err := c.AwaitReady(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// backends prepares the servers of an ensemble without starting them.
var backends = map[string]func(context.Context, Options) (*cluster, error){
	BackendProcess: prepareProcesses,
	BackendDocker:  prepareContainers,
}
