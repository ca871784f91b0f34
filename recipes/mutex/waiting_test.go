package mutex_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestNoWatchesAfterManyCycles_Curator107(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		ma, mb := newMutex(t, w.Client("a")), newMutex(t, w.Client("b"))
		for i := range 20 {
			held := w.Acquire(ma)
			waiting := w.Start(mb, lease.Forever)
			short := w.Start(mb, 30*time.Millisecond)
			tried := w.Start(mb, 0)
			require.ErrorIs(t, tried.Failed(), lease.ErrTimeout)
			if i%2 == 0 {
				require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
			}
			require.NoError(t, held.Release())
			require.NoError(t, waiting.Granted().Release())
			if i%2 == 1 {
				require.NoError(t, short.Granted().Release())
			}
			w.Settle()
			require.Zero(t, w.Server.Watches(), "after cycle %d", i)
			require.Empty(t, children(w))
		}
	})
}

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

// The node waited for goes after the read that set the watch, and before its
// answer arrives: the event is right behind the answer.
func TestPredecessorGoesBetweenReadAndWait_Curator527(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		late := w.Server.On(zktest.OpGetData, held.Path()).Client("b").After().Delay(time.Second)
		attempt := w.Start(newMutex(t, b), lease.Forever)
		<-late.Fired()
		require.NoError(t, held.Release())
		got := attempt.Granted()
		require.Less(t, attempt.Took, 1100*time.Millisecond)
		require.NoError(t, got.Release())
	})
}

// It goes between the listing and the read.
func TestPredecessorGoesBetweenListingAndRead_Kazoo3(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		late := w.Server.On(zktest.OpGetData, held.Path()).Client("b").Delay(time.Second)
		attempt := w.Start(newMutex(t, b), lease.Forever)
		<-late.Fired()
		require.NoError(t, held.Release())
		got := attempt.Granted()
		require.Less(t, attempt.Took, 1100*time.Millisecond)
		require.NoError(t, got.Release())
		w.Settle()
		require.Zero(t, w.Server.Watches(), "no watch on a node that never comes")
	})
}

func TestCancelWhileQueuedLeavesNothing_Curator462(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), lease.Forever)
		behind := w.Start(newMutex(t, b), lease.Forever)
		require.Len(t, children(w), 3)
		reason := errors.New("no longer needed")
		attempt.Cancel(reason)
		require.ErrorIs(t, attempt.Failed(), reason)
		w.Settle()
		require.Len(t, children(w), 2, "its node is gone")
		require.True(t, behind.Waiting(), "the one behind it is not let in by that")
		require.NoError(t, held.Release())
		require.NoError(t, behind.Granted().Release())
	})
}

// outages are ways in which a server can be gone.
var outages = map[string]func(w *conformance.World){
	"refused": func(w *conformance.World) {
		w.Server.RefuseConnections("", true)
		w.Server.DropConnections("")
	},
	"partition": func(w *conformance.World) { w.Server.Partition("", true) },
	"paused":    func(w *conformance.World) { w.Server.Pause() },
}

func TestTimeoutIsKeptWhileServerIsGone_Curator559(t *testing.T) {
	for name, strike := range outages {
		for _, since := range []time.Duration{0, time.Second, 20 * time.Second} {
			t.Run(fmt.Sprintf("%s for %v", name, since), func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					m := newMutex(t, w.Client("a"))
					strike(w)
					w.After(since)
					attempt := w.Start(m, 2*time.Second)
					short, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
					defer cancel()
					bounded := w.StartWith(short, m, lease.Forever)
					at := w.Start(m, 0)
					require.ErrorIs(t, attempt.Failed(), lease.ErrTimeout)
					require.ErrorIs(t, bounded.Failed(), context.DeadlineExceeded)
					require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
					require.InDelta(t, 2*time.Second, attempt.Took, float64(100*time.Millisecond))
					require.InDelta(t, 1500*time.Millisecond, bounded.Took, float64(100*time.Millisecond))
					require.LessOrEqual(t, at.Took, conformance.SessionTimeout/3)
				})
			})
		}
	}
}

func TestWaitObeysContextWhileSuspended(t *testing.T) {
	for name, strike := range outages {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				m := newMutex(t, w.Client("a"))
				w.Acquire(newMutex(t, w.Client("b")))
				attempt := w.Start(m, lease.Forever)
				strike(w)
				w.After(2 * time.Second)
				require.True(t, attempt.Waiting())
				reason := errors.New("enough")
				attempt.Cancel(reason)
				w.After(100 * time.Millisecond)
				require.False(t, attempt.Waiting())
				require.ErrorIs(t, attempt.Failed(), reason)
			})
		})
	}
}

func TestCloseEndsPendingAcquires_Curator720(t *testing.T) {
	states := map[string]func(w *conformance.World){
		"connected": func(*conformance.World) {},
		"suspended": func(w *conformance.World) {
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
		},
		"retrying": func(w *conformance.World) {
			w.Server.On(zktest.OpCreate, path).Client("a").Always().Fail(zktest.ThrottledOp)
		},
	}
	for name, arrange := range states {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := w.Client("a"), w.Client("b")
				held := w.Acquire(newMutex(t, b))
				early := w.Start(newMutex(t, a), lease.Forever)
				arrange(w)
				late := w.Start(newMutex(t, a), lease.Forever)
				w.After(time.Second)
				began := time.Now()
				require.NoError(t, a.Close())
				require.LessOrEqual(t, time.Since(began), 1100*time.Millisecond)
				require.ErrorIs(t, early.Failed(), framework.ErrClosed)
				require.ErrorIs(t, late.Failed(), framework.ErrClosed)
				_, err := newMutex(t, a).Acquire(t.Context(), time.Hour)
				require.ErrorIs(t, err, framework.ErrClosed)
				w.After(conformance.SessionTimeout)
				require.Len(t, children(w), 1, "the holder's node only")
				require.NoError(t, held.Release())
			})
		})
	}
}

func TestCloseWhileHolding(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, a))
		attempt := w.Start(newMutex(t, b), lease.Forever)
		require.NoError(t, a.Close())
		require.ErrorIs(t, context.Cause(held.Context()), lease.ErrLost)
		require.ErrorIs(t, held.Err(), framework.ErrClosed)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		got := attempt.Granted()
		require.Less(t, attempt.Took, time.Second, "the place is given away at once")
		require.NoError(t, got.Release())
	})
}

func TestForeignChildrenAreIgnored_Curator43(t *testing.T) {
	foreign := []string{
		"abc", "0abc", "x-lock-", "lock-", "lock-1", "lock-00000000001", "lock-000000000x",
		"_c_x", "_c_x-lock-", "__READ__000000000", "lock-0000000000.bak", "0000000000", "latch-0000000000",
	}
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, a)
		for _, name := range foreign {
			_, err := a.Create(t.Context(), path+"/"+name, []byte("?"), framework.Persistent)
			require.NoError(t, err)
		}
		held := w.Start(newMutex(t, a), 0).Granted()
		attempt := w.Start(newMutex(t, b), lease.Forever)
		contenders, err := newMutex(t, a).Contenders(t.Context())
		require.NoError(t, err)
		require.Len(t, contenders, 2)
		require.NoError(t, held.Release())
		require.NoError(t, attempt.Granted().Release())
		for _, name := range foreign {
			w.Remove(a, path+"/"+name)
		}
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

func TestParentIsReapedAllTheTime_CuratorD502(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		referee := &conformance.Referee{Places: 1}
		var all sync.WaitGroup
		for i := range 10 {
			name := string(rune('a' + i))
			m := newMutex(t, w.Client(name))
			all.Go(func() {
				for n := range 20 {
					got, err := m.Acquire(t.Context(), time.Minute)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					referee.Grant(name, got)
					time.Sleep(time.Duration(i*7+n) % 5 * time.Millisecond)
					if err := got.Release(); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					time.Sleep(time.Duration(i*n%40) * time.Millisecond)
				}
			})
		}
		all.Wait()
		require.Empty(t, referee.Faults())
		require.Len(t, referee.Tokens(), 200)
		w.After(time.Second)
		require.Empty(t, w.Server.Children("/locks"), "the parent goes when nobody uses it")
	}, zktest.WithReapInterval(10*time.Millisecond))
}

func TestFirstErrorIsReported_Curator41(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		warm(w, a)
		w.Server.On(zktest.OpGetChildren2, path).Always().Fail(zktest.NoAuth)
		refusal := w.Server.On(zktest.OpDelete, path).Always().Fail(zktest.BadVersion)
		err := w.Start(newMutex(t, a), time.Second).Failed()
		require.ErrorIs(t, err, framework.ErrNoAuth)
		require.NotErrorIs(t, err, framework.ErrBadVersion)
		refusal.Remove()
	})
}

func TestFailureAfterCreateLeavesNothing_CuratorTestLockInternals(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpGetChildren2, zktest.OpGetData} {
		for code, want := range map[zktest.Code]error{
			zktest.NoAuth: framework.ErrNoAuth, zktest.BadArguments: framework.ErrInvalidArgument, zktest.RuntimeInconsistency: lease.ErrTimeout,
		} {
			t.Run(fmt.Sprintf("%v %v", op, code), func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					a, b := w.Client("a"), w.Client("b")
					held := w.Acquire(newMutex(t, b))
					w.Server.On(op, path).Client("a").Always().Fail(code)
					err := w.Start(newMutex(t, a), 5*time.Second).Failed()
					require.ErrorIs(t, err, want)
					w.After(time.Second)
					require.Len(t, children(w), 1, "the holder's node only, after %v", err)
					require.NoError(t, held.Release())
				})
			})
		}
	}
}
