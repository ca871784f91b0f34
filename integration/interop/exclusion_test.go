package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

const sharedPath = "/interop/shared"

// javaHolds starts a Java process that holds the mutex and returns its node.
func javaHolds(t *testing.T, addr string, options ...string) (*program, string) {
	t.Helper()
	p := startCurator(t, "hold", addr, sharedPath, options...)
	node, found := strings.CutPrefix(p.line(t), "held ")
	require.True(t, found, node)
	return p, node
}

// javaReleases makes a Java holder release and end.
func javaReleases(t *testing.T, p *program) {
	t.Helper()
	require.NoError(t, p.input.Close())
	require.Equal(t, []string{"released"}, p.requireRest(t))
}

func TestGoIsKeptOutByJava(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		m := newMutex(t, connect(t, addr), sharedPath)
		p, node := javaHolds(t, addr)

		_, err := m.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		_, err = m.Acquire(context.Background(), 2*time.Second)
		timeout := (*lease.TimeoutError)(nil)
		require.ErrorAs(t, err, &timeout)
		require.Equal(t, 1, timeout.Ahead)
		require.Equal(t, node, timeout.Node)
		require.Equal(t, lease.Holder{}, timeout.Holder, "Curator's nodes hold an address only")

		javaReleases(t, p)
		held, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		require.NoError(t, held.Release())
		requireNothingLeft(t, addr, sharedPath)
	})
}

func TestJavaIsKeptOutByGo(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		m := newMutex(t, connect(t, addr), sharedPath)
		held, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)

		busy := startCurator(t, "hold", addr, sharedPath, "wait=0")
		require.Equal(t, []string{"busy"}, busy.requireRest(t))
		require.NoError(t, held.Release())
		p, _ := javaHolds(t, addr)
		javaReleases(t, p)
		requireNothingLeft(t, addr, sharedPath)
	})
}

// Go and Java share one queue: Go holds, Java waits, Go waits behind it.
func TestOneQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		m := newMutex(t, client, sharedPath)
		first, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		p := startCurator(t, "hold", addr, sharedPath, "wait=120000")
		awaitChildren(t, client, sharedPath, 2)
		granted := acquireLater(t, m)
		awaitChildren(t, client, sharedPath, 3)

		queue, err := m.Contenders(within(t, limit))
		require.NoError(t, err)
		require.Len(t, queue, 3)
		java := queue[1]
		require.NotEqual(t, client.Session().ID(), java.Session)
		for _, c := range []lease.Contender{queue[0], queue[2]} {
			require.Equal(t, client.Session().ID(), c.Session)
			require.NotZero(t, c.Holder.PID)
		}

		require.NoError(t, first.Release())
		require.Equal(t, "held "+java.Node, p.line(t))
		select {
		case <-granted:
			require.Fail(t, "granted while Java holds it")
		default:
		}
		javaReleases(t, p)
		last := <-granted
		require.NotNil(t, last)
		require.Greater(t, last.Token(), java.Token, "tokens grow past Java's")
		require.Greater(t, java.Token, first.Token())
		require.NoError(t, last.Release())
		requireNothingLeft(t, addr, sharedPath)
	})
}

// When a Java holder dies, Go gets the mutex at the end of its session.
func TestGoFollowsADeadJavaHolder(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		m := newMutex(t, client, sharedPath)
		p, _ := javaHolds(t, addr, "session=5000")
		granted := acquireLater(t, m)
		awaitChildren(t, client, sharedPath, 2)
		require.NoError(t, p.cmd.Process.Kill())
		held := <-granted
		require.NotNil(t, held)
		require.NoError(t, held.Release())
		requireNothingLeft(t, addr, sharedPath)
	})
}

// acquireLater acquires in the background. Its channel receives nil if that fails.
func acquireLater(t *testing.T, m lease.Acquirer) <-chan *lease.Lease {
	t.Helper()
	granted := make(chan *lease.Lease, 1)
	go func() {
		held, err := m.Acquire(context.Background(), limit)
		assert.NoError(t, err)
		granted <- held
	}()
	return granted
}
