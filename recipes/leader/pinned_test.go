package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A view that is pinned to a session cannot go on in the next one.
func TestClientPinnedToASession(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		e := newElection(t, c.In(c.Session()), "a")
		o := newForcedOffice(w)
		leading := lead(w, e, o.until("a", 0))
		look := observe(w, e, nil)
		o.next(t)
		w.Expire(c)
		require.ErrorIs(t, leading.result(), framework.ErrSessionLost)
		<-look.done
		require.ErrorIs(t, look.err, framework.ErrSessionLost)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := e.Acquire(ctx, lease.Forever)
		require.ErrorIs(t, err, framework.ErrSessionLost)
	})
}
