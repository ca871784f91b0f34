package benchmarks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// asServer is the environment variable that makes the test binary a server.
const asServer = "ZKRECIPES_BENCHMARKS_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

// serve prints the address of a new server, and ends with its input: a parent that dies
// leaves no server.
func serve() {
	server, err := zktest.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startServer returns the address of a server that lives until the test ends.
func startServer(tb testing.TB) string {
	tb.Helper()
	program, err := os.Executable()
	require.NoError(tb, err)
	server := exec.CommandContext(context.WithoutCancel(tb.Context()), program)
	server.Env = append(os.Environ(), asServer+"=1")
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	require.NoError(tb, err)
	out, err := server.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, server.Start())
	tb.Cleanup(func() {
		_ = in.Close()
		_ = server.Wait()
	})
	line := bufio.NewScanner(out)
	require.True(tb, line.Scan(), "the server has not started")
	return line.Text()
}

// connect returns a client of a new server. Its session timeout is long, so that it
// seldom does anything else than what is measured.
func connect(tb testing.TB) *framework.Client {
	tb.Helper()
	client, err := framework.Connect(tb.Context(), framework.Config{
		Servers:        []string{startServer(tb)},
		SessionTimeout: 40 * time.Second,
		Logger:         slog.New(slog.DiscardHandler),
	})
	require.NoError(tb, err)
	tb.Cleanup(func() { client.Close() })
	return client
}

// made returns an acquirer, which could be made.
func made[A lease.Acquirer](a A, err error) lease.Acquirer {
	if err != nil {
		panic(err)
	}
	return a
}

// cycle acquires and releases.
func cycle(tb testing.TB, a lease.Acquirer) {
	held, err := a.Acquire(context.Background(), time.Minute)
	if err == nil {
		err = held.Release()
	}
	if err != nil {
		tb.Error(err)
	}
}
