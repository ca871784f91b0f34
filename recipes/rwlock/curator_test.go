package rwlock_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The tests of Curator's TestInterProcessReadWriteLock, except that of the upgrade,
// which is in upgrade_test.go.

// spin reads, writes and downgrades n times at random.
func spin(t *testing.T, referee *conformance.Referee, who string, l *rwlock.Lock, seed uint64, n int) {
	rnd := rand.New(rand.NewPCG(seed, 2))
	work := func() {
		<-time.After(time.Duration(1+rnd.IntN(20)) * time.Millisecond)
		referee.Look()
	}
	for range n {
		side := l.Read()
		write := rnd.IntN(2) == 0
		if write {
			side = l.Write()
		}
		held, err := side.Acquire(t.Context(), time.Hour)
		if err != nil {
			t.Errorf("%s: %v", who, err)
			return
		}
		referee.Grant(who, held)
		work()
		if write && rnd.IntN(2) == 0 {
			reading, err := l.Read().Acquire(held.Context(), 0)
			if err != nil {
				t.Errorf("%s: %v", who, err)
				return
			}
			referee.Grant(who, reading)
			err = held.Release()
			if err != nil {
				t.Errorf("%s: %v", who, err)
			}
			held = reading
			work()
		}
		if err := held.Release(); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		<-time.After(time.Duration(rnd.IntN(20)) * time.Millisecond)
	}
}

// 20 readers and 8 writers, counted by kind.
func TestGetParticipantNodes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newLock(t, a).Write())
		var attempts []*conformance.Attempt
		for i := range 27 {
			side := 'R'
			if i%4 == 3 || i == 0 {
				side = 'W'
			}
			attempts = append(attempts, w.Start(sideOf(t, b, side), lease.Forever))
		}
		list, err := newLock(t, a, rwlock.WithHolder("who asks")).Contenders(t.Context())
		require.NoError(t, err)
		kinds := map[string]int{}
		for i, c := range list {
			kinds[c.Kind]++
			require.Equal(t, i == 0, c.Holding)
		}
		require.Equal(t, map[string]int{lease.KindReader: 20, lease.KindWriter: 8}, kinds)
		require.NoError(t, held.Release())
		for _, at := range attempts {
			require.NoError(t, at.Granted().Release())
		}
	})
}

// The context owns the lock, not the client: another goroutine of the same process does
// not read while a writer holds the lock.
func TestThatDowngradingRespectsThreads(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		other := w.Start(l.Read(), lease.Forever)
		require.True(t, other.Waiting())
		require.ErrorIs(t, w.Start(l.Read(), 5*time.Second).Failed(), lease.ErrTimeout)
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		require.True(t, other.Waiting())
		require.NoError(t, writing.Release())
		got := other.Granted()
		require.NoError(t, reading.Err())
		require.NoError(t, reading.Release())
		require.NoError(t, got.Release())
	})
}

func TestContendingDowngrading_Curator621(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		referee := &conformance.Referee{Shares: shares}
		var all sync.WaitGroup
		for i := range 5 {
			who := fmt.Sprint("client", i)
			l := newLock(t, w.Client(who))
			all.Go(func() {
				for range 10 {
					writing, err := l.Write().Acquire(t.Context(), time.Hour)
					if err != nil {
						t.Errorf("%s: %v", who, err)
						return
					}
					referee.Grant(who, writing)
					reading, err := l.Read().Acquire(writing.Context(), time.Hour)
					if err != nil {
						t.Errorf("%s: %v", who, err)
						return
					}
					referee.Grant(who, reading)
					<-time.After(time.Millisecond)
					err = writing.Release()
					for range 5 {
						<-time.After(time.Millisecond)
						referee.Look()
					}
					if err := errors.Join(err, reading.Release()); err != nil {
						t.Errorf("%s: %v", who, err)
					}
				}
			})
		}
		all.Wait()
		require.Empty(t, referee.Faults())
		require.Len(t, referee.Tokens(), 100)
	})
}

func TestNoWatchesAfterManyCycles_Curator107(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newLock(t, w.Client("a")), newLock(t, w.Client("b"))
		for i := range 20 {
			held := w.Acquire(a.Write())
			waiting := w.Start(b.Read(), lease.Forever)
			short := w.Start(b.Write(), 30*time.Millisecond)
			require.ErrorIs(t, w.Start(b.Read(), 0).Failed(), lease.ErrTimeout)
			require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
			reading := downgrade(t, a, held)
			require.NoError(t, waiting.Granted().Release())
			require.NoError(t, reading.Release())
			w.Settle()
			require.Zero(t, w.Server.Watches(), "after cycle %d", i)
			require.Empty(t, children(w))
		}
	})
}

// The parent is removed all the time, while clients read, write and downgrade.
func TestParentIsReapedAllTheTime_CuratorD502(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		referee := &conformance.Referee{Shares: shares}
		var all sync.WaitGroup
		for i := range 10 {
			c := w.Client(fmt.Sprint("client", i))
			all.Go(func() { spin(t, referee, fmt.Sprint("client", i), newLock(t, c), uint64(i), 20) })
		}
		all.Wait()
		require.Empty(t, referee.Faults())
		w.After(time.Second)
		require.Empty(t, w.Server.Children("/locks"), "the idle parent is removed")
	}, zktest.WithReapInterval(10*time.Millisecond))
}

// A failure after the create of the reader's node removes that node, and does not
// affect the writer.
func TestFailureInADowngradeLeavesNothing_CuratorTestLockInternals(t *testing.T) {
	for code, want := range map[zktest.Code]error{
		zktest.NoAuth: framework.ErrNoAuth, zktest.BadArguments: framework.ErrInvalidArgument, zktest.RuntimeInconsistency: lease.ErrTimeout,
	} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			l := newLock(t, w.Client("a"))
			writing := w.Acquire(l.Write())
			rule := w.Server.On(zktest.OpGetChildren2, path).Client("a").Always().Fail(code)
			require.ErrorIs(t, w.StartWith(writing.Context(), l.Read(), 5*time.Second).Failed(), want)
			w.After(time.Second)
			require.Len(t, children(w), 1)
			require.NoError(t, writing.Err())
			rule.Remove()
			require.NoError(t, downgrade(t, l, writing).Release())
		})
	}
}
