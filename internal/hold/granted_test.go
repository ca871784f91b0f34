package hold_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const (
	timeout = 9 * time.Second
	grace   = timeout / 6 // what work under a lost lease has to stop in
)

// A world is a client that is granted slots, in a bubble with its server.
type world struct {
	*framework.Client
	server *zktest.Server
}

type setting func(*framework.Config)

// granting runs a test in virtual time with a client named "client" that has the parent
// of all slots.
func granting(t *testing.T, test func(t *testing.T, p world), settings ...setting) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
		p := world{dial(t, s, "client", settings...), s}
		require.NoError(t, p.CreateParents(t.Context(), "/lock/n-"))
		test(t, p)
	})
}

func dial(t *testing.T, s *zktest.Server, name string, settings ...setting) *framework.Client {
	t.Helper()
	cfg := framework.Config{
		Servers: []string{s.Addr()}, Dial: s.Dial(name), SessionTimeout: timeout, Namespace: "ns",
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, set := range settings {
		set(&cfg)
	}
	c, err := framework.Connect(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// grant makes a node and a hold on it.
func (p world) grant(t *testing.T, ctx context.Context, change ...func(*hold.Grant)) *lease.Lease { //nolint:revive // the test comes first here
	t.Helper()
	session := p.Session()
	made, err := p.In(session).CreateProtected(t.Context(), "/lock/n-", nil, framework.EphemeralSequential)
	require.NoError(t, err)
	reliance, err := kit.Of(p.In(session)).Rely(t.Context(), made.Path)
	require.NoError(t, err)
	g := hold.Grant{
		Client: p.In(session), Session: session, Reliance: reliance, Key: p.key(), Path: made.Path, Token: lease.Token(made.Czxid),
	}
	for _, f := range change {
		f(&g)
	}
	return hold.Start(ctx, g)
}

// A handed watch is one that a grant brings with it.
type handed struct {
	mu      sync.Mutex
	event   framework.Event
	fired   bool
	notify  func(framework.Event)
	stopped chan struct{}
	stop    func()
}

func (w *handed) Take(notify func(framework.Event)) (framework.Event, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notify = notify
	return w.event, w.fired
}

func (w *handed) Stop() {
	w.stop()
	close(w.stopped)
}

func (w *handed) fire(ev framework.Event) {
	w.mu.Lock()
	w.event, w.fired = ev, true
	notify := w.notify
	w.mu.Unlock()
	if notify != nil {
		notify(ev)
	}
}

func (w *handed) isStopped() bool {
	select {
	case <-w.stopped:
		return true
	default:
		return false
	}
}

// watched adds a watch to a grant.
func (p world) watched(t *testing.T) (w *handed, change func(*hold.Grant)) {
	t.Helper()
	w = &handed{stopped: make(chan struct{})}
	return w, func(g *hold.Grant) {
		var err error
		_, _, w.stop, err = kit.Of(g.Client).GetNotify(t.Context(), g.Path, w.fire)
		require.NoError(t, err)
		g.Watch = w
	}
}

func (p world) key() hold.Key {
	return hold.Key{Client: p.Client, Path: "/lock", Kind: "mutex"}
}

func maxHold(d time.Duration) func(*hold.Grant) {
	return func(g *hold.Grant) { g.Terms = &hold.Terms{MaxHold: d} }
}

// nodes returns how many slots exist on the server.
func (p world) nodes() int { return len(p.server.Children("/ns/lock")) }

// stands reports whether a handle's context has not ended.
func stands(h *lease.Lease) bool { return h.Context().Err() == nil }

// suspend breaks the connection and refuses new ones.
func (p world) suspend() {
	p.server.RefuseConnections("client", true)
	p.server.DropConnections("client")
	synctest.Wait()
}

// resume lets the client connect again and waits until it has.
func (p world) resume() {
	p.server.RefuseConnections("client", false)
	time.Sleep(1200 * time.Millisecond)
}
