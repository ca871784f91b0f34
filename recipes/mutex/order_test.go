package mutex_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The parent's counter reaches its end while the lock is held and waited for. ZooKeeper
// is documented to go on with -2147483648; 3.8 in fact gives 2147483647 to all further
// nodes, whose names then show no order. Waiters with an order are served, the others
// are refused.
func TestSequenceEndsWhileHeldAndWaited(t *testing.T) {
	for name, opts := range map[string][]zktest.Option{"it stays": nil, "it wraps": {zktest.WithSequenceWrap()}} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				warm(w, a)
				require.True(t, w.Server.SetSequence(path, math.MaxInt32-3))
				referee := &conformance.Referee{Slots: 1}
				held := w.Acquire(newMutex(t, a))
				referee.Grant("first", held)
				attempts := queueUp(w, b, 8)
				for i, at := range attempts {
					if i < 2 {
						require.True(t, at.Waiting())
					} else {
						require.ErrorIs(t, at.Failed(), lease.ErrSequenceExhausted)
						require.ErrorContains(t, at.Err, path)
					}
				}
				w.Settle()
				require.Len(t, children(w), 3, "the refused left nothing")
				require.ErrorIs(t, w.Start(newMutex(t, a), 0).Failed(), lease.ErrTimeout)
				for _, at := range attempts[:2] {
					require.NoError(t, held.Err())
					require.NoError(t, held.Release())
					held = at.Granted()
					referee.Grant("next", held)
				}
				require.NoError(t, held.Release())
				require.ErrorIs(t, w.Start(newMutex(t, a), 0).Failed(), lease.ErrSequenceExhausted)
				w.Settle()
				require.Empty(t, children(w))

				w.Remove(a, path)
				after := w.Acquire(newMutex(t, b))
				referee.Grant("after", after)
				require.NoError(t, after.Release())
				require.Empty(t, referee.Faults())
			}, opts...)
		})
	}
}

// No client needs to delete the path: the server removes an idle container.
func TestSequenceRestartsWithTheContainer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMutex(t, w.Client("a"))
		require.NoError(t, w.Acquire(m).Release())
		require.True(t, w.Server.SetSequence(path, math.MaxInt32))
		require.ErrorIs(t, w.Start(m, time.Second).Failed(), lease.ErrSequenceExhausted)
		w.After(3 * zktest.DefaultReapInterval)
		require.NoError(t, w.Acquire(m).Release())
	})
}

// The context ends at the moment of the grant. Both results are right, but nothing may
// be half done.
func TestCancelAtTheInstantOfTheGrant(t *testing.T) {
	for range 50 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("a"), w.Client("b")
			held := w.Acquire(newMutex(t, a))
			attempt := w.Start(newMutex(t, b), lease.Forever)
			reason := errors.New("too late")
			released := make(chan error, 1)
			go func() { released <- held.Release() }()
			attempt.Cancel(reason)
			require.NoError(t, <-released)
			<-attempt.Done()
			if attempt.Err == nil {
				require.ErrorIs(t, context.Cause(attempt.Lease.Context()), reason)
				require.NoError(t, attempt.Lease.Err(), "the end of the context does not release")
				require.NoError(t, attempt.Lease.Release())
			} else {
				require.ErrorIs(t, attempt.Err, reason)
			}
			w.After(100 * time.Millisecond)
			require.Empty(t, children(w))
			require.NoError(t, w.Acquire(newMutex(t, a)).Release())
		})
	}
}

// The timeout ends at the moment of the grant.
func TestTimeoutAtTheInstantOfTheGrant(t *testing.T) {
	for range 50 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("a"), w.Client("b")
			held := w.Acquire(newMutex(t, a))
			attempt := w.Start(newMutex(t, b), time.Second)
			time.Sleep(time.Second)
			require.NoError(t, held.Release())
			<-attempt.Done()
			if attempt.Err == nil {
				require.NoError(t, attempt.Lease.Release())
			} else {
				require.ErrorIs(t, attempt.Err, lease.ErrTimeout)
			}
			w.After(100 * time.Millisecond)
			require.Empty(t, children(w))
		})
	}
}

func TestContendersInOrder(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		none, err := newMutex(t, a).Contenders(t.Context())
		require.NoError(t, err, "an unused mutex has no contenders")
		require.Empty(t, none)

		began := time.Now()
		held := w.Acquire(newMutex(t, a, mutex.WithHolder("first")))
		w.After(time.Minute)
		w.Start(newMutex(t, b, mutex.WithHolder("second")), lease.Forever)
		w.Start(newMutex(t, a), lease.Forever)
		list, err := newMutex(t, b).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 3)
		require.Equal(t, "first", list[0].Holder.Who)
		require.Equal(t, "second", list[1].Holder.Who)
		require.Equal(t, filepath.Base(os.Args[0]), list[2].Holder.Who, "the program's name")
		require.Equal(t, held.Token(), list[0].Token)
		require.Equal(t, a.Session().ID(), list[0].Session)
		require.Equal(t, b.Session().ID(), list[1].Session)
		require.True(t, strings.HasSuffix(held.Path(), list[0].Node))
		require.WithinDuration(t, began, list[0].Holder.Since, time.Second)
		require.WithinDuration(t, began, list[0].Enqueued, time.Second)
		require.WithinDuration(t, began.Add(time.Minute), list[1].Holder.Since, time.Second)
		require.Positive(t, list[0].Holder.PID)
		require.Contains(t, list[0].String(), "first (")
		require.NoError(t, held.Release())
	})
}

// A lagging server is made to catch up first.
func TestContendersAreUpToDate(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, a)
		w.Server.Lag("b", true)
		held := w.Acquire(newMutex(t, a))
		list, err := newMutex(t, b).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.NoError(t, held.Release())
	})
}

func TestTimeoutErrorTellsWhoIsInTheWay(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", func(cfg *framework.Config) { cfg.Namespace = "shop" })
		held := w.Acquire(newMutex(t, a, mutex.WithHolder("nightly backup")))
		queueUp(w, a, 2)
		var timeout *lease.TimeoutError
		require.ErrorAs(t, w.Start(newMutex(t, a), 1500*time.Millisecond).Failed(), &timeout)
		require.Equal(t, "/shop"+path, timeout.Path)
		require.Equal(t, 3, timeout.Ahead)
		require.Equal(t, "nightly backup", timeout.Holder.Who)
		require.True(t, strings.HasSuffix(held.Path(), timeout.Node))
		require.InDelta(t, 1500*time.Millisecond, timeout.Waited, float64(60*time.Millisecond))
		require.Regexp(t, `^/shop/locks/orders: not acquired in time: waited 1\.5\ds, 3 ahead, held by nightly backup \(.*, pid \d+, since 2000-01-01T00:00:00Z\)$|^/shop/locks/orders: not acquired in time: waited 1\.5s, 3 ahead, held by nightly backup \(.*, pid \d+, since 2000-01-01T00:00:00Z\)$`, timeout.Error())

		require.ErrorAs(t, w.Start(newMutex(t, a), 0).Failed(), &timeout)
		require.Zero(t, timeout.Waited)
		require.Equal(t, 3, timeout.Ahead)
		require.Contains(t, timeout.Error(), timeout.Node)

		require.NoError(t, held.Release())
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		err := w.Start(newMutex(t, a), 10*time.Second).Failed()
		require.ErrorAs(t, err, &timeout)
		require.ErrorIs(t, err, framework.ErrNotConnected)
		require.Contains(t, err.Error(), w.Server.Addr(), "it names the servers it tried")
	})
}

func TestNewRefusesBadPaths(t *testing.T) {
	for _, bad := range []string{
		"", "locks", "/", "/locks/", "/a//b", "/a/../b", "/a\x00b",
		"/a/lock-0000000001", "/lock-0000000001", "/a/x-lock--2147483648", "/a/__READ__0000000001", "/a/b__WRIT__0000000001",
		"/a/latch-0000000001", "/a/lease-0000000001", "/a/permits-3-0000000001", "/a/_c_01234567-89ab-4def-8123-456789abcdef-lock-0000000001",
	} {
		_, err := mutex.New(nil, bad)
		require.ErrorIs(t, err, framework.ErrInvalidPath, bad)
		require.ErrorContains(t, err, "mutex")
	}
	_, err := mutex.New(new(framework.Client), "/a", mutex.WithMaxHold(-1))
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
	_, err = mutex.New(nil, "/a")
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
	require.ErrorContains(t, err, "mutex /a")
}

// Nothing of the caller's names ends up in a node's name.
func TestNodeNamesAreCurators(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(newMutex(t, w.Client("a"), mutex.WithHolder("/strange name/")))
		require.Equal(t, 1, strings.Count(held.Path()[len(path):], "/"))
		require.True(t, strings.HasSuffix(held.Path(), "-lock-0000000000"))
	})
}
