package mutex_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A listener that never returns, and one that never reads on, must not matter.
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

// Nodes of other ZooKeeper libraries, which protect theirs in other ways or not
// at all, count.
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
