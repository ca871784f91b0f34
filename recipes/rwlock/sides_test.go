package rwlock_test

import (
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

// bothSides runs a test twice: with a reader that a writer keeps out, and the other
// way round. held is the one that is in the way, of client "h", and client a's side
// is the one to test.
func bothSides(t *testing.T, test func(t *testing.T, w *conformance.World, held *lease.Lease, a *framework.Client, side lease.Acquirer)) {
	t.Helper()
	for name, sides := range map[string]string{"reader": "WR", "writer": "RW", "writer behind a writer": "WW"} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				held := w.Acquire(sideOf(t, w.Client("h"), rune(sides[0])))
				a := w.Client("a")
				test(t, w, held, a, sideOf(t, a, rune(sides[1])))
			})
		})
	}
}

// others returns the nodes that are not of that lease.
func others(w *conformance.World, held *lease.Lease) []string {
	var paths []string
	for _, node := range children(w) {
		if path+"/"+node != held.Path() {
			paths = append(paths, path+"/"+node)
		}
	}
	return paths
}

// A contender whose node is gone is never granted, and joins again.
func TestOwnNodeMissingIsNotGranted_Curator307(t *testing.T) {
	bothSides(t, func(t *testing.T, w *conformance.World, held *lease.Lease, _ *framework.Client, side lease.Acquirer) {
		at := w.Start(side, lease.Forever)
		before := others(w, held)
		w.Remove(w.Client("operator"), before[0])
		w.After(time.Second)
		require.True(t, at.Waiting())
		require.NotEqual(t, before, others(w, held), "it has joined again")
		require.NoError(t, held.Release())
		got := at.Granted()
		require.Equal(t, []string{got.Path()[len(path)+1:]}, children(w))
		require.NoError(t, got.Release())
	})
}

// The first listing lacks the own node, and nobody else's is there.
func TestOwnNodeMissingFromFirstListing_Curator211(t *testing.T) {
	for _, side := range "RW" {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("a"), w.Client("b")
			warm(w, b)
			late := w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(time.Second)
			at := w.Start(sideOf(t, a, side), lease.Forever)
			<-late.Fired()
			w.Remove(b, path+"/"+children(w)[0])
			other := w.Acquire(newLock(t, b).Write())
			w.After(2 * time.Second)
			require.True(t, at.Waiting())
			require.NoError(t, other.Release())
			require.NoError(t, at.Granted().Release())
		})
	}
}

// The own node and the one that is in the way both vanish while the waiter is
// disconnected; another is granted meanwhile.
func TestOwnAndPredecessorVanishTogether_Curator211(t *testing.T) {
	for range 5 {
		bothSides(t, func(t *testing.T, w *conformance.World, held *lease.Lease, _ *framework.Client, side lease.Acquirer) {
			at := w.Start(side, lease.Forever)
			own := others(w, held)[0]
			next := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
			operator := w.Client("operator")
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
			w.Settle()
			w.Remove(operator, own)
			require.NoError(t, held.Release())
			got := next.Granted()
			w.Server.On(zktest.AnyOp, own).Client("a").OnEvent().Delay(100 * time.Millisecond)
			w.Server.RefuseConnections("a", false)
			w.After(time.Second)
			require.True(t, at.Waiting(), "it is not beside the writer")
			require.NoError(t, got.Err())
			require.NoError(t, got.Release())
			require.NoError(t, at.Granted().Release())
		})
	}
}

// A contender comes back with a new session to a server on which its old node is
// still first in line.
func TestOldNodeListedByLaggingServer_Curator604(t *testing.T) {
	bothSides(t, func(t *testing.T, w *conformance.World, held *lease.Lease, a *framework.Client, side lease.Acquirer) {
		at := w.Start(side, lease.Forever)
		second := w.Start(newLock(t, w.Client("b")).Write(), lease.Forever)
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		old := a.Session().ID()
		require.NoError(t, held.Release())
		w.Server.Lag("a", true)
		w.Expire(a)
		got := second.Granted()
		w.Server.RefuseConnections("a", false)
		w.After(2 * time.Second)
		require.NotEqual(t, old, a.Session().ID())
		require.True(t, at.Waiting(), "the old node does not count")
		require.NoError(t, got.Release())
		w.Server.Lag("a", false)
		again := at.Granted()
		info, ok := w.Server.Node(again.Path())
		require.True(t, ok)
		require.Equal(t, a.Session().ID(), info.EphemeralOwner)
		require.NoError(t, again.Release())
	})
}

func TestCancelledDuringCreate_Curator79(t *testing.T) {
	for name, fault := range map[string]func(r *zktest.Rule) *zktest.Rule{
		"reply late":   func(r *zktest.Rule) *zktest.Rule { return r.After().Delay(time.Second) },
		"request late": func(r *zktest.Rule) *zktest.Rule { return r.Before().Delay(time.Second) },
		"muted":        func(r *zktest.Rule) *zktest.Rule { return r.After().Mute() },
	} {
		t.Run(name, func(t *testing.T) {
			bothSides(t, func(t *testing.T, w *conformance.World, held *lease.Lease, _ *framework.Client, side lease.Acquirer) {
				fault(w.Server.On(zktest.OpCreate, path).Client("a"))
				at := w.Start(side, lease.Forever)
				w.After(100 * time.Millisecond)
				reason := errors.New("changed its mind")
				at.Cancel(reason)
				w.After(10 * time.Millisecond)
				require.False(t, at.Waiting())
				require.ErrorIs(t, at.Failed(), reason)
				w.After(conformance.SessionTimeout)
				require.Empty(t, others(w, held))
				require.NoError(t, held.Release())
			})
		})
	}
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

// What is waited for goes between the listing and the read, or while the answer to
// that is on its way.
func TestPredecessorGoesAroundTheRead_Curator527(t *testing.T) {
	for _, after := range []bool{false, true} {
		bothSides(t, func(t *testing.T, w *conformance.World, held *lease.Lease, _ *framework.Client, side lease.Acquirer) {
			rule := w.Server.On(zktest.OpGetData, held.Path()).Client("a")
			if after {
				rule.After()
			}
			late := rule.Delay(time.Second)
			at := w.Start(side, lease.Forever)
			<-late.Fired()
			require.NoError(t, held.Release())
			got := at.Granted()
			require.Less(t, at.Took, 1100*time.Millisecond)
			require.NoError(t, got.Release())
			w.Settle()
			require.Zero(t, w.Server.Watches())
		})
	}
}

func TestReleaseWhileWaiterIsDisconnected_Kazoo0937(t *testing.T) {
	for name, strike := range map[string]func(s *zktest.Server, on bool){
		"partition": func(s *zktest.Server, on bool) { s.Partition("a", on) },
		"stall":     func(s *zktest.Server, on bool) { s.Stall("a", on) },
	} {
		t.Run(name, func(t *testing.T) {
			bothSides(t, func(t *testing.T, w *conformance.World, held *lease.Lease, a *framework.Client, side lease.Acquirer) {
				at := w.Start(side, lease.Forever)
				session := a.Session().ID()
				strike(w.Server, true)
				w.After(time.Second)
				require.NoError(t, held.Release())
				w.After(time.Second)
				require.True(t, at.Waiting())
				strike(w.Server, false)
				got := at.Granted()
				require.Equal(t, session, a.Session().ID(), "the place in the line was kept")
				require.NoError(t, got.Release())
			})
		})
	}
}

func TestForeignChildrenAreIgnored_Curator43(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, a)
		foreign := []string{"abc", "0abc", "__WRIT__", "x-__WRIT__1", "_c_x-__READ__", "__WRIT__0000000000.bak", "latch-0000000000", "__rlock__0000000000"}
		for _, name := range foreign {
			_, err := a.Create(t.Context(), path+"/"+name, nil, framework.Persistent)
			require.NoError(t, err)
		}
		held := w.Start(newLock(t, a).Write(), 0).Granted()
		at := w.Start(newLock(t, b).Write(), lease.Forever)
		reading := downgrade(t, newLock(t, a), held)
		require.True(t, at.Waiting())
		require.NoError(t, reading.Release())
		require.NoError(t, at.Granted().Release())
		require.NoError(t, a.DeleteTree(t.Context(), path))
	})
}

// The parent is removed as often as can be, while clients read, write and downgrade.
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
		require.Empty(t, w.Server.Children("/locks"), "the parent goes when nobody uses it")
	}, zktest.WithReapInterval(10*time.Millisecond))
}

// A failure after the reader's node was made removes it, and costs the writer nothing.
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
