package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/examples/internal/example"
	"github.com/zkrecipes/zkrecipes/examples/internal/exampletest"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// mistake is the environment variable with which the processes of a test each bound
// what they do themselves, and not together.
const mistake = "WORKERS_WITH_A_BOUND_EACH"

// boundEach bounds them so that together they pass every number that is shared. With
// fewer permits it is left to chance whether the processes that begin last do so before
// the number is raised.
func boundEach(*framework.Client, string) (lease.Acquirer, error) {
	return &leasetest.Acquirer{Permits: workers}, nil
}

// TestMain makes the program of the test one of the processes, if it was started as
// one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--service") {
		b := shared
		if os.Getenv(mistake) != "" {
			b = boundEach
		}
		program(b).Main()
		return
	}
	goleak.VerifyTestMain(m)
}

const shown = `^3 processes with 16 workers each, and 4 permits: 4 jobs run at once
raised to 20: 16 more began beside them, and no process was started again
a process was killed in the middle of \d+ of these jobs: all its permits came back after \S+s, and 20 run again
lowered to 3: all 20 went on; when 17 of them were done, \d permits were held, and no other job had begun
100 jobs are done, of 1\d\d that were begun; never too many ran at once, and before each one ended as many as may
$`

func TestRun(t *testing.T) {
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program(shared).Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Regexp(t, shown, out.String())
	exampletest.RequireNoSessions(t, server)
	require.Empty(t, server.Children(root))
	t.Log(out.String())
}

func TestRunWithItsOwnServer(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, program(shared).Start(t.Context(), nil, &out))
	require.Regexp(t, shown, out.String())
}

// Processes that share no bound would be seen.
func TestBoundOfEachProcessIsSeen(t *testing.T) {
	t.Setenv(mistake, "1")
	server := zktest.NewServer(t)
	err := program(shared).Start(t.Context(), []string{"--servers", server.Addr()}, &bytes.Buffer{})
	require.Error(t, err)
	require.Regexp(t, `^\d+ jobs run at once, and \d+ may$`, err.Error())
	require.Empty(t, server.Children(root))
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program(shared).Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
	require.Error(t, program(shared).Start(t.Context(), []string{"--nonsense"}, &bytes.Buffer{}))
}

// A process whose service cannot be reached says so, and ends.
func TestNoService(t *testing.T) {
	server := zktest.NewServer(t)
	in, input := io.Pipe()
	defer input.Close()
	err := work(t.Context(), []string{server.Addr()}, root+"/none", shared, "http://127.0.0.1:1", in)
	require.ErrorContains(t, err, "refused")
	require.Empty(t, server.Sessions())
}

// A process whose input ends in the middle of a job ends, and leaves nothing: as when
// the process that has started it was killed.
func TestInputEnds(t *testing.T) {
	s := newService(processes*workers, first)
	address, stop, err := example.Serve(s)
	require.NoError(t, err)
	defer stop()
	server := zktest.NewServer(t)
	in, input := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- work(t.Context(), []string{server.Addr()}, root+"/one", shared, remote(address), in) }()
	require.NoError(t, s.Await(t.Context(), s.full))
	require.NoError(t, input.Close())
	require.NoError(t, <-ended)
	require.Empty(t, server.Sessions())
}
