// Package probe is a plain client for tests of ensemble and proxy. The connection may
// break at any time; each operation is repeated until it succeeds.
package probe

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// limit bounds every wait; an idle machine needs a tenth of it.
const limit = time.Minute

// session lets no session end because the machine is busy. It is the longest that the
// servers' tick of half a second allows.
const session = 10 * time.Second

// Deadline returns a context for an operation that takes seconds.
func Deadline(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), limit)
	tb.Cleanup(cancel)
	return ctx
}

// Connect returns a client with an established session, closed when the test ends.
func Connect(tb testing.TB, servers ...string) *zk.Conn {
	tb.Helper()
	conn, events, err := zk.Connect(servers, session, zk.WithLogger(quiet{}))
	require.NoError(tb, err)
	tb.Cleanup(func() {
		conn.Close()
		for range events { // until its goroutines have ended
			continue
		}
	})
	ctx := Deadline(tb)
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-ctx.Done():
			require.FailNow(tb, "no session", "with %v: %v", servers, ctx.Err())
		}
	}
}

// Create makes a node, or finds it made.
func Create(tb testing.TB, conn *zk.Conn, path string) {
	tb.Helper()
	persist(tb, func() error {
		_, err := conn.Create(path, []byte("data"), 0, zk.WorldACL(zk.PermAll))
		if errors.Is(err, zk.ErrNodeExists) {
			return nil
		}
		return err
	})
}

// Exists reports whether the server that conn is connected to has a node.
func Exists(tb testing.TB, conn *zk.Conn, path string) (found bool) {
	tb.Helper()
	persist(tb, func() (err error) {
		found, _, err = conn.Exists(path)
		return err
	})
	return found
}

// Sync lets the server that conn is connected to catch up with the leader.
func Sync(tb testing.TB, conn *zk.Conn) {
	tb.Helper()
	persist(tb, func() error {
		_, err := conn.Sync("/")
		return err
	})
}

// persist repeats do until it succeeds.
func persist(tb testing.TB, do func() error) {
	tb.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ctx := Deadline(tb); ; {
		err := do()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.NoError(tb, err)
		}
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
