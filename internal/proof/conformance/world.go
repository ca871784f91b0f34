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

// A World is a ZooKeeper server on a virtual network and the clients of a test, in a
// bubble of virtual time.
type World struct {
	// T is the test inside the bubble.
	T *testing.T
	// Server is the one server.
	Server *zktest.Server
	// Observed is what the observers of all clients are notified of.
	Observed ObserverLog

	clients []*framework.Client
	named   map[string]*framework.Client
}

// InWorld runs a test in a new World. When it returns, all clients are closed, and may
// leave no session, no ephemeral node, no watch and no goroutine. The test is given the
// T of the bubble, which is the one to use.
func InWorld(t *testing.T, test func(t *testing.T, w *World), opts ...zktest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.NewServer(t, append([]zktest.Option{zktest.WithNetwork(new(zktest.Network))}, opts...)...)
		w := &World{T: t, Server: server}
		// Pings go on for ever, so nothing else would notice a test, or its end, that
		// waits for ever.
		watchdog := time.AfterFunc(tooLong, func() { panic("still running after hours of virtual time\n" + server.Dump()) })
		t.Cleanup(func() { watchdog.Stop() })
		t.Cleanup(w.end)
		test(t, w)
	})
}

// tooLong is more virtual time than any test takes.
const tooLong = 5 * time.Hour

// end closes the clients and checks what they left.
func (w *World) end() {
	w.Heal()
	for _, c := range w.clients {
		_ = c.Close()
	}
	if w.T.Failed() {
		w.T.Log(w.Server.Dump())
		return
	}
	pass(2 * SessionTimeout) // sessions that clients could not close end by their timeout
	w.Settle()
	require.Empty(w.T, w.Server.Sessions(), "sessions left")
	require.Empty(w.T, w.Ephemerals("/"), "ephemeral nodes left")
	require.Zero(w.T, w.Server.Watches(), "watches left")
	require.Empty(w.T, w.Observed.Wrong(), "events of observers")
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

// Settle waits until every goroutine is blocked, or waits for time to pass.
func (w *World) Settle() { synctest.Wait() }

// After lets virtual time pass, and then waits as Settle does.
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
		// No jitter, so that a run can be repeated.
		Reconnect:       retry.Constant(50 * time.Millisecond),
		Retry:           retry.Constant(50 * time.Millisecond),
		MaxRequestBytes: 16 << 10, // both are the size of the client's buffers
		MaxReplyBytes:   64 << 10,
	}
}

// firstWatch is longer than a new session waits before its first watch, so that no test
// has to wait for that.
const firstWatch = 25 * time.Millisecond

// Client connects a client under a name. The end of the test closes it.
func (w *World) Client(name string, change ...func(*framework.Config)) *framework.Client {
	w.T.Helper()
	cfg := Config(w.Server, name)
	cfg.Observers = append(cfg.Observers, w.Observed.Observer())
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

// Known returns the last client that was made under a name. It must exist.
func (w *World) Known(name string) *framework.Client {
	w.T.Helper()
	require.Contains(w.T, w.named, name)
	return w.named[name]
}

// Vouched returns how many transactions an idle client that holds a lease makes in that
// time.
func Vouched(d time.Duration) int { return int(d / (SessionTimeout / 4)) }

// LooksAgain returns how many second looks a waiter or holder makes at most in that
// time.
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

// Requests counts the server's requests from the start of f until all goroutines are
// blocked, without the syncs that every session makes.
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

// Total returns the sum of all counts.
func Total(counts map[zktest.Op]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Elsewhere gives every connection of a client but the first another name, as if it
// went to another server.
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

// Events counts the watch events that are sent to a client, or to all clients if the
// name is empty, from the start of f until all goroutines are blocked.
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
