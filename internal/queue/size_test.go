package queue_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A sizedLine is a line of places of weight 1 with a size in a node beside it.
type sizedLine struct {
	w        *conformance.World
	operator *framework.Client
	// asked is called when a waiter's size was read, before it knows.
	asked func(ask queue.SizeAsk)
}

func newSizedLine(w *conformance.World, size int) *sizedLine {
	l := &sizedLine{w: w, operator: w.Client("operator"), asked: func(queue.SizeAsk) {}}
	_, err := l.operator.Create(w.T.Context(), "/size", []byte(strconv.Itoa(size)), framework.Persistent)
	require.NoError(w.T, err)
	return l
}

func (l *sizedLine) resize(size int) {
	_, err := l.operator.Set(l.w.T.Context(), "/size", []byte(strconv.Itoa(size)), framework.AnyVersion)
	require.NoError(l.w.T, err)
}

func (l *sizedLine) size(_ context.Context, c *framework.Client, ask queue.SizeAsk) (int, *framework.Watch, error) {
	var (
		data []byte
		w    *framework.Watch
		err  error
	)
	if ask == queue.Await {
		data, _, w, err = c.GetWatch(l.w.T.Context(), "/size")
	} else {
		data, _, err = c.Get(l.w.T.Context(), "/size")
	}
	if err != nil {
		return 0, nil, err
	}
	l.asked(ask)
	size, err := strconv.Atoi(string(data))
	return size, w, err
}

// take takes a place, which must be free.
func (l *sizedLine) take(c *framework.Client) *lease.Lease {
	l.w.T.Helper()
	taken := l.wait(c)
	l.w.Settle()
	select {
	case r := <-taken:
		require.NoError(l.w.T, r.err)
		return r.handle
	default:
		l.w.T.Fatal("not granted")
		return nil
	}
}

type result struct {
	handle *lease.Lease
	err    error
}

// wait begins to wait for a place.
func (l *sizedLine) wait(c *framework.Client) <-chan result {
	line := queue.New(queue.Config{
		Client: c, Path: path, Kind: znode.PermitsOf(1), Kinds: []string{znode.Permits}, Policy: queue.Permits, Size: l.size,
	})
	done := make(chan result, 1)
	go func() {
		handle, err := line.Acquire(l.w.T.Context(), time.Hour)
		done <- result{handle, err}
	}()
	return done
}

func (l *sizedLine) release(held ...*lease.Lease) {
	l.w.T.Helper()
	for _, h := range held {
		require.NoError(l.w.T, h.Release())
	}
	l.w.Settle()
}

// The size grows or shrinks between the decision to wait and the watch on the size. No
// event tells of that.
func TestSizeChangesBeforeItIsWatched(t *testing.T) {
	for name, to := range map[string]int{"to more": 3, "to fewer": 1} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				l := newSizedLine(w, 2)
				a, b := w.Client("a"), w.Client("b")
				held := []*lease.Lease{l.take(a), l.take(a)}
				changed := false
				l.asked = func(ask queue.SizeAsk) {
					if ask == queue.Decide && !changed {
						changed = true
						l.resize(to)
					}
				}
				waiting := l.wait(b)
				w.After(time.Second)
				require.True(t, changed)
				if to == 1 {
					require.Empty(t, waiting)
					l.release(held[0])
					w.After(time.Second)
					require.Empty(t, waiting, "1 is held of 1")
					l.release(held[1])
				}
				require.Len(t, waiting, 1)
				got := <-waiting
				require.NoError(t, got.err)
				l.release(got.handle)
				if to > 2 {
					l.release(held...)
				}
			})
		})
	}
}

// The size shrinks, and a place ahead goes, and the waiter hears of both at once: the end of
// the other must not count by the old size. Which of the two it sees first is a matter of
// chance.
func TestSizeShrinksAtTheMomentAPlaceGoes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newSizedLine(w, 2)
		a, b := w.Client("a"), w.Client("b")
		for range 30 {
			held := []*lease.Lease{l.take(a), l.take(a)}
			struck := false
			l.asked = func(ask queue.SizeAsk) {
				if ask == queue.Await && !struck {
					struck = true
					w.After(time.Millisecond) // all else is watched
					l.resize(1)
					l.release(held[0])
					w.After(time.Millisecond) // and told
				}
			}
			waiting := l.wait(b)
			w.After(time.Second)
			require.True(t, struck)
			require.Empty(t, waiting, "1 is held of 1")
			l.release(held[1])
			got := <-waiting
			require.NoError(t, got.err)
			l.release(got.handle)
			l.asked = func(queue.SizeAsk) {}
			l.resize(2)
		}
	})
}

// What is known of the size holds until an event tells that it has changed.
func TestSizeThatHasNotChangedIsAskedForOnce(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		l := newSizedLine(w, 3)
		a, b := w.Client("a"), w.Client("b")
		held := []*lease.Lease{l.take(a), l.take(a), l.take(a)}
		asks := 0
		l.asked = func(queue.SizeAsk) { asks++ }
		waiting := l.wait(b)
		w.After(time.Second)
		require.Equal(t, 2, asks, "once to decide, once with a watch")
		l.resize(1)
		w.After(time.Second)
		for i := range held {
			require.Empty(t, waiting, "%d released", i)
			l.release(held[i])
			w.After(time.Second)
		}
		got := <-waiting
		require.NoError(t, got.err)
		require.Equal(t, 4, asks, "and the same again after the one change")
		l.release(got.handle)
	})
}
