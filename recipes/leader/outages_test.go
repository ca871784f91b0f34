package leader_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// It begins to take part while there is no connection, or no session.
func TestBeginsAtAnyTime_Curator110_Curator72(t *testing.T) {
	for name, strike := range map[string]func(w *conformance.World, c *framework.Client){
		"suspended": func(w *conformance.World, _ *framework.Client) {
			w.Server.RefuseConnections("a", true)
			w.Server.DropConnections("a")
			w.Settle()
		},
		"lost": func(w *conformance.World, c *framework.Client) {
			w.Server.RefuseConnections("a", true)
			w.Expire(c)
			w.Server.DropConnections("a")
			w.After(3 * conformance.SessionTimeout)
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, o := w.Client("a"), newOffice()
				strike(w, a)
				lead(w, newElection(t, a, "a"), o.until("a", 0))
				w.After(time.Second)
				require.Empty(t, o.leaders())
				w.Heal()
				w.Server.RefuseConnections("a", false)
				o.next(t)
				require.Len(t, children(w), 1)
			})
		})
	}
}

// The whole ensemble is away for a moment, or for good.
func TestErrorPolicies_Curator(t *testing.T) {
	for _, stop := range []bool{false, true} {
		t.Run(fmt.Sprintf("stop on suspend %v", stop), func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				o := newOffice()
				a := w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = stop })
				lead(w, newElection(t, a, "a"), o.until("a", 0))
				term := o.next(t)
				w.After(time.Second)
				w.Server.Restart(true)
				w.After(time.Second)
				if !stop {
					require.NoError(t, term.Err(), "a short outage costs nothing")
					require.Len(t, o.leaders(), 1)
					return
				}
				require.ErrorIs(t, context.Cause(term.Context()), lease.ErrSuspended)
				o.next(t)
				o.check(t)
			})
		})
	}
}

// Errors of the framework that pass do not end Lead.
func TestCampaignFailsForAWhile(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		o := newOffice()
		a := w.Client("a", func(cfg *framework.Config) { cfg.Retry = retry.None() })
		refused := w.Server.On(zktest.OpCreate, path).Always().Fail(zktest.ThrottledOp)
		lead(w, newElection(t, a, "a"), o.until("a", 0))
		w.After(time.Minute)
		require.Empty(t, o.leaders())
		require.Less(t, w.Server.Count(zktest.OpCreate), 40)
		refused.Remove()
		o.next(t)

		ends := lead(w, newElection(t, w.Client("b", func(cfg *framework.Config) { cfg.Retry = retry.None() }), "b",
			leader.WithPace(retry.None())), o.until("b", 0))
		w.After(time.Second)
		require.True(t, ends.running())
		require.ErrorIs(t, ends.stop(), context.Canceled)
	})
}
