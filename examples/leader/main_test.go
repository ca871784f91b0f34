package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/examples/internal/exampletest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// TestMain makes the program of the test one of the instances, if it was started as
// one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--report") {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// The leader is followed after a SIGTERM and after a SIGKILL, and one at a time leads.
func TestLeader(t *testing.T) {
	server := zktest.NewServer(t, zktest.WithTick(sessionTimeout/2))
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	t.Log(out.String())
	require.Regexp(t, `^3 instances serve HTTP, and all say that [abc] leads
SIGTERM to [abc]: [abc] leads [0-9.ms]+ later; after that [abc] has finished a request, and ended with status 0
SIGKILL to [abc]: [abc] leads [0-9.ms]+ later, as its session timeout, 4s, had to pass
SIGTERM to [abc]: it has finished a request, and ended with status 0
\d+ terms, \d+ jobs: 0 times two led at once, 0 jobs were done after the end of their term
\d+ leases were lost, and \d+ late reports refused because of their tokens
$`, out.String())
	exampletest.RequireNoSessions(t, server)
	require.Empty(t, server.Children("/examples/leader"))
}

// It also has a server of its own.
func TestOwnServer(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), nil, &out))
	require.NotEmpty(t, out.String())
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program().Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
	require.ErrorContains(t, program().Start(t.Context(), []string{"--listen", "127.0.0.1:0", "--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
	require.Error(t, program().Start(t.Context(), []string{"--nonsense"}, &bytes.Buffer{}))
}
