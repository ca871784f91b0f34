package interop

import (
	"context"
	"math"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"

	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

// What the Lock of go-zookeeper does when something goes wrong. Who still has some on a
// path has to know: docs/coming-from-go-zookeeper.md.

// awaitAnswer waits until a connection of go-zookeeper has a session, the old one or
// another.
func awaitAnswer(t *testing.T, conn *zk.Conn) {
	t.Helper()
	for ctx := within(t, limit); ; {
		_, _, err := conn.Exists("/")
		if err == nil {
			return
		}
		require.NoError(t, ctx.Err(), "no answer: %v", err)
	}
}

// A Lock that fails leaves its node in the queue, and the session that owns it goes on.
func TestLockOfGoZookeeperLeavesItsNodeBehind(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		m := newMutex(t, connect(t, addr), sharedPath)
		first, err := m.Acquire(context.Background(), 0)
		require.NoError(t, err)
		p := proxy.New(t, addr)
		theirs, conn := theirLock(t, p.Addr())
		session := conn.SessionID()
		p.CutAfter(proxy.OpGetChildren2, sharedPath)
		require.ErrorIs(t, theirs.Lock(), zk.ErrConnectionClosed)
		require.ErrorIs(t, theirs.Unlock(), zk.ErrNotLocked)
		require.NoError(t, first.Release())

		queue, err := m.Contenders(within(t, limit))
		require.NoError(t, err)
		require.Len(t, queue, 1)
		require.Equal(t, session, queue[0].Session)
		awaitAnswer(t, conn)
		require.Equal(t, session, conn.SessionID())
		_, err = m.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		conn.Close()
		held, err := m.Acquire(context.Background(), limit)
		require.NoError(t, err, "the end of the session removes it")
		require.NoError(t, held.Release())
	})
}

// A Lock whose session has ended still counts as locked, and cannot be used any more.
func TestLockOfGoZookeeperDoesNotNoticeTheEndOfItsSession(t *testing.T) {
	server := zktest.NewServer(t, zktest.WithTick(tick))
	theirs, conn := theirLock(t, server.Addr())
	require.NoError(t, theirs.Lock())
	require.True(t, server.ExpireSession(conn.SessionID()))
	held, err := newMutex(t, connect(t, server.Addr()), sharedPath).Acquire(context.Background(), limit)
	require.NoError(t, err, "the lock belongs to another client now")
	require.ErrorIs(t, theirs.Lock(), zk.ErrDeadlock)
	awaitAnswer(t, conn)
	for range 2 {
		require.ErrorIs(t, theirs.Unlock(), zk.ErrNoNode)
	}
	require.NoError(t, held.Release())
}

// A child that is no contender's makes every Lock fail, and each leaves its node. So does
// the node of a lock-delay.
func TestLockOfGoZookeeperBesideOtherChildren(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		theirs, conn := theirLock(t, addr)
		require.NoError(t, client.CreateParents(within(t, limit), sharedPath+"/x"))
		_, err := client.Create(within(t, limit), sharedPath+"/notes", nil, framework.Persistent)
		require.NoError(t, err)
		require.ErrorContains(t, theirs.Lock(), "invalid syntax")
		awaitChildren(t, client, sharedPath, 2)
		require.NoError(t, client.Delete(within(t, limit), sharedPath+"/notes", framework.AnyVersion))
		conn.Close()
		awaitChildren(t, client, sharedPath, 0)

		delayed, err := mutex.New(client, sharedPath, mutex.WithLockDelay(sessionTimeout))
		require.NoError(t, err)
		held, err := delayed.Acquire(context.Background(), limit)
		require.NoError(t, err)
		theirs, _ = theirLock(t, addr)
		require.ErrorContains(t, theirs.Lock(), "invalid syntax")
		require.NoError(t, held.Release())
	})
}

// When the numbers of a path are used up, a Lock is granted beside its holder. Acquire
// refuses.
func TestLockOfGoZookeeperAfterTheLastNumber(t *testing.T) {
	for name, options := range map[string][]zktest.Option{"as in 3.8": nil, "as documented": {zktest.WithSequenceWrap()}} {
		t.Run(name, func(t *testing.T) {
			addr := func() string {
				server := zktest.NewServer(t, append(options, zktest.WithTick(tick))...)
				client := connect(t, server.Addr())
				require.NoError(t, client.CreateParents(within(t, limit), sharedPath+"/x"))
				require.True(t, server.SetSequence(sharedPath, math.MaxInt32))
				return server.Addr()
			}()
			one, _ := theirLock(t, addr)
			other, _ := theirLock(t, addr)
			require.NoError(t, one.Lock())
			requireLocked(t, lockLater(other)) // two hold it
			_, err := newMutex(t, connect(t, addr), sharedPath).Acquire(context.Background(), limit)
			require.ErrorIs(t, err, lease.ErrSequenceExhausted)
		})
	}
}
