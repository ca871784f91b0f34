package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// output runs a command, and returns what it prints.
func output(t *testing.T, server string, args ...string) (out string, code int) {
	t.Helper()
	r := startCommand(t, server, args...)
	var lines strings.Builder
	for r.lines.Scan() {
		lines.WriteString(r.lines.Text() + "\n")
	}
	return lines.String(), r.exit(t)
}

// term waits until the child of a run has printed its process id and its token.
func term(t *testing.T, r *running) (pid int, token lease.Token) {
	t.Helper()
	_, err := fmt.Sscan(r.line(t), &pid, &token)
	require.NoError(t, err)
	return pid, token
}

// kill -9 of the leader: its child dies with it, and the next leads when the session
// has timed out. When a revocation of that is requested, the third leads.
func TestElectTakesOver(t *testing.T) {
	_, server := single(t)
	const path = "/elections/killed"
	candidate := func(id string) *running {
		return startCommand(t, server, "elect", "--path", path, "--id", id, "--session-timeout", "10s", "--", "sh", "-c",
			`echo $$ $ZKRECIPES_LOCK_TOKEN; exec cat`)
	}
	first := candidate("first")
	pid, token := term(t, first)
	second := candidate("second")
	awaitInQueue(t, server, path, "second")
	third := candidate("third")
	awaitInQueue(t, server, path, "third")
	require.NoError(t, first.command.Process.Kill())
	first.exit(t)
	gone(t, pid)

	_, next := term(t, second)
	assert.Greater(t, next, token)
	out, code := output(t, server, "revoke", path)
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "(leader, held): second")
	_, last := term(t, third)
	assert.Greater(t, last, next)
	awaitInQueue(t, server, path, "second") // again, behind the third
	require.NoError(t, third.stdin.Close())
	assert.Equal(t, 0, third.exit(t), "it resigns when its command ends; stderr: %s", &third.stderr)
	term(t, second)
	require.NoError(t, second.stdin.Close())
	assert.Equal(t, 0, second.exit(t), "%s", &second.stderr)
	requireEmpty(t, server, path, soon)
}

// awaitInQueue waits until a contender is in the queue, but not at its head.
func awaitInQueue(t *testing.T, server, path, who string) {
	t.Helper()
	for ctx := within(t, limit); ctx.Err() == nil; {
		out, code := output(t, server, "ls", path)
		require.Equal(t, 0, code)
		for line := range strings.Lines(out) {
			if strings.Contains(line, "waiting") && strings.Contains(line, who) {
				return
			}
		}
	}
	t.Fatalf("%s does not join the queue", who)
}

// Revocation of readers and permits.
func TestRevokeReadersAndPermits(t *testing.T) {
	_, server := single(t)
	for kind, flags := range map[string][]string{"reader": {"--shared"}, "semaphore": {"--permits", "2"}} {
		t.Run(kind, func(t *testing.T) {
			path := "/locks/revoked-" + kind
			polite := slices.Concat([]string{"run", "--lock", path}, flags,
				[]string{"--", "sh", "-c", `trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.05; done`})
			holders := []*running{startCommand(t, server, polite...), startCommand(t, server, polite...)}
			for _, h := range holders {
				require.Equal(t, "ready", h.line(t))
			}
			out, code := output(t, server, "revoke", path)
			assert.Equal(t, 0, code)
			assert.Equal(t, 2, strings.Count(out, "("+kind+", held)"), out)
			for _, h := range holders {
				assert.Equal(t, "asked", h.line(t))
				assert.Equal(t, 5, h.exit(t), "%s", &h.stderr)
			}
			_, code = output(t, server, "revoke", path)
			assert.Equal(t, 1, code, "no holder is left")
		})
	}
}
