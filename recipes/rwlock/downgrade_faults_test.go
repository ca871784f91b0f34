package rwlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// striking begins a downgrade by client "a", strikes at the create of the reader's
// node, and passes the attempt on. If own is false the writer's context is detached, so
// that its end does not reach the downgrade.
func striking(t *testing.T, own bool, strike func(r *zktest.Rule), timeout time.Duration,
	then func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt),
) {
	t.Helper()
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		w.Client("b")
		w.Client("operator")
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		ctx := writing.Context()
		if !own {
			ctx = context.WithoutCancel(ctx)
		}
		strike(w.Server.On(zktest.OpCreate, path).Client("a"))
		then(t, w, writing, w.StartWith(ctx, l.Read(), timeout))
		require.Empty(t, children(w), "nodes left")
	})
}

// The outcome of the create is unknown: in the end there is one node, and it counts.
func TestDowngradeWithUnknownOutcome_Curator45(t *testing.T) {
	for name, strike := range map[string]func(r *zktest.Rule){
		"request lost": func(r *zktest.Rule) { r.Before().Cut() },
		"reply lost":   func(r *zktest.Rule) { r.After().Cut() },
		"muted":        func(r *zktest.Rule) { r.After().Mute() },
		"forgotten":    func(r *zktest.Rule) { r.Before().Mute() },
	} {
		t.Run(name, func(t *testing.T) {
			striking(t, true, strike, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
				at := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
				reading := down.Granted()
				require.Len(t, children(w), 3)
				info, ok := w.Server.Node(reading.Path())
				require.True(t, ok)
				require.Greater(t, info.Czxid, int64(reading.Token()))
				w.After(time.Second)
				require.NoError(t, writing.Release())
				w.After(time.Second)
				require.True(t, at.Waiting())
				require.NoError(t, reading.Err(), "the lease is on that node")
				require.NoError(t, reading.Release())
				require.NoError(t, at.Granted().Release())
			})
		})
	}
}

// A cancelled downgrade leaves no node, and the write lease stays valid.
func TestDowngradeIsCancelled_Curator79(t *testing.T) {
	for name, strike := range map[string]func(r *zktest.Rule){
		"request late": func(r *zktest.Rule) { r.Before().Delay(time.Second) },
		"reply late":   func(r *zktest.Rule) { r.After().Delay(time.Second) },
		"muted":        func(r *zktest.Rule) { r.After().Mute() },
	} {
		t.Run(name, func(t *testing.T) {
			striking(t, true, strike, 100*time.Millisecond, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
				require.ErrorIs(t, down.Failed(), lease.ErrTimeout)
				require.InDelta(t, 100*time.Millisecond, down.Took, float64(60*time.Millisecond))
				w.After(conformance.SessionTimeout)
				require.Len(t, children(w), 1)
				require.NoError(t, writing.Err())
				require.NoError(t, writing.Release())
			})
			striking(t, true, strike, lease.Forever, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
				reason := errors.New("changed its mind")
				down.Cancel(reason)
				w.After(60 * time.Millisecond)
				require.False(t, down.Waiting())
				require.ErrorIs(t, down.Failed(), reason)
				w.After(conformance.SessionTimeout)
				require.Len(t, children(w), 1)
				require.NoError(t, writing.Release())
			})
		})
	}
}

// The writer's node is deleted before the reader's is created, and another writer is
// admitted: the reader is not, although its number is lower.
func TestDowngradeComesTooLate_Curator621(t *testing.T) {
	strike := func(r *zktest.Rule) { r.Before().Delay(5 * time.Millisecond) } // before the holder watches its own node
	striking(t, false, strike, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
		at := w.Start(newLock(t, w.Known("b")).Write(), lease.Forever)
		w.Remove(w.Known("operator"), writing.Path())
		got := at.Granted()
		require.True(t, down.Waiting())
		require.ErrorIs(t, down.Failed(), lease.ErrLost)
		require.ErrorIs(t, down.Err, lease.ErrDeleted)
		require.ErrorIs(t, writing.Err(), lease.ErrDeleted, "the write lease is lost")
		require.NoError(t, got.Err())
		require.ErrorIs(t, writing.Release(), lease.ErrLost)
		require.NoError(t, got.Release())
	})
}

// Another client deletes the whole path before the reader's node is created.
func TestDowngradeWithoutAParent(t *testing.T) {
	strike := func(r *zktest.Rule) { r.Before().Delay(5 * time.Millisecond) }
	striking(t, false, strike, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
		require.NoError(t, w.Known("operator").DeleteTree(t.Context(), path))
		require.ErrorIs(t, down.Failed(), lease.ErrDeleted)
		require.ErrorIs(t, writing.Release(), lease.ErrLost)
	})
}

// Another client deletes the reader's node before the listing. The write lease is not
// lost.
func TestDowngradeWhoseNodeIsDeleted_Curator211(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l, operator := newLock(t, w.Client("a")), w.Client("operator")
		writing := w.Acquire(l.Write())
		w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(time.Second)
		down := w.StartWith(writing.Context(), l.Read(), time.Minute)
		for _, node := range children(w) {
			if path+"/"+node != writing.Path() {
				w.Remove(operator, path+"/"+node)
			}
		}
		require.Len(t, children(w), 1)
		require.True(t, down.Waiting())
		reading := down.Granted()
		require.NoError(t, writing.Err())
		_, ok := w.Server.Node(reading.Path())
		require.True(t, ok, "granted on a node that stands")
		require.NoError(t, writing.Release())
		require.NoError(t, reading.Release())
	})
}

// The write lease is lost during the downgrade.
func TestWriteLeaseIsLostDuringADowngrade(t *testing.T) {
	late := func(r *zktest.Rule) { r.Before().Delay(time.Second) }
	reasons := map[string]struct {
		reason error
		by     error // lease.ErrLost, or what may end the call before the lease is lost
		how    func(w *conformance.World)
	}{
		"expired":   {framework.ErrSessionLost, lease.ErrLost, func(w *conformance.World) { w.ExpireAll() }},
		"cut off":   {framework.ErrSessionLost, lease.ErrLost, func(w *conformance.World) { w.Server.Partition("a", true) }},
		"closed":    {framework.ErrClosed, framework.ErrClosed, func(w *conformance.World) { w.CloseAll() }},
		"refreshed": {framework.ErrSessionLost, lease.ErrLost, func(w *conformance.World) { w.Server.Restart(false) }},
	}
	for name, c := range reasons {
		t.Run(name, func(t *testing.T) {
			for _, own := range []bool{true, false} {
				striking(t, own, late, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
					c.how(w)
					require.ErrorIs(t, down.Failed(), c.by)
					require.ErrorIs(t, down.Err, c.reason)
					require.Less(t, down.Took, conformance.SessionTimeout)
					require.ErrorIs(t, writing.Release(), lease.ErrLost)
					w.Heal()
					w.After(2 * conformance.SessionTimeout)
				})
			}
		})
	}
}

// The write lease is released during the downgrade. If its context has not ended with
// that, the reader waits like any other client.
func TestWriteLeaseIsReleasedDuringADowngrade(t *testing.T) {
	late := func(r *zktest.Rule) { r.Before().Mute() }
	for _, own := range []bool{true, false} {
		striking(t, own, late, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
			require.NoError(t, writing.Release())
			if own {
				require.ErrorIs(t, down.Failed(), lease.ErrReleased)
				w.After(conformance.SessionTimeout)
				return
			}
			got := down.Granted()
			require.GreaterOrEqual(t, got.Token(), writing.Token(), "the lease is a new one, unless the node was made before the other was deleted")
			require.NoError(t, got.Release())
			w.After(conformance.SessionTimeout) // the background deletes the writer's
		})
	}
}

// The write lease is released during the downgrade, and then the session ends: the
// reader joins the queue again.
func TestSessionEndsAfterAReleaseDuringADowngrade(t *testing.T) {
	late := func(r *zktest.Rule) { r.Before().Mute() }
	striking(t, false, late, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
		require.NoError(t, writing.Release())
		require.True(t, down.Waiting())
		w.ExpireAll()
		require.NoError(t, down.Granted().Release())
	})
}

// If the wait after such a release times out, the error has the duration of all of it.
func TestDowngradeTimesOutAfterTheRelease(t *testing.T) {
	late := func(r *zktest.Rule) { r.Before().Mute() }
	striking(t, false, late, time.Minute, func(t *testing.T, w *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
		next := w.Start(newLock(t, w.Known("b")).Write(), lease.Forever)
		require.NoError(t, writing.Release())
		<-down.Done()
		if down.Lease != nil { // the node was made before the other was deleted
			require.True(t, next.Waiting())
			require.NoError(t, down.Lease.Release())
		} else {
			var timeout *lease.TimeoutError
			require.ErrorAs(t, down.Err, &timeout)
			require.Equal(t, time.Minute, timeout.Waited)
		}
		require.NoError(t, next.Granted().Release())
	})
}

// Release and downgrade happen at the same moment: a granted reader has a node, and no
// writer holds the lock with it.
func TestReleaseAtTheInstantOfTheDowngrade(t *testing.T) {
	for i := range 40 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			referee := &conformance.Referee{Shares: shares}
			l := newLock(t, w.Client("a"))
			writing := w.Acquire(l.Write())
			next := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
			ctx := writing.Context()
			if i%2 == 0 {
				ctx = context.WithoutCancel(ctx)
			}
			released := make(chan error, 1)
			go func() { released <- writing.Release() }()
			down := w.StartWith(ctx, l.Read(), lease.Forever)
			require.NoError(t, <-released)
			w.After(time.Second)
			for _, at := range []*conformance.Attempt{down, next, down} {
				if !at.Waiting() && at.Err == nil && at.Lease.Err() == nil {
					referee.Grant("a client", at.Lease)
					require.NoError(t, at.Lease.Release())
					w.Settle()
				}
			}
			require.False(t, down.Waiting() || next.Waiting())
			if down.Err != nil {
				require.ErrorIs(t, down.Err, lease.ErrReleased)
			}
			require.Empty(t, referee.Faults())
			require.Empty(t, children(w))
		})
	}
}

// A downgrade with a timeout of 0 does not wait for a connection either.
func TestDowngradeWithoutWaitingWhileDisconnected(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		w.After(time.Millisecond)
		at := w.StartWith(writing.Context(), l.Read(), 0)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.Zero(t, at.Took)
		w.Heal()
		w.After(time.Second)
		require.NoError(t, downgrade(t, l, writing).Release())
	})
}

// An ACL forbids the create: the error says so, and the write lease stays valid.
func TestDowngradeIsRefused(t *testing.T) {
	striking(t, true, func(r *zktest.Rule) { r.Fail(zktest.NoAuth) }, time.Minute,
		func(t *testing.T, _ *conformance.World, writing *lease.Lease, down *conformance.Attempt) {
			require.ErrorIs(t, down.Failed(), framework.ErrNoAuth)
			require.ErrorContains(t, down.Err, "acquire "+path)
			require.NoError(t, writing.Release())
		})
}

// The write lease reaches its maximum hold time: the context of the read lease ends,
// and waiters are admitted when the reader has released.
func TestMaxHoldOfADowngradedLease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"), rwlock.WithMaxHold(5*time.Second))
		writing := w.Acquire(l.Write())
		at := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
		w.After(2 * time.Second)
		reading, err := l.Read().Acquire(writing.Context(), 0)
		require.NoError(t, err)
		w.After(3 * time.Second)
		require.ErrorIs(t, writing.Err(), lease.ErrMaxHold)
		require.ErrorIs(t, context.Cause(reading.Context()), lease.ErrMaxHold)
		require.NoError(t, reading.Err(), "its time began later")
		_, err = l.Read().Acquire(context.WithoutCancel(writing.Context()), time.Minute)
		require.ErrorIs(t, err, lease.ErrMaxHold)
		require.ErrorIs(t, writing.Release(), lease.ErrMaxHold)
		w.After(2*time.Second - time.Millisecond)
		require.True(t, at.Waiting())
		require.NoError(t, reading.Err())
		w.After(time.Millisecond)
		require.ErrorIs(t, reading.Err(), lease.ErrMaxHold)
		require.ErrorIs(t, reading.Release(), lease.ErrLost)
		require.NoError(t, at.Granted().Release())
	})
}

func TestStopOnSuspendEndsADowngradedReader(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = true }))
		reading := downgrade(t, l, w.Acquire(l.Write()))
		w.After(time.Second)
		w.Server.DropConnections("a")
		w.After(time.Millisecond)
		require.ErrorIs(t, reading.Err(), lease.ErrSuspended)
		require.ErrorIs(t, context.Cause(reading.Context()), lease.ErrSuspended)
		require.ErrorIs(t, reading.Release(), lease.ErrLost)
		require.NoError(t, w.Acquire(l.Write()).Release())
	})
}

// Without a quorum a downgrade is not granted: nothing vouches for the reader's node.
func TestNoDowngradeWithoutAQuorum(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newLock(t, w.Client("a"))
		writing := w.Acquire(l.Write())
		w.After(2 * conformance.SessionTimeout)
		require.NoError(t, w.Known("a").CreateParents(t.Context(), "/other/x")) // the newest transaction
		rule := w.Server.On(zktest.OpMulti, "").Always()
		rule.DropReply()
		w.Server.On(zktest.OpCreate, path).After().Delay(time.Hour) // the reader's own is not answered
		w.After(conformance.SessionTimeout * 4 / 10)
		at := w.StartWith(writing.Context(), l.Read(), conformance.SessionTimeout*33/100)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		rule.Remove()
		w.After(conformance.SessionTimeout)
		require.Equal(t, []string{writing.Path()}, w.Ephemerals("/"))
		require.NoError(t, writing.Release())
	})
}
