package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// Curator does not know the node of a lock-delay, and ignores it: it sorts that node
// behind all contenders. So Go and Java still exclude each other. But Java does not
// wait after the unclean end of a Go holder, and leaves no record for Go to wait after
// its own.
func TestJavaDoesNotWaitForALockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		const never = 24 * time.Hour
		dies, client := connect(t, addr), connect(t, addr)
		delayed := func(c *framework.Client) *mutex.Mutex {
			m, err := mutex.New(c, sharedPath, mutex.WithLockDelay(never))
			require.NoError(t, err)
			return m
		}
		m := delayed(client)

		held, err := delayed(dies).Acquire(context.Background(), 0)
		require.NoError(t, err)
		require.Equal(t, []string{"busy"}, startCurator(t, "hold", addr, sharedPath, "wait=0").requireRest(t))
		require.NoError(t, dies.Close())
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		_, err = m.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrLockDelay)

		p, node := javaHolds(t, addr)
		_, err = m.Acquire(context.Background(), 2*time.Second)
		timeout := (*lease.TimeoutError)(nil)
		require.ErrorAs(t, err, &timeout)
		require.Equal(t, node, timeout.Node, "not the delay: Java holds it")
		javaReleases(t, p)
		_, err = m.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrLockDelay)
		require.NoError(t, client.Delete(context.Background(), sharedPath+"/lock-delay/"+held.Path()[len(sharedPath)+1:], framework.AnyVersion))

		p, _ = javaHolds(t, addr, "session=5000")
		granted := acquireLater(t, m)
		awaitChildren(t, client, sharedPath, 3)
		require.NoError(t, p.cmd.Process.Kill())
		next := <-granted
		require.NotNil(t, next)
		require.NoError(t, next.Release())
	})
}

// So it is with read-write locks.
func TestJavaReadersAndWritersDoNotWaitForALockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		const never = 24 * time.Hour
		dies, client := connect(t, addr), connect(t, addr)
		ended, err := rwlock.New(dies, sharedPath, rwlock.WithLockDelay(never))
		require.NoError(t, err)
		l, err := rwlock.New(client, sharedPath, rwlock.WithLockDelay(never))
		require.NoError(t, err)
		_, err = ended.Write().Acquire(context.Background(), 0)
		require.NoError(t, err)
		require.Equal(t, []string{"busy"}, startCurator(t, "holdrw", addr, sharedPath, "write=0").requireRest(t))
		require.NoError(t, dies.Close())
		for _, write := range []string{"write=0", "write=1"} {
			_, err = l.Read().Acquire(context.Background(), 0)
			require.ErrorIs(t, err, lease.ErrLockDelay)
			p := startCurator(t, "holdrw", addr, sharedPath, write)
			require.Equal(t, "held", p.line(t))
			_, err = l.Write().Acquire(context.Background(), 0)
			require.ErrorIs(t, err, lease.ErrTimeout)
			require.NotErrorIs(t, err, lease.ErrLockDelay)
			javaReleases(t, p)
		}
	})
}

// In the middle of the delay a Go waiter stands at the head of the queue, and Java waits
// behind it like behind a holder.
func TestJavaWaitsBehindOneWhoWaitsForALockDelay(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		const delay = 2 * time.Second
		dies, client := connect(t, addr), connect(t, addr)
		ended, err := mutex.New(dies, sharedPath, mutex.WithLockDelay(delay))
		require.NoError(t, err)
		m, err := mutex.New(client, sharedPath, mutex.WithLockDelay(delay))
		require.NoError(t, err)
		held, err := ended.Acquire(context.Background(), 0)
		require.NoError(t, err)
		require.NoError(t, held.Err())
		last := time.Now()
		require.NoError(t, dies.Close())

		granted := acquireLater(t, m)
		awaitChildren(t, client, sharedPath, 2)
		p := startCurator(t, "hold", addr, sharedPath, "wait=120000")
		next := <-granted
		require.NotNil(t, next)
		require.GreaterOrEqual(t, time.Since(last), delay)
		awaitChildren(t, client, sharedPath, 3)
		require.NoError(t, next.Release())
		require.True(t, strings.HasPrefix(p.line(t), "held "))
		javaReleases(t, p)
	})
}
