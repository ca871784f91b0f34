package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Runs that wait follow the number of permits: a larger one lets the next one begin, a
// smaller one stops nobody, and counts from then on.
func TestResizeWhileRunsWait(t *testing.T) {
	_, server := single(t)
	const path = "/locks/resized"
	run := func(label string) *running {
		return startCommand(t, server, "run", path, "--permits", "stored:1", "--label", label, "--", "sh", "-c", child)
	}
	first := run("first")
	first.line(t)
	second := run("second")
	awaitInQueue(t, server, path, "second")
	third := run("third")
	awaitInQueue(t, server, path, "third")
	out, code := output(t, server, "resize", path, "2")
	require.Equal(t, 0, code)
	require.Equal(t, path+": 2 permits, 1 before\n", out)
	second.line(t)
	awaitInQueue(t, server, path, "third")
	_, code = output(t, server, "resize", path, "1")
	require.Equal(t, 0, code)

	require.NoError(t, first.stdin.Close())
	assert.Equal(t, 0, first.exit(t), "%s", &first.stderr)
	awaitInQueue(t, server, path, "third") // one is held, of one
	require.NoError(t, second.stdin.Close())
	assert.Equal(t, 0, second.exit(t), "%s", &second.stderr)
	third.line(t)
	require.NoError(t, third.stdin.Close())
	assert.Equal(t, 0, third.exit(t), "%s", &third.stderr)
	for _, folder := range []string{"/leases", "/locks"} {
		requireEmpty(t, server, path+folder, soon)
	}
}
