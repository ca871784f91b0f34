package acquire_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A taking is an Acquirer with a taker of its own.
type taking struct {
	recipe acquire.Recipe
	taker  acquire.Taker
}

func takingBy(c *framework.Client, taker acquire.Taker) taking {
	return taking{acquire.Recipe{Client: c, Path: path, NotReentrant: true}, taker}
}

func (a taking) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	return a.recipe.Acquire(ctx, timeout, a.taker)
}

// pausing is InQueue, which calls at between the end of the wait and the start of the
// hold.
func pausing(c *framework.Client, at func(node string)) acquire.Taker {
	return func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		p, err := t.Await(ctx, mutexes(c), nil)
		if err != nil {
			return nil, err
		}
		grant := hold.Grant{Path: p.Path(), Permits: 1}
		if err := t.Rely(&grant); err != nil {
			return nil, err
		}
		if grant.Watch, err = p.DetachWatch(); err != nil {
			return nil, err
		}
		grant.Token, grant.RevocationRequested = lease.Token(p.Token()), p.RevocationRequested()
		at(p.Path())
		return t.Start(t.Work, grant), nil
	}
}

// A request for revocation that comes between the end of the wait and the start of the
// hold reaches the holder, also if a waiter of the same client has the watch set again.
func TestRevocationAtTheMomentOfTheGrant(t *testing.T) {
	for _, successor := range []bool{false, true} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("a"), w.Client("b")
			held := w.Acquire(takingBy(b, acquire.InQueue(mutexes(b))))
			at := w.Start(takingBy(a, pausing(a, func(node string) {
				_, err := b.Set(t.Context(), node, []byte("__REVOKE__"), framework.AnyVersion)
				require.NoError(t, err)
				<-time.After(time.Millisecond) // the event comes
			})), lease.Forever)
			w.After(time.Second)
			var next *conformance.Attempt
			if successor {
				next = w.Start(takingBy(a, acquire.InQueue(mutexes(a))), lease.Forever)
				w.After(time.Second)
			}
			require.NoError(t, held.Release())
			got := at.Granted()
			w.After(time.Second)
			require.True(t, conformance.Closed(got.RevocationRequested()), "successor %v", successor)
			require.NoError(t, got.Release())
			if successor {
				require.NoError(t, next.Granted().Release())
			}
		})
	}
}
