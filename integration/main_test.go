package integration

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// sessionTimeout lets no session of a test end because the machine is busy. It is the
// longest that the servers' tick of half a second allows.
const sessionTimeout = 10 * time.Second

// limit is how long an expected event may take.
const limit = 2 * time.Minute

// soon is how long a clean-up may take: less than a session, whose end would delete the
// nodes as well.
const soon = 8 * time.Second

// programs are what this binary runs instead of the tests, by the variable of the
// environment that has the plan of each.
var programs = map[string]func(plan string) (exitCode int){contenderPlan: contend}

func TestMain(m *testing.M) {
	for name, run := range programs {
		if plan := os.Getenv(name); plan != "" {
			os.Exit(run(plan))
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if commandDir != "" {
			_ = os.RemoveAll(commandDir)
		}
		os.Exit(code)
	}))
}

// single returns the address of a new server. Like all servers of the tests, it does
// not wait for the disk: on a busy disk that takes longer than a session timeout.
func single(t *testing.T) (ensemble.Ensemble, string) {
	t.Helper()
	servers := ensemble.New(t, ensemble.Options{NoSync: true})
	return servers, servers.Servers()[0]
}

// connect returns a client that is closed when the test ends.
func connect(tb testing.TB, servers ...string) *framework.Client {
	tb.Helper()
	return connectWith(tb, framework.Config{Servers: servers})
}

func connectWith(tb testing.TB, cfg framework.Config) *framework.Client {
	tb.Helper()
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = sessionTimeout
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	client, err := framework.Connect(ctx, cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func newMutex(tb testing.TB, client *framework.Client, path string, opts ...mutex.Option) *mutex.Mutex {
	tb.Helper()
	m, err := mutex.New(client, path, opts...)
	require.NoError(tb, err)
	return m
}

// within returns a context for one step of a test.
func within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// requireEmpty waits until the path has no children, as another client sees it. A
// clean-up in the background may take a moment.
func requireEmpty(tb testing.TB, server, path string, limit time.Duration) {
	tb.Helper()
	requireEmptySeenBy(tb, connect(tb, server), path, limit)
}

// requireEmptySeenBy is requireEmpty with an observer.
func requireEmptySeenBy(tb testing.TB, observer *framework.Client, path string, limit time.Duration) {
	tb.Helper()
	ctx := within(tb, limit)
	for {
		children, _, w, err := observer.ChildrenWatch(ctx, path)
		if err == nil && len(children) == 0 {
			return
		}
		if framework.OutcomeOf(err) == framework.Failed && ctx.Err() == nil {
			require.ErrorIs(tb, err, framework.ErrNoNode)
			return
		}
		require.NoError(tb, err, "left behind under %s: %v", path, children)
		select {
		case <-w.Events():
		case <-ctx.Done():
			require.Empty(tb, children, "left behind under %s", path)
		}
	}
}

// requireNone waits until the server counts none of something. When a client closes,
// the server answers before it drops the connection and its watches, and sends no event
// for that.
func requireNone(tb testing.TB, server, what string) {
	tb.Helper()
	for ctx := within(tb, soon); ; {
		mntr, err := ensemble.Mntr(within(tb, limit), server)
		require.NoError(tb, err)
		if mntr[what] == "0" {
			return
		}
		require.NoError(tb, ctx.Err(), "%s is %q", what, mntr[what])
	}
}
