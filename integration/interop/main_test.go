package interop

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// tick of both kinds of servers, whose session timeouts are between one second and
// longestSession.
const tick = 500 * time.Millisecond

// sessionTimeout lets no session of a test end because the machine is busy.
const sessionTimeout = 10 * time.Second

// longestSession is for tests that keep the machine busy themselves.
const longestSession = time.Minute

// limit is how long an expected event may take.
const limit = 2 * time.Minute

var update = flag.Bool("update", false, "record the real server's transcripts in testdata")

// asContestant runs the Go process of a contest if this binary was started as one.
var asContestant = func() (code int, is bool) { return 0, false }

func TestMain(m *testing.M) {
	if code, is := asContestant(); is {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(classDir)
		os.Exit(code)
	}))
}

// A backend starts a server for one test and returns its address.
type backend struct {
	name  string
	start func(t *testing.T) string
}

// backends are the real server, whose results are recorded, and zktest, which must give
// the same.
var backends = []backend{{"zookeeper", startZooKeeper}, {"zktest", startZktest}}

func startZooKeeper(t *testing.T) string {
	t.Helper()
	return ensemble.New(t, ensemble.Options{
		TickTime: tick, ExtendedTypes: true, NoSync: true, Config: map[string]string{"maxSessionTimeout": "60000"},
	}).Servers()[0]
}

func startZktest(t *testing.T) string {
	t.Helper()
	server := zktest.NewServer(t, zktest.WithTick(tick), zktest.WithSessionTimeouts(2*tick, longestSession))
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(server.Dump())
		}
	})
	return server.Addr()
}

// onBoth runs a test against either kind of server.
func onBoth(t *testing.T, test func(t *testing.T, addr string)) {
	t.Helper()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) { test(t, b.start(t)) })
	}
}

// requireTranscript runs a client against either kind of server and compares its output
// with the recorded output, line by line.
func requireTranscript(t *testing.T, client func(t *testing.T, addr string) []string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.Base(t.Name())+".txt")
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			got := strings.Join(client(t, b.start(t)), "\n") + "\n"
			if *update && b.name == "zookeeper" {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(filepath.Clean(file))
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// connect returns a client that is closed when the test ends.
func connect(t *testing.T, addr string, change ...func(*framework.Config)) *framework.Client {
	t.Helper()
	cfg := framework.Config{Servers: []string{addr}, SessionTimeout: sessionTimeout, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&cfg)
	}
	client, err := framework.Connect(within(t, limit), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func newMutex(t *testing.T, client *framework.Client, path string) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(client, path)
	require.NoError(t, err)
	return m
}

// within returns a context for one step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// awaitChildren waits until a node has n children.
func awaitChildren(t *testing.T, client *framework.Client, path string, n int) {
	t.Helper()
	ctx := within(t, limit)
	for {
		children, _, watch, err := client.ChildrenWatch(ctx, path)
		if n == 0 && errors.Is(err, framework.ErrNoNode) {
			return // the server has removed the empty container meanwhile
		}
		require.NoError(t, err)
		if len(children) == n {
			return
		}
		select {
		case <-watch.Events():
		case <-ctx.Done():
			require.Len(t, children, n, "%v", children)
		}
	}
}

// requireNothingLeft checks that clients that are closed or idle have left no contender
// and no watch.
func requireNothingLeft(t *testing.T, addr, path string) {
	t.Helper()
	observer := connect(t, addr)
	awaitChildren(t, observer, path, 0)
	require.NoError(t, observer.Close()) // it has a watch itself
	requireNone(t, addr)
}

// requireNone waits until the server counts no watch and no ephemeral node. When a
// client closes, the server answers before it drops the connection and its watches, and
// sends no event for that.
func requireNone(t *testing.T, addr string) {
	t.Helper()
	for ctx := within(t, sessionTimeout/2); ; { // the end of a session would leave none either
		mntr, err := ensemble.Mntr(within(t, limit), addr)
		require.NoError(t, err)
		watches, ephemerals := mntr["zk_watch_count"], mntr["zk_ephemerals_count"]
		if watches == "0" && ephemerals == "0" {
			return
		}
		require.NoError(t, ctx.Err(), "%s watches, %s ephemeral nodes", watches, ephemerals)
	}
}
