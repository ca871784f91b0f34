package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

// cycles looks for cycles below a path.
func cycles(t *testing.T, c *framework.Client, path string) *inspect.CycleSurvey {
	t.Helper()
	found, err := inspect.Cycles(t.Context(), c, path)
	require.NoError(t, err)
	return found
}

// linksOf writes cycles as texts: who holds what and waits for what.
func linksOf(s *inspect.CycleSurvey) (all []string) {
	for _, c := range s.Cycles {
		text := []string{"possible:"}
		if c.Certain {
			text[0] = "certain:"
		}
		for _, l := range c.Links {
			who := l.Waiting.Holder.Who
			if l.Held.State == inspect.Held {
				text = append(text, fmt.Sprintf("%s holds %s and waits for %s.", who, l.Holds, l.WaitsFor))
			} else {
				text = append(text, fmt.Sprintf("%s waits for %s.", who, l.WaitsFor))
			}
		}
		all = append(all, strings.Join(text, " "))
	}
	return all
}

// mutexAt returns a mutex of a client.
func mutexAt(t *testing.T, c *framework.Client, path, who string) *mutex.Mutex {
	t.Helper()
	m, err := mutex.New(c, path, mutex.WithHolder(who))
	require.NoError(t, err)
	return m
}

// rwAt returns a read-write lock of a client.
func rwAt(t *testing.T, c *framework.Client, path, who string) *rwlock.Lock {
	t.Helper()
	l, err := rwlock.New(c, path, rwlock.WithHolder(who))
	require.NoError(t, err)
	return l
}

// within starts to acquire with the context of a lease.
func within(w *conformance.World, held *lease.Lease, a lease.Acquirer) *conformance.Attempt {
	return w.StartWith(held.Context(), a, lease.Forever)
}

// ends releases the leases, and awaits the attempts, in whatever order they are
// granted.
func ends(t *testing.T, held []*lease.Lease, waiting ...*conformance.Attempt) {
	t.Helper()
	for _, l := range held {
		require.NoError(t, l.Release())
	}
	for _, at := range waiting {
		at.Cancel(context.Canceled)
		<-at.Done()
		if at.Err == nil {
			_ = at.Lease.Release()
		}
	}
}

func TestCycleOfTwoMutexes(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b, c := w.Client("a"), w.Client("b"), w.Client("c")
		one := w.Acquire(mutexAt(t, a, "/locks/cart", "web"))
		two := w.Acquire(mutexAt(t, b, "/locks/stock", "billing"))
		first := within(w, one, mutexAt(t, a, "/locks/stock", "web"))
		require.Empty(t, cycles(t, c, "/").Cycles)
		w.After(time.Second)
		began := time.Now()
		second := within(w, two, mutexAt(t, b, "/locks/cart", "billing"))
		late := w.Start(mutexAt(t, c, "/locks/cart", "late"), lease.Forever)
		for _, path := range []string{"/", "/locks"} {
			s := cycles(t, c, path)
			require.Equal(t, []string{
				"certain: billing holds /locks/stock and waits for /locks/cart. web holds /locks/cart and waits for /locks/stock.",
			}, linksOf(s))
			require.Equal(t, 2, s.Locks)
			require.Empty(t, s.Unreadable)
			require.WithinDuration(t, began, s.Cycles[0].Since, time.Millisecond)
			require.Equal(t, two.Path(), s.Cycles[0].Links[0].Held.Path)
			require.Equal(t, one.Path(), s.Cycles[0].Links[1].Held.Path)
		}
		require.Equal(t, &inspect.CycleSurvey{Locks: 1}, cycles(t, c, "/locks/cart"), "a cycle leads outside")
		ends(t, []*lease.Lease{one, two}, first, second, late)
		require.Equal(t, &inspect.CycleSurvey{}, cycles(t, c, "/"))
	})
}

// A reader waits for a writer that waits for readers.
func TestCycleThroughAWaitingWriter(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		mine := rwAt(t, a, "/locks/x", "a")
		theirs := rwAt(t, b, "/locks/x", "b")
		read, other := w.Acquire(mine.Read()), w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		writer := w.Start(theirs.Write(), lease.Forever)
		first := within(w, read, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, other, theirs.Read())
		require.Equal(t, []string{
			"certain: a holds /locks/x and waits for /locks/y. b holds /locks/y and waits for /locks/x. b waits for /locks/x.",
		}, linksOf(cycles(t, b, "/locks")))
		ends(t, []*lease.Lease{read, other}, writer, first, second)
	})
}

// A writer that has become a reader holds the node of that.
func TestCycleOfAWriterThatIsAReaderNow(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		x := rwAt(t, a, "/locks/x", "a")
		wrote := w.Acquire(x.Write())
		y := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		toX := within(w, y, mutexAt(t, b, "/locks/x", "b"))
		read := within(w, wrote, x.Read()).Granted()
		for _, both := range []bool{true, false} {
			if !both {
				require.NoError(t, wrote.Release())
			}
			toY := within(w, read, mutexAt(t, a, "/locks/y", "a"))
			require.Equal(t, []string{
				"certain: b holds /locks/y and waits for /locks/x. a holds /locks/x and waits for /locks/y.",
			}, linksOf(cycles(t, b, "/locks")), "with the writer's node: %v", both)
			ends(t, nil, toY)
		}
		ends(t, []*lease.Lease{read, y}, toX)
	})
}

// Nobody has to wait for a reader that is a reader.
func TestNoCycleOfReaders(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		mine := rwAt(t, a, "/locks/x", "a")
		theirs := rwAt(t, b, "/locks/x", "b")
		other := w.Acquire(mutexAt(t, b, "/locks/y", "b"))
		read := w.Acquire(mine.Read())
		first := within(w, read, mutexAt(t, a, "/locks/y", "a"))
		second := within(w, other, theirs.Read())
		s := cycles(t, b, "/locks")
		require.Empty(t, s.Cycles)
		require.Equal(t, 2, s.Locks)
		ends(t, []*lease.Lease{second.Granted(), other, read}, first)
	})
}
