package interop

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// theirLock returns the Lock of go-zookeeper, with a session of its own.
func theirLock(t *testing.T, addr string) (*zk.Lock, *zk.Conn) {
	t.Helper()
	conn := (&recorder{t: t}).dial(addr)
	return zk.NewLock(conn, sharedPath, zk.WorldACL(zk.PermAll)), conn
}

// lockLater locks in the background. Its channel receives the error.
func lockLater(l *zk.Lock) <-chan error {
	locked := make(chan error, 1)
	go func() { locked <- l.Lock() }()
	return locked
}

// requireLocked waits for a Lock that is about to be granted.
func requireLocked(t *testing.T, locked <-chan error) {
	t.Helper()
	select {
	case err := <-locked:
		require.NoError(t, err)
	case <-time.After(limit):
		require.Fail(t, "go-zookeeper does not get the lock")
	}
}

// A mutex of ours, the Lock of go-zookeeper and Curator's mutex share one queue.
func TestOneQueueOfThreeLibraries(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		m := newMutex(t, client, sharedPath)
		first, theirs := theirLock(t, addr)
		require.NoError(t, first.Lock())
		_, err := m.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		granted := acquireLater(t, m)
		awaitChildren(t, client, sharedPath, 2)
		java := startCurator(t, "hold", addr, sharedPath, "wait=120000")
		awaitChildren(t, client, sharedPath, 3)
		last, _ := theirLock(t, addr)
		locked := lockLater(last)
		awaitChildren(t, client, sharedPath, 4)

		queue, err := m.Contenders(within(t, limit))
		require.NoError(t, err)
		require.Len(t, queue, 4)
		require.Equal(t, theirs.SessionID(), queue[0].Session)
		require.Equal(t, client.Session().ID(), queue[1].Session)
		select {
		case <-granted:
			require.Fail(t, "granted while go-zookeeper holds it")
		default:
		}

		require.NoError(t, first.Unlock())
		held := <-granted
		require.NotNil(t, held)
		require.Greater(t, held.Token(), queue[0].Token, "tokens grow past those of other libraries")
		require.NoError(t, held.Release())
		require.Equal(t, "held "+queue[2].Node, java.line(t))
		select {
		case err := <-locked:
			require.Fail(t, "go-zookeeper locks while Java holds it", "%v", err)
		default:
		}
		javaReleases(t, java)
		requireLocked(t, locked)
		_, err = m.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, lease.ErrTimeout)
		require.NoError(t, last.Unlock())
		requireNothingLeft(t, addr, sharedPath)
	})
}

// Three of theirs and three of ours contend: no two are inside at once, and all have
// their turns.
func TestMutexAndLockOfGoZookeeperContend(t *testing.T) {
	const contenders, turns = 3, 40
	onBoth(t, func(t *testing.T, addr string) {
		var inside, done atomic.Int32
		turn := func() {
			assert.Equal(t, int32(1), inside.Add(1), "two at once")
			done.Add(1)
			inside.Add(-1)
		}
		var group sync.WaitGroup
		for range contenders {
			theirs, _ := theirLock(t, addr)
			group.Go(func() {
				for range turns {
					if !assert.NoError(t, theirs.Lock()) {
						return
					}
					turn()
					if !assert.NoError(t, theirs.Unlock()) {
						return
					}
				}
			})
			ours := newMutex(t, connect(t, addr), sharedPath)
			group.Go(func() {
				for range turns {
					held, err := ours.Acquire(context.Background(), limit)
					if !assert.NoError(t, err) {
						return
					}
					turn()
					if !assert.NoError(t, held.Release()) {
						return
					}
				}
			})
		}
		group.Wait()
		require.Equal(t, int32(2*contenders*turns), done.Load())
		requireNothingLeft(t, addr, sharedPath)
	})
}

// To a read-write lock the Lock of go-zookeeper is a writer.
func TestLockOfGoZookeeperIsAWriter(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		l, err := rwlock.New(client, sharedPath)
		require.NoError(t, err)
		first, err := l.Read().Acquire(context.Background(), 0)
		require.NoError(t, err)
		theirs, _ := theirLock(t, addr)
		locked := lockLater(theirs)
		awaitChildren(t, client, sharedPath, 2)
		granted := acquireLater(t, l.Read())
		awaitChildren(t, client, sharedPath, 3)
		select {
		case err := <-locked:
			require.Fail(t, "locked beside a reader", "%v", err)
		default:
		}
		require.NoError(t, first.Release())
		requireLocked(t, locked)
		select {
		case <-granted:
			require.Fail(t, "a reader is granted beside it")
		default:
		}
		require.NoError(t, theirs.Unlock())
		next := <-granted
		require.NotNil(t, next)
		require.NoError(t, next.Release())
		requireNothingLeft(t, addr, sharedPath)
	})
}

// Credentials of ours do not keep the Lock of go-zookeeper from waiting. Where the path
// belongs to them, it needs them.
func TestLockOfGoZookeeperBesideCredentials(t *testing.T) {
	onBoth(t, func(t *testing.T, addr string) {
		client := ours(t, addr, nil)
		held, err := newMutex(t, client, sharedPath).Acquire(context.Background(), 0)
		require.NoError(t, err)
		theirs, conn := theirLock(t, addr)
		locked := lockLater(theirs)
		awaitChildren(t, client, sharedPath, 2)
		require.NoError(t, held.Release())
		requireLocked(t, locked)
		require.NoError(t, theirs.Unlock())

		const closed = sharedPath + "-closed"
		held, err = newMutex(t, ours(t, addr, framework.OwnedBelow(closed)), closed).Acquire(context.Background(), 0)
		require.NoError(t, err)
		theirs = zk.NewLock(conn, closed, zk.WorldACL(zk.PermAll))
		require.ErrorIs(t, theirs.Lock(), zk.ErrNoAuth)
		require.NoError(t, conn.AddAuth("digest", []byte("us:hunter2")))
		locked = lockLater(theirs)
		awaitChildren(t, client, closed, 2)
		require.NoError(t, held.Release())
		requireLocked(t, locked)
		require.NoError(t, theirs.Unlock())
	})
}
