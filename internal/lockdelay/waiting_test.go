package lockdelay_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// While a request for permits waits for the delay the semaphore is resized.
func TestResizeWhileARequestWaitsForTheDelay(t *testing.T) {
	for _, row := range []struct {
		size, weight, to int
		want             error
	}{{1, 1, 2, nil}, {2, 2, 1, semaphore.ErrTooMany}} {
		t.Run(fmt.Sprintf("from %d to %d", row.size, row.to), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				of := func(name string) *semaphore.Semaphore {
					s, err := semaphore.New(w.Named(name), path, row.size, semaphore.WithSingleQueue(), semaphore.WithLockDelay(delay))
					require.NoError(t, err)
					return s
				}
				w.Acquire(of("a"))
				kill(w, "a", w.Named("a"))
				next := w.Start(of("b").Weight(row.weight), time.Hour)
				w.After(time.Second)
				require.True(t, next.Waiting())
				require.NoError(t, of("b").Resize(t.Context(), row.to))
				w.After(time.Second)
				require.False(t, next.Waiting(), "the new size is not noticed before the delay has passed")
				if row.want != nil {
					require.ErrorIs(t, next.Failed(), row.want)
				} else {
					next.Granted()
				}
			})
		})
	}
}

// A run is recorded by hand while a call waits for the delay.
func TestRunIsRecordedWhileACallWaitsForTheDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		of := func(name string) *once.Run {
			j, err := once.New(w.Named(name), "/job", once.WithLockDelay(delay))
			require.NoError(t, err)
			return j.Key("k")
		}
		w.Acquire(of("a"))
		kill(w, "a", w.Named("a"))
		next := w.Start(of("b"), time.Hour)
		w.After(time.Second)
		require.True(t, next.Waiting())
		_, err := w.Named("operator").Create(t.Context(), "/job/done/k.key", nil, framework.Persistent)
		require.NoError(t, err)
		w.After(time.Second)
		require.False(t, next.Waiting(), "the record is not noticed before the delay has passed")
		require.ErrorIs(t, next.Failed(), once.ErrRecorded)
	})
}

// A process is killed when it has recorded a run and has not released it yet. Nobody
// acquires that run any more: what it has left goes all the same.
func TestNothingIsLeftOfARunWhoseProcessWasKilledAfterItsRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		of := func(c *framework.Client) *once.Job {
			j, err := once.New(c, "/job", once.WithLockDelay(delay), once.WithRetention(time.Hour))
			require.NoError(t, err)
			return j
		}
		for i := range 3 {
			c := w.Client(fmt.Sprint("a", i))
			run := of(c).Key(fmt.Sprint("k", i))
			held := w.Acquire(run)
			require.NoError(t, run.Record(t.Context(), held))
			kill(w, fmt.Sprint("a", i), c)
		}
		w.Heal()
		b := w.Client("b")
		for i := range 3 { // everybody looks
			require.ErrorIs(t, w.Start(of(b).Key(fmt.Sprint("k", i)), time.Second).Failed(), once.ErrRecorded)
		}
		w.After(2 * time.Hour)
		require.NoError(t, of(b).Key("other").Do(t.Context(), func(context.Context, *lease.Lease) error { return nil }))
		w.After(10 * time.Minute)
		var left []string
		for _, child := range w.Server.Children("/job") {
			if strings.HasPrefix(child, "k") {
				left = append(left, child)
			}
		}
		require.Empty(t, left, "queues of finished runs that stay for ever")
	})
}

// A call waits at one stripe, which is held. That it has seen another one closed for a
// lock-delay is not why it has failed.
func TestErrorIsAboutTheStripeWhereTheCallWaited(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		of := func(name string) *striped.Locks {
			l, err := striped.New(w.Named(name), "/stripes", 2, striped.WithLockDelay(time.Hour))
			require.NoError(t, err)
			return l
		}
		anyOf := func(name string) *lease.Lease {
			l, _, err := of(name).AcquireAny(t.Context(), time.Minute)
			require.NoError(t, err)
			return l
		}
		anyOf("a")
		kill(w, "a", w.Named("a"))
		anyOf("b")
		for _, name := range []string{"c", "d"} { // each begins at another stripe
			_, _, err := of(name).AcquireAny(t.Context(), 5*time.Second)
			late := (*lease.TimeoutError)(nil)
			require.ErrorAs(t, err, &late)
			if late.Ahead > 0 {
				assert.NotErrorIs(t, err, lease.ErrLockDelay, "%d ahead", late.Ahead)
			} else {
				assert.ErrorIs(t, err, lease.ErrLockDelay)
			}
		}
	})
}

// A contender waits for a holder, and then for the delay after its end. Nobody is ahead
// then.
func TestErrorOfAWaitForTheDelay(t *testing.T) {
	inWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		held := w.Acquire(delayed(t, a, mutex.WithHolder("the killed one")))
		late := w.Start(delayed(t, b), 10*time.Second)
		w.After(2 * time.Second)
		kill(w, "a", a)
		err := (*lease.TimeoutError)(nil)
		require.ErrorAs(t, late.Failed(), &err)
		require.ErrorIs(t, err, lease.ErrLockDelay)
		assert.Zero(t, err.Ahead)
		assert.Equal(t, "the killed one", err.Holder.Who)
		assert.NotContains(t, err.Error(), "held by", "nobody holds it")
		_ = held
	})
}

// All locks of a multi-lock are closed, because a process that had it was killed. It
// waits for one after the other.
func TestAMultiLockWaitsForTheDelays(t *testing.T) {
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *conformance.World) {
				of := func(name string) *multilock.Lock {
					var all []lease.Acquirer
					for i := range n {
						m, err := mutex.New(w.Named(name), fmt.Sprint("/lock", i), mutex.WithLockDelay(delay))
						require.NoError(t, err)
						all = append(all, m)
					}
					l, err := multilock.New(all)
					require.NoError(t, err)
					return l
				}
				w.Acquire(of("a"))
				kill(w, "a", w.Named("a"))
				next := w.Start(of("b"), time.Hour)
				next.Granted()
				require.InDelta(t, time.Duration(n)*delay, next.Took, float64(n)*float64(2*time.Second))
			})
		})
	}
}
