package example_test

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errRun = errors.New("as run says")

// Without servers on the command line a program has one of its own, which ends with it.
func TestOwnServer(t *testing.T) {
	t.Parallel()
	var used []string
	var timeout time.Duration
	connects := func(ctx context.Context, servers []string, _ io.Writer) error {
		used = servers
		c, err := framework.Connect(ctx, framework.Config{Servers: servers, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		timeout = c.Session().Timeout()
		c.Close()
		return errRun
	}
	p := example.Program{Name: "shown", Server: []zktest.Option{zktest.WithSessionTimeouts(7*time.Second, 7*time.Second)}, Run: connects}
	require.ErrorIs(t, p.Start(t.Context(), nil, io.Discard), errRun)
	require.Equal(t, 7*time.Second, timeout)
	server := zktest.NewServer(t)
	require.NotEqual(t, []string{server.Addr()}, used)

	require.ErrorIs(t, p.Start(t.Context(), []string{"--servers", server.Addr()}, io.Discard), errRun)
	require.Equal(t, []string{server.Addr()}, used)
}

// Servers are a list; a program may have flags of its own, and no arguments.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	var got string
	p := example.Program{
		Name:  "shown",
		Flags: func(flags *flag.FlagSet) { flags.SetOutput(io.Discard); flags.StringVar(&got, "store", "", "") },
		Run: func(_ context.Context, servers []string, _ io.Writer) error {
			require.Equal(t, []string{"a:1", "b:2"}, servers)
			return errRun
		},
	}
	require.ErrorIs(t, p.Start(t.Context(), []string{"--store", "s", "--servers", "a:1,b:2"}, io.Discard), errRun)
	require.Equal(t, "s", got)
	require.ErrorContains(t, p.Start(t.Context(), []string{"a:1"}, io.Discard), `unexpected argument "a:1"`)
	require.ErrorIs(t, p.Start(t.Context(), []string{"--help"}, io.Discard), flag.ErrHelp)
	require.Error(t, p.Start(t.Context(), []string{"--nonsense"}, io.Discard))
}
