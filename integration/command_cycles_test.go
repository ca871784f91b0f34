package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// awaitCycle looks until there is a cycle below a path, and returns what was found.
func awaitCycle(t *testing.T, c *framework.Client, path string) *inspect.CycleSurvey {
	t.Helper()
	for ctx := within(t, limit); ; {
		found, err := inspect.Cycles(ctx, c, path)
		require.NoError(t, err)
		if len(found.Cycles) > 0 {
			return found
		}
		select {
		case <-ctx.Done():
			require.Fail(t, "no cycle")
		case <-time.After(20 * time.Millisecond): // there is no event for what other processes wait for
		}
	}
}

// Two scripts run a command under one lock that runs another one under a second lock,
// in opposite orders: four processes. The deadlock is certain, and ls shows it. When
// one of the holders is asked to release, the other script ends its work.
func TestCyclesOfNestedRuns(t *testing.T) {
	_, server := single(t)
	command, err := built()
	require.NoError(t, err)
	nested := func(outer, inner string) *running {
		script := fmt.Sprintf(`echo ready; read go; exec "$0" run --lock %s --label "%s inside" -- echo done`, inner, outer)
		r := startCommand(t, server, "run", "--lock", outer, "--label", outer+" outside", "--", "sh", "-c", script, command)
		require.Equal(t, "ready", r.line(t))
		return r
	}
	first := nested("/locks/cart", "/locks/stock")
	second := nested("/locks/stock", "/locks/cart")
	c := connect(t, server)
	none, err := inspect.Cycles(within(t, limit), c, "/")
	require.NoError(t, err)
	require.Equal(t, &inspect.CycleSurvey{Locks: 2}, none)
	for _, r := range []*running{first, second} {
		_, err := r.stdin.Write([]byte("go\n"))
		require.NoError(t, err)
	}
	found := awaitCycle(t, c, "/locks")
	require.Len(t, found.Cycles, 1)
	require.True(t, found.Cycles[0].Certain)
	require.Len(t, found.Cycles[0].Links, 2)
	for _, l := range found.Cycles[0].Links {
		require.Equal(t, l.Holds+" outside", l.Held.Holder.Who)
		require.Equal(t, l.Holds+" inside", l.Waiting.Holder.Who)
		require.NotEqual(t, l.Held.Holder.PID, l.Waiting.Holder.PID)
	}

	ls := startCommand(t, server, "ls", "--cycles", "/locks")
	var out strings.Builder
	for ls.lines.Scan() {
		out.WriteString(ls.lines.Text() + "\n")
	}
	assert.Equal(t, 0, ls.exit(t), "%s", &ls.stderr)
	assert.Regexp(t, `^deadlock since .*2 wait for each other\n`, out.String())
	assert.Contains(t, out.String(), "holds /locks/cart and waits for /locks/stock")
	assert.Contains(t, out.String(), "holds /locks/stock and waits for /locks/cart")

	revoke := startCommand(t, server, "revoke", "/locks/cart")
	assert.Equal(t, 0, revoke.exit(t), "%s", &revoke.stderr)
	assert.NotEqual(t, 0, first.exit(t), "its command was ended")
	assert.Equal(t, "done", second.line(t))
	assert.Equal(t, 0, second.exit(t), "%s", &second.stderr)
	requireEmpty(t, server, "/locks/cart", soon)
	requireEmpty(t, server, "/locks/stock", soon)
}

// A deadlock of three clients, each at a server of its own: all servers show it.
func TestCyclesOfAnEnsemble(t *testing.T) {
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	var clients []*framework.Client
	for _, server := range servers.Servers() {
		clients = append(clients, connect(t, server))
	}
	paths := []string{"/locks/a", "/locks/b", "/locks/c"}
	var held []*lease.Lease
	for i, c := range clients {
		l, err := newMutex(t, c, paths[i]).Acquire(within(t, limit), lease.Forever)
		require.NoError(t, err)
		held = append(held, l)
	}
	ended := []chan error{make(chan error, 1), make(chan error, 1), make(chan error, 1)}
	for i, c := range clients {
		next := newMutex(t, c, paths[(i+1)%3])
		go func() {
			l, err := next.Acquire(held[i].Context(), lease.Forever)
			if err == nil {
				err = l.Release()
			}
			ended[i] <- err
		}()
	}
	for _, c := range clients {
		found := awaitCycle(t, c, "/")
		require.Len(t, found.Cycles, 1)
		require.True(t, found.Cycles[0].Certain)
		require.Len(t, found.Cycles[0].Links, 3)
	}
	require.NoError(t, held[0].Release())
	require.ErrorIs(t, <-ended[0], lease.ErrReleased, "its context has ended with the lease")
	for _, i := range []int{2, 1} {
		require.NoError(t, <-ended[i])
		require.NoError(t, held[i].Release())
	}
	found, err := inspect.Cycles(within(t, limit), clients[0], "/")
	require.NoError(t, err)
	require.Empty(t, found.Cycles)
}
