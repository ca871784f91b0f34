package leader_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Two calls for two candidates: one of them may find that its candidate is just
// stepping back, as the other has requested.
func TestNextForTwoCandidatesAtOnce(t *testing.T) {
	for i := range 6 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				q := newQueued(w, "a", "b", "c", "d")
				one, two := newElection(t, w.Client("one"), "one"), newElection(t, w.Client("two"), "two")
				for _, client := range []string{"b", "c", "d"} {
					w.Server.On(zktest.AnyOp, path).Client(client).Always().Optional().Delay(5 * time.Millisecond)
				}
				first := callNext(t.Context(), w, one, "d")
				w.After(time.Duration(i) * 3 * time.Millisecond)
				second := callNext(t.Context(), w, two, "b")
				<-first.done
				<-second.done
				w.Heal()
				for _, err := range []error{first.err, second.err} {
					require.True(t, err == nil || errors.Is(err, leader.ErrStepsBack) || errors.Is(err, leader.ErrNoCandidate), "%v", err)
				}
				require.True(t, first.err == nil || second.err == nil)
				require.NoError(t, q.term.Release())
				releaseAll(t, w, q.waiting["b"], q.waiting["c"], q.waiting["d"])
			})
		})
	}
}

// The leader that is returned is one.
func TestNextReturnsTheLeaderAsLeaderDoes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		q := newQueued(w, "a", "d")
		want, _, err := q.operator.Leader(t.Context())
		require.NoError(t, err)
		got, err := q.operator.MakeNext(t.Context(), "d")
		require.NoError(t, err)
		require.Equal(t, want, got)
		q.release("d")
	})
}

// The caller's client is closed, cut off, or pinned to a session that ends.
func TestNextEndsWithItsClient(t *testing.T) {
	for _, how := range []string{"closed", "pinned", "cut off", "expired"} {
		t.Run(how, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b, d := newElection(t, w.Client("a"), "a"), newElection(t, w.Client("b"), "b"), newElection(t, w.Client("d"), "d")
				c := w.Client("operator")
				view := c
				if how == "pinned" {
					view = c.In(c.Session())
				}
				operator := newElection(t, view, "operator")
				term := w.Acquire(a)
				second, named := w.Start(b, lease.Forever), w.Start(d, lease.Forever)
				w.After(time.Second)
				w.Server.Stall("b", true)
				over := errors.New("over")
				ctx, cancel := context.WithCancelCause(t.Context())
				n := callNext(ctx, w, operator, "d")
				w.After(time.Second)
				require.False(t, conformance.Closed(n.done))
				var want error
				switch how {
				case "closed":
					require.NoError(t, c.Close())
					want = framework.ErrClosed
				case "pinned":
					w.Expire(c)
					want = framework.ErrSessionLost
				case "cut off":
					w.Server.Partition("operator", true)
					w.After(time.Second)
					cancel(over)
					want = over
				case "expired":
					w.Expire(c)
				}
				w.After(time.Second)
				w.Server.Stall("b", false)
				<-n.done
				cancel(nil)
				require.ErrorIs(t, n.err, want)
				w.After(time.Second)
				require.NoError(t, term.Release())
				require.NoError(t, named.Granted().Release())
				require.NoError(t, second.Granted().Release())
			})
		})
	}
}
