package mutex_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// An observer that never returns, and a slow reader of events, block no lock.
func TestBlockedListenerBlocksNoLock_Curator495(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		blocked := make(chan struct{})
		var listeners sync.WaitGroup
		for _, c := range []*framework.Client{a, b} {
			listeners.Go(func() {
				for range c.States(t.Context()) {
					<-blocked
				}
			})
		}
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), lease.Forever)
		w.Server.DropConnections("")
		w.After(time.Second)
		require.NoError(t, held.Release())
		require.NoError(t, attempt.Granted().Release())
		w.Expire(a)
		require.NoError(t, w.Acquire(newMutex(t, a)).Release())
		close(blocked)
		require.NoError(t, a.Close())
		require.NoError(t, b.Close())
		listeners.Wait()
	})
}

// Nodes of other ZooKeeper libraries count, whether and however they are protected.
func TestOtherLibrariesNodesCount_Kazoo14(t *testing.T) {
	for _, name := range []string{
		"lock-0000000000", // no protection
		"_c_0123456789abcdef0123456789abcdef-lock-0000000000",     // go-zookeeper
		"_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000", // Curator
		"x-lock-0000000000", // anything
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				warm(w, a)
				_, err := a.Create(t.Context(), path+"/"+name, nil, framework.Persistent)
				require.NoError(t, err)
				attempt := w.Start(newMutex(t, a), lease.Forever)
				require.True(t, attempt.Waiting())
				w.Remove(a, path+"/"+name)
				require.NoError(t, attempt.Granted().Release())
			})
		})
	}
}

// TimeoutError.Err is what a server refused during the wait, not the request that was
// under way when the time was up.
func TestTimeoutErrorHasTheLastFailure(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("b")))
		m := newMutex(t, w.Client("a"))
		timeout := func() *lease.TimeoutError {
			var err *lease.TimeoutError
			require.ErrorAs(t, w.Start(m, 300*time.Millisecond).Failed(), &err)
			return err
		}
		w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(time.Second)
		require.NoError(t, timeout().Err)
		w.After(2 * time.Second)
		rule := w.Server.On(zktest.OpGetChildren2, path).Client("a").Always().Fail(zktest.ThrottledOp)
		require.ErrorContains(t, timeout().Err, "refused by an overloaded server")
		rule.Remove()
		require.NoError(t, held.Release())
	})
}

// A few znodes with long names, seventeen with all defaults, are too much for one
// answer. Acquire and Contenders fail with that at once.
func TestLongNames(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		some := func(c *framework.Config) { c.MaxReplyBytes, c.MaxRequestBytes = 1<<20, 0 }
		a, b := w.Client("a", some), w.Client("b", some)
		require.NoError(t, b.CreateParents(t.Context(), path+"/x"))
		name := strings.Repeat("x", 600_000)
		for range 2 {
			_, err := b.Create(t.Context(), path+"/"+name+"-", nil, framework.PersistentSequential)
			require.NoError(t, err)
		}
		other, err := mutex.New(a, path+"-other")
		require.NoError(t, err)
		held := w.Acquire(other)
		w.Server.ResetCounts()
		m := newMutex(t, a)
		tried := w.Start(m, 2*time.Second)
		require.ErrorIs(t, tried.Failed(), framework.ErrReplyTooLarge)
		require.EqualError(t, tried.Err, "acquire "+path+": children "+path+": answer too large: 1200177 bytes, the limit is 1048576"+
			fmt.Sprintf(" (session %#x)", a.Session().ID()))
		require.Less(t, tried.Took, 100*time.Millisecond)
		_, err = m.Contenders(t.Context())
		require.ErrorIs(t, err, framework.ErrReplyTooLarge)
		require.NotErrorIs(t, err, lease.ErrTimeout)
		require.Zero(t, w.Server.CountOf("a", zktest.OpConnect))
		require.Equal(t, 2, w.Server.CountOf("a", zktest.OpGetChildren2))
		require.NoError(t, held.Release())
	})
}

// Data that another client writes into a holder's znode, also more than the holder can
// read, ends neither the lease nor its watch, and causes no repeated reads.
func TestHolderOfAZnodeTooLargeToRead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		b := w.Client("b", func(c *framework.Config) { c.MaxReplyBytes, c.MaxRequestBytes = 0, 0 })
		held := w.Acquire(newMutex(t, w.Client("a")))
		w.After(time.Second)
		_, err := b.Set(t.Context(), held.Path(), make([]byte, 100<<10), framework.AnyVersion)
		require.NoError(t, err)
		w.Settle()
		w.Server.ResetCounts()
		w.After(conformance.SessionTimeout)
		require.NoError(t, held.Err())
		require.Zero(t, w.Server.CountOf("a", zktest.OpGetData))
		_, err = b.Set(t.Context(), held.Path(), []byte("__REVOKE__"), framework.AnyVersion)
		require.NoError(t, err)
		w.Settle()
		require.True(t, conformance.Closed(held.RevocationRequested()), "revocation was requested")
		w.Remove(b, held.Path())
		w.Settle()
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}
