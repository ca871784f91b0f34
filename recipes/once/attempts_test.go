package once_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Where a session lasts longer than the retention, an attempt may be repeated after its
// record was made, and removed as an old one. What goes with the record happens once.
func TestSessionLongerThanTheRetention(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		long := func(cfg *framework.Config) { cfg.SessionTimeout = 10 * time.Minute }
		retention := once.WithRetention(time.Minute)
		b := newJob(t, w.Client("b"), retention)
		require.NoError(t, b.Do(t.Context(), "first", nothing))
		c := w.Client("a", long)
		withEffects(t, c)
		a := newJob(t, c, retention)
		cut := w.Server.On(zktest.OpMulti, path).Client("a").After()
		cut.Cut()
		finished := make(chan error, 1)
		go func() { finished <- counted(t.Context(), a.Key("a")) }()
		<-cut.Fired()
		w.Server.RefuseConnections("a", true)
		w.After(90 * time.Second)
		do(t, w, b.Key("second")) // and removes the record of a
		require.Equal(t, []string{"second.key"}, w.Server.Children(done))
		w.Server.RefuseConnections("a", false)
		if err := <-finished; err != nil {
			require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		}
		require.Len(t, w.Server.Children(effects), 1)
	}, zktest.WithSessionTimeouts(time.Second, time.Hour))
}

// A server that closes the connection at each attempt, as it does for a request that is
// too large, gets few of them.
func TestServerHangsUpOnEachAttempt(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a", func(cfg *framework.Config) { cfg.MaxRequestBytes = 8 << 20 })
		r := newJob(t, c).Key("a")
		held := w.Acquire(r)
		w.Server.ResetCounts()
		began := time.Now()
		err := r.Record(t.Context(), held, framework.CreateOp("/large", make([]byte, 2<<20), framework.Persistent))
		require.ErrorIs(t, err, framework.ErrUnknownOutcome)
		require.Less(t, time.Since(began), 5*time.Second)
		require.Less(t, w.Server.Count(zktest.OpGetData), 20)
		require.Empty(t, w.Server.Children(done))
		require.NoError(t, held.Err())
		require.NoError(t, r.Record(t.Context(), held))
		require.NoError(t, held.Release())
	})
}

// Attempts are carried out, and none is answered until the lease is lost: the run is
// recorded once, and Record says that it may be.
func TestNoAttemptIsAnswered(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := withEffects(t, w.Client("a"))
		w.Server.On(zktest.OpMulti, path).Client("a").After().Always().Cut()
		require.ErrorIs(t, counted(t.Context(), j.Key("a")), framework.ErrUnknownOutcome)
		require.Len(t, w.Server.Children(effects), 1)
		require.Equal(t, []string{"a.key"}, w.Server.Children(done))
		require.NoError(t, counted(t.Context(), j.Key("a")))
		require.Len(t, w.Server.Children(effects), 1)
	})
}

// A context that ends because another run is recorded says nothing of this one.
func TestCauseIsTheRecordOfAnotherRun(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a")), newJob(t, w.Client("b"))
		require.NoError(t, a.Do(t.Context(), "other", nothing))
		other := w.Start(a.Key("other"), 0).Failed()
		require.ErrorIs(t, other, once.ErrRecorded)
		held := w.Acquire(b.Key("a"))
		attempt := w.Start(a.Key("a"), lease.Forever)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		finished := make(chan error, 1)
		go func() { finished <- a.Do(ctx, "a", nothing) }()
		w.Settle()
		cancel(other)
		require.ErrorIs(t, <-finished, other)
		require.True(t, attempt.Waiting())
		require.Equal(t, []string{"other.key"}, w.Server.Children(done))
		require.NoError(t, held.Release())
		w.Settle()
		require.NoError(t, attempt.Err)
		require.NoError(t, attempt.Lease.Release())
	})
}
