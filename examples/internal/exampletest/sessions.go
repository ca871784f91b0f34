// Package exampletest is for the tests of the examples.
package exampletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// RequireNoSessions waits for the end of sessions that were lost and not closed, as on
// a busy machine.
func RequireNoSessions(t *testing.T, server *zktest.Server) {
	t.Helper()
	require.Eventually(t, func() bool { return len(server.Sessions()) == 0 }, time.Minute, 10*time.Millisecond)
}
