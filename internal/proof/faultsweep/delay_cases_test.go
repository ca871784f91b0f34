package faultsweep

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// What plans do not come to, because it takes an operator, clocks that differ, or
// clients that are configured differently. The planted mistakes need these cases.

// delay is the lock-delay of these cases.
const delay = 10 * time.Second

func delayedBy(d time.Duration, c *framework.Client) *mutex.Mutex {
	return must(mutex.New(c, path, mutex.WithLockDelay(d)))
}

// uncleanEnd has a client hold the mutex, and ends its session.
func uncleanEnd(w *conformance.World) {
	w.T.Helper()
	c := w.Client("gone")
	w.Acquire(delayedBy(delay, c))
	w.Expire(c)
}

// records returns the names of the records below a queue.
func records(w *conformance.World, queue string) []string {
	return w.Server.Children(queue + "/" + znode.LockDelayDir)
}

// A lock whose users never wait as long as the delay opens at last, and not before, by
// the clocks of servers that differ by less than the delay.
func TestLockWhoseUsersDoNotWaitOpensAtLast(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		uncleanEnd(w)
		c := w.Client("a")
		require.ErrorIs(t, w.Start(delayedBy(delay, c), delay/2).Failed(), lease.ErrLockDelay)
		w.Server.SetClock(delay * 9 / 10)
		for range 4 {
			late := w.Start(delayedBy(delay, c), 0)
			require.ErrorIs(t, late.Failed(), lease.ErrLockDelay)
			require.Less(t, late.Took, time.Second)
			w.After(delay / 10)
		}
		w.After(2 * delay)
		held := w.Start(delayedBy(delay, c), 0).Granted()
		require.Len(t, records(w, path), 1)
		require.NoError(t, held.Release())
	})
}

// The end of a lease counts, not its begin, nor when who waits has joined.
func TestEndOfALongHold(t *testing.T) {
	for name, joins := range map[string]time.Duration{"joins before": -delay / 2, "joins after": delay / 10} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				gone, c := w.Client("gone"), w.Client("a")
				w.Acquire(delayedBy(delay, gone))
				began := time.Now()
				time.AfterFunc(3*delay, func() { w.Expire(gone) })
				w.After(3*delay + joins)
				w.Start(delayedBy(delay, c), lease.Forever).Granted()
				require.GreaterOrEqual(t, time.Since(began), 4*delay)
			})
		})
	}
}

func TestNodeIsDeletedBeforeItIsRecorded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, operator := w.Client("a"), w.Client("operator")
		w.Server.On(zktest.OpMulti, path).Client("a").Delay(100 * time.Millisecond)
		at := w.Start(delayedBy(delay, c), lease.Forever)
		first := w.Ephemerals(path)[0]
		w.Remove(operator, first)
		held := at.Granted()
		require.NotEqual(t, first, held.Path())
		w.Settle()
		require.Equal(t, []string{held.Path()[len(path)+1:]}, records(w, path))
		require.NoError(t, held.Err())
	})
}

// The transaction that makes the record is repeated until its outcome is known.
func TestRecordIsNotAnswered(t *testing.T) {
	for name, acquire := range map[string]func(w *conformance.World, fault func()) *lease.Lease{
		"mutex": func(w *conformance.World, fault func()) *lease.Lease {
			fault()
			return w.Acquire(delayedBy(delay, w.Named("a")))
		},
		"downgrade": func(w *conformance.World, fault func()) *lease.Lease {
			l := must(rwlock.New(w.Named("a"), path, rwlock.WithLockDelay(delay)))
			writing := w.Acquire(l.Write())
			fault()
			return w.StartWith(writing.Context(), l.Read(), time.Minute).Granted()
		},
	} {
		for phase, narrow := range map[string]func(*zktest.Rule) *zktest.Rule{"before": (*zktest.Rule).Before, "after": (*zktest.Rule).After} {
			t.Run(name+", "+phase, func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					w.Client("a")
					held := acquire(w, func() { narrow(w.Server.On(zktest.OpMulti, path)).Cut() })
					require.Contains(t, records(w, path), held.Path()[len(path)+1:])
					require.NoError(t, held.Err())
				})
			})
		}
	}
}

// A client is cut off from the majority when it is the first to store a delay. It
// waits, as for anything else.
func TestDelayIsStoredByAClientThatIsCutOff(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		minority := w.Server.Split("a")
		at := w.Start(delayedBy(delay, c), lease.Forever)
		w.After(2 * conformance.SessionTimeout)
		minority.End()
		require.NoError(t, at.Granted().Release())
	})
}

// The time is up while the record is made.
func TestPositionThatGivesUpIsNotRecorded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := delayedBy(delay, w.Client("a"))
		w.Server.On(zktest.OpMulti, path).After().DropReply()
		require.ErrorIs(t, w.Start(m, 50*time.Millisecond).Failed(), lease.ErrTimeout)
		w.After(time.Second)
		require.Empty(t, records(w, path))
	})
}

func TestDelayIsStoredAgainAfterThePositionHasJoined(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c, operator, dir := w.Client("a"), w.Client("operator"), path+"/"+znode.LockDelayDir
		w.Server.On(zktest.OpGetChildren2, dir).Client("a").Delay(100 * time.Millisecond)
		at := w.Start(delayedBy(delay, c), lease.Forever)
		w.Remove(operator, dir)
		_, err := operator.Create(t.Context(), dir, znode.LockDelay(delay), framework.Container)
		require.NoError(t, err)
		held := at.Granted()
		stored, _ := w.Server.Node(dir)
		require.Greater(t, int64(held.Token()), stored.Czxid)
	})
}

// Who waits is notified when somebody deletes the record.
func TestRecordIsDeletedByHand(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		uncleanEnd(w)
		next := w.Start(delayedBy(delay, w.Client("a")), lease.Forever)
		w.Remove(w.Client("operator"), path+"/"+znode.LockDelayDir+"/"+records(w, path)[0])
		next.Granted()
		require.Less(t, next.Took, time.Second)
	})
}

// Nothing is handed over in memory, also not between contenders without a delay of
// their own.
func TestNextOfTheSameClientIsRecorded(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		for _, given := range []time.Duration{delay, 0} {
			m := delayedBy(given, w.Named("a"))
			held := w.Acquire(m)
			next := w.Start(m, time.Minute)
			w.Settle()
			require.NoError(t, held.Release())
			held = next.Granted()
			require.Equal(t, []string{held.Path()[len(path)+1:]}, records(w, path))
			require.NoError(t, held.Release())
			require.Empty(t, records(w, path))
		}
	})
}

// A release without a connection deletes the record in the background.
func TestReleaseWithoutAConnection(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		held := w.Acquire(delayedBy(delay, w.Client("a")))
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		w.Settle()
		require.NoError(t, held.Release())
		w.Server.RefuseConnections("a", false)
		w.After(time.Second)
		require.Empty(t, w.Ephemerals(path))
		require.Empty(t, records(w, path))
	})
}

func TestOtherDelaysAreRefused(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Acquire(delayedBy(delay, w.Client("a")))
		for _, other := range []time.Duration{delay / 2, 2 * delay} {
			err := w.Start(delayedBy(other, w.Named("b")), time.Minute).Failed()
			require.ErrorIs(t, err, lease.ErrLockDelayMismatch, "%v", other)
		}
	})
}

func TestContenderWithoutADelayObeysTheOneThatIsStored(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		uncleanEnd(w)
		next := w.Start(delayedBy(0, w.Client("a")), lease.Forever)
		held := next.Granted()
		require.GreaterOrEqual(t, next.Took, delay)
		require.Equal(t, []string{held.Path()[len(path)+1:]}, records(w, path))
	})
}

// Work under a lease that was lost may have begun what has not ended.
func TestLostLeaseThatIsReleased(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m, err := mutex.New(w.Client("a"), path, mutex.WithLockDelay(delay), mutex.WithMaxHold(time.Second))
		require.NoError(t, err)
		held := w.Acquire(m)
		w.After(time.Second)
		require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
		w.Settle()
		next := w.Start(delayedBy(delay, w.Client("b")), lease.Forever)
		next.Granted()
		require.GreaterOrEqual(t, next.Took, delay)
	})
}
