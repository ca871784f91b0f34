package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The account has no lock but the one in ZooKeeper, so this is worth running under the
// race detector too.
func TestRun(t *testing.T) {
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, workers*bookings+1)
	last := 0
	for _, line := range lines[:workers*bookings] {
		var worker, token int
		_, err := fmt.Sscanf(line, "worker %d books with token %d", &worker, &token)
		require.NoError(t, err)
		require.Greater(t, token, last)
		last = token
	}
	require.Equal(t, fmt.Sprint("balance ", workers*bookings), lines[workers*bookings])
	require.Empty(t, server.Children("/examples/orders"))
	require.Empty(t, server.Sessions())
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program.Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
}
