package interop

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// script returns a run of one of the program's scripts.
func script(verb string) func(*testing.T, string) []string {
	return func(t *testing.T, addr string) []string {
		lines := startCurator(t, verb, addr, "/interop/"+verb).requireRest(t)
		require.NotEmpty(t, lines)
		return lines
	}
}

func TestTranscriptCuratorReadWriteLock(t *testing.T) { requireTranscript(t, script("rwlock")) }

func TestTranscriptCuratorSemaphore(t *testing.T) { requireTranscript(t, script("semaphore")) }

func TestTranscriptCuratorLeaderLatch(t *testing.T) { requireTranscript(t, script("latch")) }

// Curator's mutex is exclusive and fair on either server.
func TestCuratorMutex(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		lines := startCurator(t, "mutex", addr, "/interop/mutex", "threads=4", "grants=50").requireRest(t)
		require.Equal(t, "ready", lines[0])
		grants := parseGrants(t, lines[1:])
		require.Len(t, grants, 4*50)
		requireExclusive(t, grants)
		requireNothingLeft(t, addr, "/interop/mutex")
	})
}

// parseGrants reads the lines of the program's verb "mutex".
func parseGrants(t *testing.T, lines []string) []grant {
	t.Helper()
	grants := make([]grant, len(lines))
	for i, line := range lines {
		require.NoError(t, json.Unmarshal([]byte(line), &grants[i]), line)
	}
	return grants
}
