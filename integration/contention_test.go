package integration

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// startContenders starts processes that contend as planned; the function it returns
// ends their standard input, waits for them and returns all their grants.
func startContenders(t *testing.T, processes int, p plan) func() []grant {
	t.Helper()
	text, err := json.Marshal(p)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Minute)
	t.Cleanup(cancel)
	var group sync.WaitGroup
	outs, errs := make([]bytes.Buffer, processes), make([]bytes.Buffer, processes)
	fails := make([]error, processes)
	inputs := make([]io.Closer, processes)
	for i := range processes {
		command := exec.CommandContext(ctx, os.Args[0])
		input, err := command.StdinPipe()
		require.NoError(t, err)
		inputs[i] = input
		command.Env = append(os.Environ(), contenderPlan+"="+string(text))
		command.Stdout, command.Stderr = &outs[i], &errs[i]
		require.NoError(t, command.Start())
		group.Go(func() { fails[i] = command.Wait() })
	}
	return func() []grant {
		for _, input := range inputs {
			_ = input.Close()
		}
		group.Wait()
		var all []grant
		for i := range processes {
			require.NoError(t, fails[i], "contender %d: %s", i, errs[i].String())
			lines := bufio.NewScanner(&outs[i])
			for lines.Scan() {
				var g grant
				require.NoError(t, json.Unmarshal(lines.Bytes(), &g))
				all = append(all, g)
			}
		}
		return all
	}
}

// requireExclusive checks a history of grants: no two valid at once, tokens growing,
// and the order that of the znodes.
func requireExclusive(t *testing.T, grants []grant) {
	t.Helper()
	slices.SortFunc(grants, func(a, b grant) int { return cmp.Compare(a.From, b.From) })
	for i, g := range grants[1:] {
		before := grants[i]
		require.Greater(t, g.From, before.Until, "two valid leases at once: %+v and %+v", before, g)
		require.Greater(t, g.Token, before.Token, "tokens do not grow: %+v, then %+v", before, g)
		require.Greater(t, g.Sequence, before.Sequence, "not granted in the order of the znodes: %+v, then %+v", before, g)
	}
}

// 32 contenders in 4 processes make 2,000 acquisitions.
func TestContendersInFourProcesses(t *testing.T) {
	_, server := single(t)
	const path = "/locks/contended"
	wait := startContenders(t, 4, plan{Servers: []string{server}, Path: path, Workers: 8, Grants: 63})
	grants := wait()
	assert.Len(t, grants, 4*8*63)
	requireExclusive(t, grants)
	requireNone(t, server, "zk_watch_count")
	requireEmpty(t, server, path, soon)
}

// The same with clients that stay connected: no watch may be left to their
// disconnection.
func TestNothingLeftWhileClientsStayConnected(t *testing.T) {
	_, server := single(t)
	const path = "/locks/resident"
	var group sync.WaitGroup
	for range 4 {
		m := newMutex(t, connect(t, server), path)
		for range 4 {
			group.Go(func() {
				for range 10 {
					_, err := hold(context.Background(), m, false)
					assert.NoError(t, err)
				}
			})
		}
	}
	group.Wait()
	requireNone(t, server, "zk_watch_count")
	requireEmpty(t, server, path, soon)
}

// Waiters that time out leave no znode, and watches only on nodes that will be deleted.
func TestImpatientWaitersLeaveNothing(t *testing.T) {
	_, server := single(t)
	const path = "/locks/impatient"
	held, err := newMutex(t, connect(t, server), path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	m := newMutex(t, connect(t, server), path)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := m.Acquire(context.Background(), 200*time.Millisecond)
			assert.ErrorIs(t, err, lease.ErrTimeout)
		})
	}
	group.Wait()
	for ctx := within(t, soon); ; { // nodes whose create was answered late are deleted in the background
		contenders, err := m.Contenders(within(t, limit))
		require.NoError(t, err)
		if len(contenders) == 1 {
			break
		}
		require.NoError(t, ctx.Err(), "besides the holder: %v", contenders)
	}
	require.NoError(t, held.Release())
	requireNone(t, server, "zk_watch_count")
	requireEmpty(t, server, path, soon)
}
