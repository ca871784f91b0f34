package hold_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

const rest = 30 * time.Second

func resting(t *testing.T, c *framework.Client, path string, opts ...mutex.Option) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(c, path, append([]mutex.Option{mutex.WithMinHold(rest)}, opts...)...)
	require.NoError(t, err)
	return m
}

// releasing releases in another goroutine.
func releasing(w *conformance.World, l *lease.Lease) (done chan struct{}, err *error) {
	done, err = make(chan struct{}), new(error)
	go func() {
		defer close(done)
		*err = l.Release()
	}()
	w.Settle()
	return done, err
}

// The znode of a slot that was released, and rests, is deleted. The lease was valid
// until it was released.
func TestDeletionOfASlotThatRests(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(resting(t, a, "/lock"))
		done, err := releasing(w, held)
		w.After(time.Second)
		w.Remove(w.Client("operator"), held.Path())
		w.After(rest)
		<-done
		require.NoError(t, *err)
	})
}

// The session ends while a slot rests.
func TestEndOfTheSessionWhileASlotRests(t *testing.T) {
	for name, end := range map[string]func(w *conformance.World, a *framework.Client){
		"expired": func(w *conformance.World, a *framework.Client) { w.Expire(a) },
		"closed":  func(_ *conformance.World, a *framework.Client) { _ = a.Close() },
		"cut off": func(w *conformance.World, _ *framework.Client) {
			w.Server.Partition("a", true)
			w.After(2 * conformance.SessionTimeout)
			w.Server.Partition("a", false)
		},
		"broken": func(w *conformance.World, _ *framework.Client) { w.Server.DropConnections("a") },
	} {
		for _, grace := range []time.Duration{0, time.Hour} {
			for _, async := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
						a := w.Client("a", func(cfg *framework.Config) { cfg.CloseGrace = grace })
						held := w.Acquire(resting(t, a, "/lock"))
						granted := time.Now()
						done, err := make(chan struct{}), new(error)
						if async {
							require.NoError(t, held.ReleaseAsync())
							close(done)
						} else {
							done, err = releasing(w, held)
						}
						w.After(time.Second)
						began := time.Now()
						end(w, a)
						require.Less(t, time.Since(began), 13*time.Second)
						w.After(7 * time.Second)
						if name == "broken" {
							require.NotEmpty(t, w.Ephemerals("/lock"))
							w.After(rest - time.Since(granted) - time.Second)
							require.NotEmpty(t, w.Ephemerals("/lock"))
							w.After(2 * time.Second)
						}
						require.True(t, conformance.Closed(done), "Release hangs")
						require.NoError(t, *err)
						require.Empty(t, w.Ephemerals("/lock"))
					})
				})
			}
		}
	}
}

// Slots of a multi-lock rest at the same time; forks and re-entry do not make it
// longer.
func TestSeveralClaimsOnASlotThatRests(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		x, y := resting(t, a, "/x"), resting(t, a, "/y")
		m, err := multilock.New([]lease.Acquirer{x, y})
		require.NoError(t, err)
		held := w.Acquire(m)
		again := w.StartWith(held.Context(), x, time.Minute).Granted()
		forks := w.StartWith(lease.Fork(held.Context()), y, time.Minute).Granted()
		began := time.Now()
		done, failed := releasing(w, held)
		require.True(t, conformance.Closed(done))
		require.NoError(t, *failed)
		var both sync.WaitGroup
		both.Go(func() { assert.NoError(t, again.Release()) })
		both.Go(func() { assert.NoError(t, forks.Release()) })
		both.Wait()
		require.Equal(t, rest, time.Since(began).Round(time.Second))
		w.Acquire(resting(t, b, "/x"))
		w.Acquire(resting(t, b, "/y"))
	})
}

// Lead ends soon when its context does, as it has to before a client is closed.
func TestLeadEndsSoonWithAMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		e, err := leader.New(a, "/lead", leader.WithMinHold(time.Hour))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = e.Lead(ctx, func(ctx context.Context, _ *lease.Lease) error {
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		w.After(time.Second)
		cancel()
		w.After(10 * time.Second)
		assert.True(t, conformance.Closed(done), "Lead waits for the rest of the minimum hold time")
		require.NoError(t, a.Close())
		<-done
	})
}

// A hold that is lost just as it is released does not rest.
func TestALostHoldDoesNotRest(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(resting(t, a, "/lock", mutex.WithMaxHold(rest)))
		w.After(rest)
		began := time.Now()
		require.ErrorIs(t, held.Release(), lease.ErrMaxHold)
		require.Less(t, time.Since(began), time.Second)
	})
}

// While a slot rests a connection breaks at the delete.
func TestTheDeleteAfterARestBreaks(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		held := w.Acquire(resting(t, a, "/lock"))
		w.Server.On(zktest.OpDelete, held.Path()).Before().Cut()
		done, err := releasing(w, held)
		w.After(rest + 3*time.Second)
		require.True(t, conformance.Closed(done))
		require.NoError(t, *err)
		require.Empty(t, w.Ephemerals("/lock"))
	})
}
