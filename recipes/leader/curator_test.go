package leader_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The server is slow to expire the leader's session: its old node is still the first
// when it comes back.
func TestOldNodeIsNotLedOn_Curator696(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, o := w.Client("a"), newOffice()
		lead(w, newElection(t, a, "a"), o.until("a", 0))
		lead(w, newElection(t, w.Client("b"), "b"), o.until("b", 0))
		first := o.next(t)
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
		<-first.Context().Done()
		w.After(5 * time.Second)
		require.NotEqual(t, old, a.Session().ID())
		require.Len(t, children(w), 3)
		require.Equal(t, []string{"a"}, o.leaders(), "the place is taken, if only by a session that nobody has")
		present, _, err := newElection(t, a, "a").Leader(t.Context())
		require.NoError(t, err)
		require.Equal(t, old, present.Session)
		second := o.next(t)
		require.Equal(t, []string{"a", "b"}, o.leaders())
		require.NoError(t, second.Confirm(t.Context()))
		o.check(t)
	})
}

// A waits, loses its session, and comes back to a server that lists its old node as
// the first, for ever.
func TestStaleListing_Curator620(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newForcedOffice(w)
		a := w.Client("a")
		held := w.Acquire(newElection(t, w.Client("holder"), "holder"))
		lead(w, newElection(t, a, "a"), o.until("a", 0))
		b := lead(w, newElection(t, w.Client("b"), "b"), o.until("b", 0))
		old := children(w)
		w.Server.RefuseConnections("a", true)
		w.Server.DropConnections("a")
		require.NoError(t, held.Release())
		w.Server.Lag("a", true)
		w.Expire(a)
		o.next(t)
		w.Server.RefuseConnections("a", false)
		w.After(2 * time.Second)
		require.Equal(t, []string{"b"}, o.leaders(), "the old node does not count")
		require.ErrorIs(t, b.stop(), context.Canceled)
		w.Server.Lag("a", false)
		term := o.next(t)
		require.Equal(t, []string{"b", "a"}, o.leaders())
		require.NotContains(t, old, term.Path()[len(path)+1:])
		o.check(t)
	})
}

// Whoever is not the first does not lead, whatever it was before: connections break
// in turn while leadership changes.
func TestNotFirstDoesNotLead_Curator653(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newForcedOffice(w)
		clients := map[string]*framework.Client{}
		for _, id := range []string{"a", "b", "c"} {
			clients[id] = w.Client(id)
			lead(w, newElection(t, clients[id], id), o.until(id, 50*time.Millisecond))
		}
		for i := range 30 {
			term := o.next(t)
			present, ok, err := newElection(t, clients["b"], "b").Leader(t.Context())
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, term.Path(), present.Path)
			who := present.Holder.Who
			switch i % 5 {
			case 0:
				w.Server.DropConnections("")
				w.Expire(clients[who])
			case 1:
				w.Expire(clients[who])
				w.Server.DropConnections("")
			case 2:
				w.Remove(clients[who], term.Path())
				w.Server.DropConnections(who)
			case 3:
				w.Server.DropConnections(who)
				w.After(time.Second)
				w.Remove(clients["b"], term.Path())
			case 4:
				w.Server.Restart(true)
				w.After(time.Second)
				w.Expire(clients[who])
			}
			w.Settle()
			if i%5 == 1 || i%5 == 4 {
				require.Eventually(t, func() bool { return term.Err() != nil }, time.Second, 10*time.Millisecond)
			}
		}
		o.check(t)
	})
}

// The node ahead goes after the listing: it looks again, at once, and does not join
// anew.
func TestNodeAheadVanishes_Curator644(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		first := w.Acquire(newElection(t, a, "first"))
		late := w.Server.On(zktest.OpGetData, first.Path()).Client("b").Before().Delay(time.Second)
		waiting := w.Start(newElection(t, w.Client("b"), "b"), lease.Forever)
		<-late.Fired()
		nodes := children(w)
		require.Len(t, nodes, 2)
		w.Server.ResetCounts()
		require.NoError(t, first.Release())
		term := waiting.Granted()
		require.Contains(t, nodes, term.Path()[len(path)+1:], "with the node it had")
		require.Zero(t, w.Server.Count(zktest.OpCreate))
		require.LessOrEqual(t, w.Server.Count(zktest.OpGetChildren2), 1)
		require.NoError(t, term.Release())
	})
}

// The path vanishes, with all nodes, while some lead and some wait.
func TestPathVanishes_Curator724(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newForcedOffice(w)
		for _, id := range []string{"a", "b", "c"} {
			lead(w, newElection(t, w.Client(id), id), o.until(id, 0))
		}
		operator := w.Client("operator")
		for range 5 {
			term := o.next(t)
			w.After(time.Second)
			require.NoError(t, operator.DeleteTree(t.Context(), "/services"))
			<-term.Context().Done()
			require.ErrorIs(t, context.Cause(term.Context()), lease.ErrDeleted)
		}
		o.next(t)
		w.After(time.Second)
		require.Len(t, children(w), 3, "all take part again")
		o.check(t)
	})
}

// The end comes while the create is under way.
func TestEndedDuringCreate_Curator18(t *testing.T) {
	for name, end := range map[string]struct {
		how    func(*framework.Client, *campaign)
		reason error
	}{
		"cancelled": {func(_ *framework.Client, c *campaign) { c.cancel(errWork) }, errWork},
		"closed":    {func(client *framework.Client, _ *campaign) { _ = client.Close() }, framework.ErrClosed},
	} {
		for moment, phase := range map[string]func(*zktest.Rule) *zktest.Rule{"request": (*zktest.Rule).Before, "reply": (*zktest.Rule).After} {
			t.Run(name+", "+moment, func(t *testing.T) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					a, o := w.Client("a"), newOffice()
					require.NoError(t, w.Acquire(newElection(t, a, "a")).Release())
					late := phase(w.Server.On(zktest.OpCreate, path)).Delay(time.Second)
					c := lead(w, newElection(t, a, "a"), o.until("a", 0))
					<-late.Fired()
					end.how(a, c)
					require.ErrorIs(t, c.result(), end.reason)
					w.After(2 * conformance.SessionTimeout) // a close that is not answered in time leaves it to the server
					require.Empty(t, children(w))
					require.Empty(t, o.leaders())
				})
			})
		}
	}
}

// Whatever resets a participant, it has one node at most.
func TestOneNodeEach_Curator45Netflix257(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newForcedOffice(w)
		clients := []*framework.Client{w.Client("a"), w.Client("b")}
		for i, id := range []string{"a", "b"} {
			lead(w, newElection(t, clients[i], id), o.until(id, 0))
		}
		for i := range 20 {
			rule := w.Server.On(zktest.OpCreate, path).Client([]string{"a", "b"}[i%2])
			if i%4 < 2 {
				rule.After().Cut()
			} else {
				rule.Before().Expire()
			}
			w.Expire(clients[i%2])
			w.After(2 * time.Second)
			perSession := map[int64]int{}
			for _, node := range children(w) {
				info, ok := w.Server.Node(path + "/" + node)
				require.True(t, ok)
				perSession[info.EphemeralOwner]++
			}
			require.Equal(t, map[int64]int{clients[0].Session().ID(): 1, clients[1].Session().ID(): 1}, perSession)
		}
		o.check(t)
	})
}

// What identifies a term does not change under those who use it.
func TestTokenIsThatOfTheGrant_Curator537(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, o := w.Client("a"), newForcedOffice(w)
		lead(w, newElection(t, a, "a"), o.until("a", 0))
		first := o.next(t)
		token, node, check := first.Token(), first.Path(), first.Check()
		guarded := framework.CreateOp("/written", nil, framework.Persistent, nil)
		w.Expire(a)
		second := o.next(t)
		require.Equal(t, token, first.Token())
		require.Equal(t, node, first.Path())
		require.Greater(t, second.Token(), token)
		_, err := a.Multi(t.Context(), check, guarded)
		require.ErrorIs(t, err, framework.ErrNoNode, "a write under the old term is refused")
		_, err = a.Multi(t.Context(), second.Check(), guarded)
		require.NoError(t, err)
	})
}

// After any loss it leads again.
func TestLeadsAgainAfterAnyLoss_Curator16_Curator54_Curator73_Curator104(t *testing.T) {
	losses := map[string]func(w *conformance.World, c *framework.Client, term *lease.Lease){
		"expired": func(w *conformance.World, c *framework.Client, _ *lease.Lease) { w.Expire(c) },
		"deleted": func(w *conformance.World, c *framework.Client, term *lease.Lease) { w.Remove(c, term.Path()) },
		"revoked": func(w *conformance.World, c *framework.Client, term *lease.Lease) {
			require.NoError(w.T, lease.Revoke(w.T.Context(), c, term.Path()))
		},
		"partitioned": func(w *conformance.World, _ *framework.Client, _ *lease.Lease) {
			w.Server.Partition("a", true)
			w.After(3 * conformance.SessionTimeout)
			w.Server.Partition("a", false)
		},
		"state lost": func(w *conformance.World, _ *framework.Client, _ *lease.Lease) { w.Server.Restart(false) },
		"moved and expired": func(w *conformance.World, c *framework.Client, _ *lease.Lease) {
			w.Server.DropConnections("a")
			w.Expire(c)
		},
	}
	for name, strike := range losses {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, o := w.Client("a"), newForcedOffice(w)
				leading := lead(w, newElection(t, a, "a"), func(ctx context.Context, term *lease.Lease) error {
					if name == "state lost" { // also the one that makes tokens grow
						o.terms <- term
						<-ctx.Done()
						return ctx.Err()
					}
					return o.until("a", 10*time.Millisecond)(ctx, term)
				})
				for range 4 {
					term := o.next(t)
					w.After(time.Second)
					strike(w, a, term)
				}
				o.next(t)
				require.ErrorIs(t, leading.stop(), context.Canceled)
				require.Empty(t, children(w))
				o.check(t)
			})
		})
	}
}

// Cancelled at every moment between the campaign and the resignation, it neither
// begins a term later nor leaves anything.
func TestCancelledAtEveryMoment_Curator518(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && (c.Phase == zktest.PhaseBeforeApply || c.Phase == zktest.PhaseAfterApply) {
				return zktest.Delay(5 * time.Millisecond)
			}
			return zktest.Pass
		})
		o := newOffice()
		for after := time.Duration(0); after < 80*time.Millisecond; after += time.Millisecond {
			held := w.Acquire(newElection(t, b, "b"))
			c := lead(w, newElection(t, a, "a"), o.until("a", 0))
			time.AfterFunc(30*time.Millisecond, func() { _ = held.Release() })
			w.After(after)
			c.cancel(nil)
			require.ErrorIs(t, c.result(), context.Canceled)
			n := len(o.leaders())
			w.After(200 * time.Millisecond)
			require.Empty(t, children(w), "after %v", after)
			require.Len(t, o.leaders(), n)
		}
		require.NotEmpty(t, o.leaders())
		require.Less(t, len(o.leaders()), 60)
		o.check(t)
	})
}

// The session ends between the grant and the call of the function: it is not called,
// or with a context that has ended.
func TestRaceAtStateChanged_Curator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		e := newElection(t, a, "a")
		require.NoError(t, w.Acquire(e).Release())
		for n := 1; n <= 8; n++ {
			for _, op := range []zktest.Op{zktest.OpCreate, zktest.OpGetChildren2, zktest.OpGetData} {
				rule := w.Server.On(op, path).Client("a").After().Nth(n)
				rule.Expire()
				ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errWork)
				terms := 0
				err := e.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
					terms++
					if term.Err() != nil && ctx.Err() == nil {
						t.Error("the term is over and the context is not")
					}
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
					}
					return nil
				})
				cancel()
				require.ErrorIs(t, err, errWork)
				require.Positive(t, terms)
				rule.Remove()
				w.After(time.Second)
			}
		}
	})
}
