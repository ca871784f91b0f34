package conformance

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// SessionTimeout is the session timeout of a World's clients.
const SessionTimeout = 6 * time.Second

// A World is a ZooKeeper server on a virtual network, with the clients that a test
// makes on it, inside a bubble of virtual time.
type World struct {
	// T is the test inside the bubble.
	T *testing.T
	// Server is the one server.
	Server *zktest.Server

	clients []*framework.Client
	named   map[string]*framework.Client
}

// InWorld runs a test in a new World. When it returns, all clients are closed, and
// nothing of theirs may be left: no session, no ephemeral node, no watch, no goroutine.
// The test is given the T of the bubble, which is the one to use.
func InWorld(t *testing.T, test func(t *testing.T, w *World), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, append([]zktest.Option{zktest.WithNetwork(new(zktest.Network))}, opts...)...)
		w := &World{T: t, Server: server}
		t.Cleanup(w.end)
		// Pings never cease, so that nothing else notices a test that waits for ever.
		watchdog := time.AfterFunc(tooLong, func() { panic("still running after hours of virtual time\n" + server.Dump()) })
		t.Cleanup(func() { watchdog.Stop() })
		test(t, w)
	})
}

// tooLong is more virtual time than any test takes.
const tooLong = 5 * time.Hour

// end closes the clients and looks for what they left.
func (w *World) end() {
	w.Heal()
	for _, c := range w.clients {
		_ = c.Close()
	}
	if w.T.Failed() {
		w.T.Log(w.Server.Dump())
		return
	}
	pass(2 * SessionTimeout) // clients that could not reach the server left sessions that only time ends
	w.Settle()
	require.Empty(w.T, w.Server.Sessions(), "sessions left")
	require.Empty(w.T, w.Ephemerals("/"), "ephemeral nodes left")
	require.Zero(w.T, w.Server.Watches(), "watches left")
}

// Heal ends every fault.
func (w *World) Heal() {
	w.Server.SetFaults(nil)
	w.Server.Resume()
	for _, client := range append([]string{""}, w.names()...) {
		w.Server.Partition(client, false)
		w.Server.Stall(client, false)
		w.Server.RefuseConnections(client, false)
		if client != "" {
			w.Server.Lag(client, false)
		}
	}
}

func (w *World) names() []string {
	var names []string
	for _, s := range w.Server.Sessions() {
		names = append(names, s.Client)
	}
	return names
}

// Settle waits until everybody waits for something, or for time to pass.
func (w *World) Settle() { synctest.Wait() }

// After lets virtual time pass, and then everybody come to rest.
func (w *World) After(d time.Duration) {
	pass(d)
	w.Settle()
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// Config returns the configuration of a World's client of that name.
func Config(server *zktest.Server, name string) framework.Config {
	return framework.Config{
		Servers:        []string{server.Addr()},
		Dial:           server.Dial(name),
		SessionTimeout: SessionTimeout,
		Logger:         slog.New(slog.DiscardHandler),
		// Without jitter, so that a run can be repeated.
		Reconnect:       retry.Forever(50 * time.Millisecond),
		Retry:           retry.Forever(50 * time.Millisecond),
		MaxRequestBytes: 16 << 10, // both are what the client's buffers are made for
		MaxReplyBytes:   64 << 10,
	}
}

// firstWatch is the time after which a new session may ask for its first watch, and
// more: no test has to wait for it then.
const firstWatch = 25 * time.Millisecond

// Client connects a client under a name. It is closed at the end of the test.
func (w *World) Client(name string, change ...func(*framework.Config)) *framework.Client {
	w.T.Helper()
	cfg := Config(w.Server, name)
	for _, f := range change {
		f(&cfg)
	}
	ctx, cancel := context.WithTimeout(w.T.Context(), time.Minute)
	defer cancel()
	c, err := framework.Connect(ctx, cfg)
	require.NoError(w.T, err)
	w.clients = append(w.clients, c)
	if w.named == nil {
		w.named = map[string]*framework.Client{}
	}
	w.named[name] = c
	w.After(firstWatch)
	return c
}

// Named returns the last client that was made under a name, or a new one.
func (w *World) Named(name string) *framework.Client {
	w.T.Helper()
	if c, ok := w.named[name]; ok && c.State() != framework.Closed {
		return c
	}
	return w.Client(name)
}

// Known returns the last client that was made under a name, which takes no time.
func (w *World) Known(name string) *framework.Client {
	w.T.Helper()
	require.Contains(w.T, w.named, name)
	return w.named[name]
}

// Vouched is how many transactions an idle client makes in that time while a lease is
// held in its session.
func Vouched(d time.Duration) int { return int(d / (SessionTimeout / 4)) }

// LooksAgain is how many second looks there are at most at what somebody waits for, or
// holds, in that time.
func LooksAgain(d time.Duration) int { return int(d/(SessionTimeout*3/4)) + 1 }

// Ephemerals returns the paths below a prefix of all ephemeral nodes, sorted.
func (w *World) Ephemerals(prefix string) []string {
	var paths []string
	for _, s := range w.Server.Sessions() {
		for _, p := range s.Ephemeral {
			if strings.HasPrefix(p, prefix) {
				paths = append(paths, p)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// Expire ends the present session of a client, as the server would.
func (w *World) Expire(c *framework.Client) {
	w.T.Helper()
	require.True(w.T, w.Server.ExpireSession(c.Session().ID()))
}

// ExpireAll ends the sessions of all clients, as the server would.
func (w *World) ExpireAll() {
	w.T.Helper()
	for _, c := range w.clients {
		w.Expire(c)
	}
}

// CloseAll closes all clients.
func (w *World) CloseAll() {
	w.T.Helper()
	for _, c := range w.clients {
		require.NoError(w.T, c.Close())
	}
	w.clients = nil
	clear(w.named)
}

// Remove deletes a node through a client.
func (w *World) Remove(c *framework.Client, path string) {
	w.T.Helper()
	require.NoError(w.T, c.Delete(w.T.Context(), path, framework.AnyVersion))
}

// Requests counts what is asked of the server while f runs and until all has come to
// rest, less the syncs by which every session keeps itself trusted.
func (w *World) Requests(f func()) map[zktest.Op]int {
	w.T.Helper()
	w.Settle()
	w.Server.ResetCounts()
	f()
	w.Settle()
	counts := w.Server.Counts()
	delete(counts, zktest.OpSync)
	return counts
}

// Total adds up what was counted.
func Total(counts map[zktest.Op]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Elsewhere makes every connection of a client but the first one go under another name,
// as to another server.
func (w *World) Elsewhere(first, later string) func(*framework.Config) {
	var dials atomic.Int32
	return func(cfg *framework.Config) {
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			name := first
			if dials.Add(1) > 1 {
				name = later
			}
			return w.Server.Dial(name)(ctx, network, addr)
		}
	}
}

// Events counts the watch events that are sent to a client, or to all if it has no
// name, while f runs and until all has come to rest.
func (w *World) Events(client string, f func()) int {
	w.T.Helper()
	events := 0
	w.Settle()
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Phase == zktest.PhaseEvent && (client == "" || c.Client == client) {
			events++
		}
		return zktest.Pass
	})
	f()
	w.Settle()
	w.Server.SetFaults(nil)
	return events
}
