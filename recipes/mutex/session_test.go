package mutex_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// elsewhere makes every connection of a client but the first one go under another
// name, as to another server.
func elsewhere(w *conformance.World, first, later string) func(*framework.Config) {
	var dials atomic.Int32
	return func(cfg *framework.Config) {
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			name := first
			if dials.Add(1) > 1 {
				name = later
			}
			return w.Server.Dial(name)(ctx, network, addr)
		}
	}
}

// A waits; its session ends, and it comes back to a server that still lists its
// old node, and lists it as the first one.
func TestOldNodeListedByLaggingServer_Curator604(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var referee conformance.Referee
		referee.Places = 1
		h, b := w.Client("h"), w.Client("b")
		a := w.Client("a", elsewhere(w, "a", "a, elsewhere"))
		held := w.Acquire(newMutex(t, h))
		first := w.Start(newMutex(t, a), lease.Forever)
		second := w.Start(newMutex(t, b), lease.Forever)

		w.Server.RefuseConnections("a, elsewhere", true)
		w.Server.DropConnections("a")
		old := a.Session().ID()
		require.NoError(t, held.Release())
		w.Server.Lag("a, elsewhere", true) // it sees a's node as the first for ever
		w.Expire(a)
		got := second.Granted()
		referee.Grant("b", got)

		w.Server.RefuseConnections("a, elsewhere", false)
		w.After(2 * time.Second)
		require.NotEqual(t, old, a.Session().ID())
		require.True(t, first.Waiting(), "the old node does not count")
		require.NoError(t, got.Err())
		require.NoError(t, got.Release())
		w.Server.Lag("a, elsewhere", false)
		again := first.Granted()
		referee.Grant("a", again)
		require.Equal(t, a.Session().ID(), ownerOf(w, again.Path()))
		require.Empty(t, referee.Faults())
	})
}

// The server is slow to expire a session that its client has given up: the old
// node is still first in line when the client comes back.
func TestOldNodeOutlivesSession_Curator696(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(newMutex(t, a))
		old := a.Session().ID()
		var due atomic.Int32
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			switch {
			case c.Phase == zktest.PhaseExpire && c.Session == old && due.Add(1) == 1:
				return zktest.Delay(20 * time.Second)
			case c.Phase == zktest.PhaseConnect && c.Session == old:
				return zktest.CutConnection // nor can the client close it
			}
			return zktest.Pass
		})
		w.Server.DropConnections("a")
		<-held.Context().Done()
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		attempt := w.Start(newMutex(t, a), lease.Forever)
		w.After(5 * time.Second)
		require.NotEqual(t, old, a.Session().ID())
		require.True(t, attempt.Waiting(), "the place is taken, if only by a session of its own")
		require.Len(t, children(w), 2)
		got := attempt.Granted()
		require.Equal(t, a.Session().ID(), ownerOf(w, got.Path()))
		_, ok := w.Server.Node(held.Path())
		require.False(t, ok)
		require.Greater(t, got.Token(), held.Token())
	})
}

func TestSessionEndsDuringCreate_Curator48(t *testing.T) {
	cases := map[string]func(r *zktest.Rule) *zktest.Rule{
		"before it was applied": (*zktest.Rule).Before,
		"after it was applied":  (*zktest.Rule).After,
	}
	for name, phase := range cases {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a := w.Client("a")
				warm(w, a)
				old := a.Session().ID()
				phase(w.Server.On(zktest.OpCreate, path).Client("a")).Expire()
				attempt := w.Start(newMutex(t, a), 10*time.Second)
				got := attempt.Granted()
				require.Less(t, attempt.Took, 2*time.Second)
				require.NotEqual(t, old, ownerOf(w, got.Path()))
				require.Len(t, children(w), 1)
				require.NoError(t, got.Release())
			})
		})
	}
}

func TestOwnNodeMissingIsNotGranted_Curator307(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(newMutex(t, b))
		attempt := w.Start(newMutex(t, a), lease.Forever)
		require.Len(t, children(w), 2)
		before := children(w)
		for _, n := range before {
			if path+"/"+n != held.Path() {
				w.Remove(b, path+"/"+n)
			}
		}
		w.After(time.Second)
		require.True(t, attempt.Waiting())
		require.Len(t, children(w), 2, "it has joined again")
		require.NotEqual(t, before, children(w))
		require.NoError(t, held.Release())
		got := attempt.Granted()
		require.Greater(t, got.Token(), held.Token())
		require.NoError(t, got.Release())
	})
}

// The listing lacks the own node from the first.
func TestOwnNodeMissingFromFirstListing_Curator211(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		warm(w, b)
		// Between the create and the listing somebody deletes the node.
		late := w.Server.On(zktest.OpGetChildren2, path).Client("a").Delay(time.Second)
		attempt := w.Start(newMutex(t, a), lease.Forever)
		<-late.Fired()
		require.Len(t, children(w), 1)
		w.Remove(b, path+"/"+children(w)[0])
		other := w.Acquire(newMutex(t, b))
		w.After(2 * time.Second)
		require.True(t, attempt.Waiting())
		require.NoError(t, other.Err())
		require.NoError(t, other.Release())
		require.NoError(t, attempt.Granted().Release())
	})
}

// The own node and the one ahead both vanish while the waiter is disconnected:
// the news come in any order.
func TestOwnAndPredecessorVanishTogether_Curator211(t *testing.T) {
	for range 20 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			referee := &conformance.Referee{Places: 1}
			a, b, h := w.Client("a"), w.Client("b"), w.Client("h")
			held := w.Acquire(newMutex(t, h))
			attempt := w.Start(newMutex(t, a), lease.Forever)
			own := children(w)[1]
			if path+"/"+own == held.Path() {
				own = children(w)[0]
			}
			behind := w.Start(newMutex(t, b), lease.Forever)
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
			w.Settle()
			w.Remove(h, path+"/"+own)
			require.NoError(t, held.Release())
			got := behind.Granted()
			referee.Grant("b", got)
			// A little time between the two events, should they come in that order.
			w.Server.On(zktest.AnyOp, path+"/"+own).Client("a").OnEvent().Delay(100 * time.Millisecond)
			w.Server.RefuseConnections("a", false)
			for range 400 {
				w.After(time.Millisecond)
				if !attempt.Waiting() {
					referee.Grant("a", attempt.Granted())
					break
				}
			}
			require.Empty(t, referee.Faults())
			require.True(t, attempt.Waiting())
			require.NoError(t, got.Release())
			require.NoError(t, attempt.Granted().Release())
		})
	}
}

func TestFrozenNetworkLosesLeaseBeforeServerExpiresIt_Curator460(t *testing.T) {
	faults := map[string]func(w *conformance.World){
		"partition": func(w *conformance.World) { w.Server.Partition("a", true) },
		"stall":     func(w *conformance.World) { w.Server.Stall("a", true) },
		"mute": func(w *conformance.World) {
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if c.Client == "a" && c.Phase != zktest.PhaseExpire {
					return zktest.Mute
				}
				return zktest.Pass
			})
		},
		"refused": func(w *conformance.World) {
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
		},
	}
	for name, freeze := range faults {
		t.Run(name, func(t *testing.T) {
			for phase := range 10 { // of the time between two pings
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					referee := &conformance.Referee{Places: 1}
					a, b := w.Client("a"), w.Client("b")
					held := w.Acquire(newMutex(t, a))
					referee.Grant("a", held)
					attempt := w.Start(newMutex(t, b), lease.Forever)
					w.After(conformance.SessionTimeout + time.Duration(phase)*217*time.Millisecond)
					freeze(w)
					<-held.Context().Done()
					lost := time.Now()
					require.ErrorIs(t, context.Cause(held.Context()), lease.ErrLost)
					require.ErrorIs(t, context.Cause(held.Context()), framework.ErrSessionLost)
					got := attempt.Granted()
					referee.Grant("b", got)
					margin := time.Since(lost)
					if name != "refused" { // where the client comes back it gives the place away itself
						require.GreaterOrEqual(t, margin, conformance.SessionTimeout/6-50*time.Millisecond)
					}
					require.Positive(t, margin)
					require.ErrorIs(t, held.Release(), lease.ErrLost)
					require.NoError(t, got.Err())
					require.Empty(t, referee.Faults())
				})
			}
		})
	}
}

// The old connection's bytes come late, when a new session has been made.
func TestLateNewsOfOldSessionDoNoHarm_Curator525(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a", elsewhere(w, "a", "a, elsewhere"))
		held := w.Acquire(newMutex(t, a))
		w.Server.Stall("a", true)
		w.Server.RefuseConnections("a, elsewhere", true)
		<-held.Context().Done()
		w.Server.RefuseConnections("a, elsewhere", false)
		got := w.Start(newMutex(t, a), lease.Forever).Granted()
		w.After(time.Second)
		w.Server.Stall("a", false)
		w.After(5 * conformance.SessionTimeout)
		require.NoError(t, got.Err())
		require.Equal(t, framework.Connected, a.State())
		require.NoError(t, got.Release())
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	})
}

func TestAcquireWhileThereIsNoSession_Curator110(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		w.Server.RefuseConnections("a", true)
		w.Expire(a)
		w.Server.DropConnections("a")
		w.After(2 * conformance.SessionTimeout)
		attempt := w.Start(newMutex(t, a), lease.Forever)
		w.After(time.Minute)
		require.True(t, attempt.Waiting())
		w.Server.RefuseConnections("a", false)
		got := attempt.Granted()
		require.NoError(t, got.Err())
		require.NoError(t, got.Release())
	})
}

// Kazoo says "acquired" until it is told otherwise. Here the clock alone tells, at
// the very instant, before anything else may have had time to run: it is up to
// chance what runs first, so it is tried often.
func TestLeaseOfLostSessionIsNotValid_Kazoo15(t *testing.T) {
	for range 40 {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a := w.Client("a")
			held := w.Acquire(newMutex(t, a))
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
			w.After(conformance.SessionTimeout/3 - time.Second)
			require.NoError(t, held.Err(), "a broken connection alone does not end it")
			until := held.TrustedUntil()
			time.Sleep(time.Until(until) - time.Nanosecond)
			require.NoError(t, held.Err())
			time.Sleep(time.Nanosecond)
			require.ErrorIs(t, held.Err(), lease.ErrLost)
			require.ErrorIs(t, held.Err(), framework.ErrTrustExpired)
		})
	}
}
