package semaphore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestSizeIsStoredByTheFirst(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := make(w.Client("a"), 3)
		size, err := a.Size(t.Context())
		require.NoError(t, err)
		require.Equal(t, 3, size)
		_, ok := w.Server.Node(path)
		require.False(t, ok, "a look stores nothing")
		require.ErrorIs(t, w.Start(make(w.Client("b"), 0), time.Second).Failed(), semaphore.ErrNoSize)
		w.Settle()
		require.Empty(t, contenders(w))
		release(w, w.Acquire(a))
		require.Equal(t, bytes(3), stored(w))
	})
}

func TestSizeIsAdopted(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := w.Client("a"), make(w.Client("b"), 0)
		for _, ask := range []func() error{
			func() error { _, err := b.Acquire(t.Context(), 0); return err },
			func() error { _, err := b.Size(t.Context()); return err },
			func() error { _, err := b.Available(t.Context()); return err },
		} {
			require.ErrorIs(t, ask(), semaphore.ErrNoSize)
		}
		held := take(w, make(a, 2), 1)
		got := w.Acquire(b)
		require.ErrorIs(t, w.Start(b, 0).Failed(), lease.ErrTimeout)
		release(w, held, got)
	})
}

func TestSizeMismatchIsReported(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		held := take(w, make(w.Client("a"), 3), 3)
		other := make(w.Client("b"), 5)
		want := path + ": the number of permits differs from the one stored at the path: 5 given, 3 stored"
		for _, timeout := range []time.Duration{0, time.Hour} {
			at := w.Start(other, timeout)
			err := at.Failed()
			require.ErrorIs(t, err, semaphore.ErrSizeMismatch)
			require.EqualError(t, err, "acquire "+want)
			require.Zero(t, at.Took, "at once, although nothing is free")
		}
		_, err := other.Size(t.Context())
		require.EqualError(t, err, "size of "+want)
		w.Settle()
		require.Equal(t, bytes(3), stored(w))
		release(w, held)
		require.ErrorIs(t, w.Start(other, time.Hour).Failed(), semaphore.ErrSizeMismatch)
		w.Settle()
		require.Empty(t, contenders(w))
	})
}

// Of two clients with different numbers that come first at the same time, one gets the
// error.
func TestDifferentSizesAtTheSameTime(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 2), make(w.Client("b"), 3)
		refused := 0
		for _, at := range []*conformance.Attempt{w.Begin(t.Context(), a, time.Hour), w.Begin(t.Context(), b, time.Hour)} {
			<-at.Done()
			if at.Err != nil {
				refused++
				require.ErrorIs(t, at.Err, semaphore.ErrSizeMismatch)
			} else {
				release(w, at.Lease)
			}
		}
		require.Equal(t, 1, refused)
	})
}

// All waiting clients see a change at once, not only the head.
func TestResizeAdmitsWaiters_Curator75(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 1), make(w.Client("b"), 1)
		held := w.Acquire(a)
		var attempts []*conformance.Attempt
		for i := range 10 {
			attempts = append(attempts, ask(w, []*semaphore.Semaphore{a, b}[i%2], 1))
		}
		w.After(time.Second)
		for size := 2; size < 10; size++ {
			require.NoError(t, b.Resize(t.Context(), size))
			w.Settle()
			for i, at := range attempts {
				require.Equal(t, i >= size-1, at.Waiting(), "%d of %d", i, size)
			}
		}
		release(w, held)
		for _, at := range attempts {
			release(w, at.Granted())
		}
	})
}

// Java's SharedCount is the same number.
func TestResizeByAnotherProgram_Curator75(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		c, java := w.Client("a"), w.Client("java")
		s := make(c, 1)
		held := w.Acquire(s)
		at := ask(w, s, 1)
		_, err := java.Set(t.Context(), path, bytes(2), framework.AnyVersion)
		require.NoError(t, err)
		got := at.Granted()
		require.Zero(t, at.Took)
		for _, none := range []int32{0, -5} {
			_, err = c.Set(t.Context(), path, bytes(none), framework.AnyVersion)
			require.NoError(t, err)
			require.ErrorContains(t, w.Start(s, time.Hour).Failed(), "1 asked for, 0 in all")
		}
		require.NoError(t, got.Err())
		release(w, held, got)
	})
}

// No holder loses a permit, and no waiter gets one too early.
func TestResizeToFewer(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		s := make(w.Client("a"), 4)
		var held []*lease.Lease
		for range 4 {
			held = append(held, w.Acquire(s))
		}
		at := ask(w, s, 1)
		require.NoError(t, s.Resize(t.Context(), 2))
		for i, l := range held {
			require.True(t, at.Waiting(), "%d released", i)
			for _, l := range held[i:] {
				require.NoError(t, l.Err())
				require.NoError(t, l.Confirm(t.Context()))
			}
			if i == 3 {
				break
			}
			release(w, l)
			if i == 2 {
				break
			}
		}
		got := at.Granted()
		require.ErrorIs(t, w.Start(s, 0).Failed(), lease.ErrTimeout)
		release(w, held[3], got)
	})
}

// A request for more than the new size fails, at the head of the queue or not, and
// those behind go on.
func TestResizeMakesItTooMany(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 4), make(w.Client("b"), 4)
		held := take(w, a, 2)
		first, second, third, fourth := ask(w, b, 4), ask(w, a, 2), ask(w, b, 3), ask(w, a, 1)
		w.After(time.Second)
		require.NoError(t, a.Resize(t.Context(), 2))
		for _, at := range []*conformance.Attempt{first, third} {
			require.ErrorIs(t, at.Failed(), semaphore.ErrTooMany)
			require.Less(t, at.Took, 1100*time.Millisecond)
		}
		require.True(t, second.Waiting())
		release(w, held)
		got := second.Granted()
		require.True(t, fourth.Waiting())
		release(w, got)
		release(w, fourth.Granted())
	})
}

func TestResizeWhoseOutcomeIsUnknown(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{"before": (*zktest.Rule).Before, "after": (*zktest.Rule).After} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				s := newSemaphore(t, w.Client("a"), 2)
				warm(w, s)
				aim(w.Server.On(zktest.OpSetData, path)).Cut()
				require.NoError(t, s.Resize(t.Context(), 3))
				require.Equal(t, bytes(3), stored(w))
				aim(w.Server.On(zktest.OpSetData, path)).Expire()
				require.NoError(t, s.Resize(t.Context(), 5))
				require.Equal(t, bytes(5), stored(w))
				// And the caller leaves.
				aim(w.Server.On(zktest.OpSetData, path)).Delay(time.Second)
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errStopped)
				defer cancel()
				err := s.Resize(ctx, 6)
				require.ErrorIs(t, err, errStopped)
				require.ErrorIs(t, err, framework.ErrUnknownOutcome)
				require.ErrorContains(t, err, "resize "+path+" to 6 permits: ")
				w.After(time.Second)
				// And with no server for a while.
				aim(w.Server.On(zktest.OpSetData, path)).Cut()
				w.Server.RefuseConnections("a", true)
				at := make(chan error)
				go func() { at <- s.Resize(t.Context(), 4) }()
				w.After(time.Second)
				w.Heal()
				require.NoError(t, <-at)
				require.Equal(t, bytes(4), stored(w))
			})
		})
	}
}

func TestFirstSizeWhoseOutcomeIsUnknown(t *testing.T) {
	for name, aim := range map[string]func(*zktest.Rule) *zktest.Rule{"before": (*zktest.Rule).Before, "after": (*zktest.Rule).After} {
		t.Run(name, func(t *testing.T) {
			inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
				aim(w.Server.On(zktest.OpSetData, path)).Cut()
				held := w.Acquire(make(w.Client("a"), 2))
				require.Equal(t, bytes(2), stored(w))
				require.Len(t, contenders(w), 1)
				release(w, held)
			})
		})
	}
}

// The last of several counts, and all return.
func TestResizesAtTheSameTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		results := make(chan error)
		for i := range 8 {
			s := newSemaphore(t, w.Client(fmt.Sprint(i)), 3)
			go func() { results <- s.Resize(t.Context(), i+1) }()
		}
		for range 8 {
			require.NoError(t, <-results)
		}
		require.Contains(t, [][]byte{bytes(1), bytes(2), bytes(3), bytes(4), bytes(5), bytes(6), bytes(7), bytes(8)}, stored(w))
	})
}

// A container takes the size with it when it goes; a persistent node keeps it.
func TestSizeOfAnIdlePath(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a := w.Client("a")
		s := make(a, 2)
		warm(w, s)
		require.NoError(t, s.Resize(t.Context(), 5))
		w.After(5 * time.Minute)
		_, ok := w.Server.Node(path)
		require.False(t, ok)
		release(w, w.Acquire(make(w.Client("b"), 3)))
		require.Equal(t, bytes(3), stored(w))
		release(w, take(w, s, 3)) // which follows what is stored
		w.After(5 * time.Minute)

		require.NoError(t, a.CreateParents(t.Context(), path))
		_, err := a.Create(t.Context(), path, nil, framework.Persistent)
		require.NoError(t, err)
		require.NoError(t, s.Resize(t.Context(), 7))
		warm(w, s)
		w.After(5 * time.Minute)
		require.Equal(t, bytes(7), stored(w))
	})
}

func TestResizeCreatesThePath(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		require.NoError(t, make(w.Client("a"), 2).Resize(t.Context(), 4))
		require.Equal(t, bytes(4), stored(w))
		require.ErrorIs(t, w.Start(make(w.Client("b"), 2), 0).Failed(), semaphore.ErrSizeMismatch)
		held := take(w, make(w.Client("c"), 0), 4)
		release(w, held)
	})
}

// Both layouts on one path would grant the permits twice.
func TestLayoutsDoNotMix(t *testing.T) {
	single := semaphore.WithSingleQueue()
	for name, opts := range map[string][2][]semaphore.Option{
		"Curator's first": {nil, {single}}, "a single queue first": {{single}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := newSemaphore(t, w.Client("a"), 2, opts[0]...), newSemaphore(t, w.Client("b"), 2, opts[1]...)
				held := w.Acquire(a)
				for _, timeout := range []time.Duration{0, time.Hour} {
					err := w.Start(b, timeout).Failed()
					require.ErrorIs(t, err, semaphore.ErrOtherLayout)
				}
				w.Settle()
				require.Len(t, contenders(w), 1)
				release(w, held)
				w.After(5 * time.Minute) // then the path is idle
				release(w, w.Acquire(b))
			})
		})
	}
}

func TestResizeOfAClosedClient(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("a")
		s := newSemaphore(t, a, 2)
		require.NoError(t, a.Close())
		require.ErrorIs(t, s.Resize(t.Context(), 3), framework.ErrClosed)
		_, err := s.Size(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = s.Available(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
		_, err = s.Contenders(t.Context())
		require.ErrorIs(t, err, framework.ErrClosed)
		require.ErrorIs(t, w.Start(s, time.Hour).Failed(), framework.ErrClosed)
	})
}

// The size shrinks, a permit is returned, and both events reach a waiter at the same
// moment: the old size must not decide.
func TestResizeAndReturnAtTheSameTime(t *testing.T) {
	inLayouts(t, func(t *testing.T, w *conformance.World, make maker) {
		a, b := make(w.Client("a"), 2), make(w.Client("b"), 2)
		for range 30 {
			held := []*lease.Lease{w.Acquire(a), w.Acquire(a)}
			at := ask(w, b, 1)
			w.After(time.Second)
			w.Server.Stall("b", true)
			require.NoError(t, a.Resize(t.Context(), 1))
			require.NoError(t, held[0].Release())
			w.Server.Stall("b", false)
			w.After(time.Second)
			require.True(t, at.Waiting())
			release(w, held[1])
			release(w, at.Granted())
			require.NoError(t, a.Resize(t.Context(), 2))
		}
	})
}

// The size that decides is not older than the listing that it is compared with: after
// Resize has returned no permit is granted by the size that it replaced.
func TestResizeWhileTheQueueIsListed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := newSemaphore(t, w.Client("a"), 3, semaphore.WithSingleQueue())
		b := newSemaphore(t, w.Client("b"), 3, semaphore.WithSingleQueue())
		held := []*lease.Lease{w.Acquire(a), w.Acquire(a), w.Acquire(a)}
		at := ask(w, b, 2)
		w.After(time.Second)
		late := w.Server.On(zktest.OpGetChildren2, path).Client("b").Before().Delay(time.Second)
		release(w, held[2])
		<-late.Fired()
		require.NoError(t, a.Resize(t.Context(), 2))
		release(w, held[1])
		w.After(time.Minute)
		require.True(t, at.Waiting(), "1 is held, and there are 2")
		release(w, held[0])
		release(w, at.Granted())
	})
}
