package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A candidate that is not the head does not lead, whatever it was before: connections
// break one after the other while leadership changes.
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

// After any loss the candidate leads again.
func TestLeadsAgainAfterAnyLoss_Curator16_Curator54_Curator73_Curator104(t *testing.T) {
	losses := map[string]func(w *conformance.World, c *framework.Client, term *lease.Lease){
		"expired": func(w *conformance.World, c *framework.Client, _ *lease.Lease) { w.Expire(c) },
		"deleted": func(w *conformance.World, c *framework.Client, term *lease.Lease) { w.Remove(c, term.Path()) },
		"revoked": func(w *conformance.World, c *framework.Client, term *lease.Lease) {
			require.NoError(w.T, lease.RequestRevocation(w.T.Context(), c, term.Path()))
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
					if name == "state lost" { // also the zxid, so tokens need not grow
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

// Lead, cancelled at each moment between campaign and resignation, neither begins a
// term later nor leaves a node.
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

// The session ends between the grant and the call of the function: it is not called, or
// with a context that has ended.
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

// A LeaderLatch of Curator watches the node ahead of it for one change: after a change
// of its data it would not notice that the leader has resigned. So no request is
// written into that node, while there is such a candidate directly behind it.
func TestRevocationAheadOfALatchOfCurator(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		term := w.Acquire(newElection(t, w.Client("a"), "a"))
		operator, java := w.Client("operator"), w.Client("java")
		latch, err := java.Create(t.Context(), path+"/_c_01234567-89ab-4def-8123-456789abcdef-latch-", []byte("java1"), framework.EphemeralSequential)
		require.NoError(t, err)
		behind := w.Start(newElection(t, w.Client("b"), "b"), lease.Forever)
		before, _ := w.Server.Node(term.Path())
		err = lease.RequestRevocation(t.Context(), operator, term.Path())
		require.ErrorIs(t, err, lease.ErrCuratorBehind)
		after, _ := w.Server.Node(term.Path())
		require.Equal(t, before, after)
		require.False(t, conformance.Closed(term.RevocationRequested()))
		w.Remove(java, latch.Path)
		require.NoError(t, lease.RequestRevocation(t.Context(), operator, term.Path()))
		w.Settle()
		require.True(t, conformance.Closed(term.RevocationRequested()))
		require.NoError(t, term.Release())
		require.NoError(t, behind.Granted().Release())
	})
}

// A write that is repeated after an outage is checked anew.
func TestRevocationIsCheckedAgainWithEachWrite(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		term := w.Acquire(newElection(t, w.Client("a"), "a"))
		writer, java := w.Client("writer"), w.Client("java")
		w.Server.On(zktest.OpSetData, term.Path()).Client("writer").Before().Cut()
		again := w.Server.On(zktest.OpGetData, term.Path()).Client("writer").Nth(2).Before().Delay(300 * time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- lease.RequestRevocation(t.Context(), writer, term.Path()) }()
		<-again.Fired()
		_, err := java.Create(t.Context(), path+"/_c_01234567-89ab-4def-8123-456789abcdef-latch-", []byte("java1"), framework.EphemeralSequential)
		require.NoError(t, err)
		require.ErrorIs(t, <-done, lease.ErrCuratorBehind)
		require.NoError(t, term.Release())
	})
}

// Who may not list the candidates cannot know who is behind the leader.
func TestRevocationWithoutPermissionToListTheCandidates(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		term := w.Acquire(newElection(t, w.Client("a"), "a"))
		operator := w.Client("operator")
		w.Server.On(zktest.OpGetChildren2, path).Client("operator").Before().Fail(zktest.NoAuth)
		err := lease.RequestRevocation(t.Context(), operator, term.Path())
		require.ErrorIs(t, err, framework.ErrNoAuth)
		require.ErrorContains(t, err, "list the candidates behind it")
		w.Settle()
		require.False(t, conformance.Closed(term.RevocationRequested()))
		require.NoError(t, term.Release())
	})
}
