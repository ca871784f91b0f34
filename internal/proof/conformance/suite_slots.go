package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Rows about holding a slot, and waiting for one.
var slots = rows{
	"no more leases than slots":               exclusion,
	"grants in the order of the queue":        fairness,
	"a try fails without waiting":             tryFails,
	"a wait that times out":                   timesOut,
	"the context ends":                        contextEnds,
	"many cycles leave no watches":            manyCycles,
	"tokens grow when the path is made again": tokensGrow,
}

func exclusion(t *testing.T, w *World, r Recipe) {
	contend(t, w, r, func(int) time.Duration { return 0 })
}

// parentsAreReaped has a server remove empty parents all the time.
func parentsAreReaped(t *testing.T, w *World, r Recipe) {
	contend(t, w, r, func(n int) time.Duration { return time.Duration(n*37%200) * time.Millisecond })
	w.After(time.Second)
	require.Equal(t, len(r.Keeps) > 0, slices.Contains(w.Server.Children("/conformance"), "recipe"), "they are removed when they are not used")
	require.Equal(t, r.Keeps, w.Server.Children(path))
}

// contend has goroutines of several clients acquire, release and pause. Those of one
// client share a recipe value.
func contend(t *testing.T, w *World, r Recipe, pause func(n int) time.Duration) {
	referee := r.Referee()
	var all sync.WaitGroup
	for i := range 4 {
		c := w.Client(fmt.Sprintf("client%d", i))
		shared := r.New(c, path)
		for j := range 3 {
			a := shared
			if r.Block != nil && j == 0 {
				a = r.Block(c, path)
			}
			who := fmt.Sprintf("worker %d of client %d", j, i)
			all.Go(func() {
				for n := range 5 {
					l, err := a.Acquire(t.Context(), time.Hour)
					if err != nil {
						t.Errorf("%s: %v", who, err)
						return
					}
					referee.Grant(who, l)
					pass(time.Duration(1+(i*7+j*3+n)%11) * time.Millisecond)
					referee.Look()
					if err := l.Release(); err != nil {
						t.Errorf("%s: %v", who, err)
					}
					pass(pause(i*7 + j*3 + n))
				}
			})
		}
	}
	all.Wait()
	require.Empty(t, referee.Faults())
	require.Len(t, referee.Tokens(), 60)
}

func fairness(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	clients := []*framework.Client{w.Client("a"), w.Client("b")}
	var queue []*Attempt
	for i := range 8 {
		queue = append(queue, w.Start(r.New(clients[i%2], path), lease.Forever))
		require.True(t, queue[i].Waiting())
	}
	queue[3].Cancel(errors.New("gives up"))
	require.Error(t, queue[3].Failed())
	queue = append(queue[:3], queue[4:]...)
	w.After(time.Second) // a session's first watch has to wait for a moment
	release(t, held...)
	free := max(r.Slots, 1)
	var tokens []lease.Token
	for i, at := range queue {
		w.Settle()
		for _, later := range queue[min(i+free, len(queue)):] {
			require.Equal(t, r.Slots > 0, later.Waiting(), "one overtook another, or those that share were not admitted together")
		}
		tokens = append(tokens, at.Granted().Token())
		release(t, at.Lease)
	}
	require.IsIncreasing(t, tokens)
}

func tryFails(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	a := r.New(w.Client("a"), path)
	leavesNothing(t, w, func() {
		for _, timeout := range []time.Duration{0, -time.Second} {
			at := w.Start(a, timeout)
			require.False(t, at.Waiting(), "it does not wait")
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		}
	})
	release(t, held...)
	w.After(10 * time.Second)
	require.Empty(t, w.Ephemerals("/"), "it is not granted later")
	release(t, w.Start(a, 0).Granted())
}

func timesOut(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	a := r.New(w.Client("a"), path)
	leavesNothing(t, w, func() {
		at := w.Start(a, 1500*time.Millisecond)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		var timeout *lease.TimeoutError
		require.ErrorAs(t, at.Err, &timeout)
		require.Positive(t, timeout.Ahead)
		require.NoError(t, timeout.Err, "nothing failed")
		require.InDelta(t, 1500*time.Millisecond, at.Took, float64(100*time.Millisecond))
	})
	release(t, held...)
	release(t, w.Acquire(a))
}

func contextEnds(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a"), path)
	at := w.Start(a, time.Minute)
	held := at.Granted()
	reason := errors.New("work is cancelled")
	at.Cancel(reason)
	w.Settle()
	require.ErrorIs(t, context.Cause(held.Context()), reason)
	w.After(SessionTimeout)
	require.NoError(t, held.Err(), "the end of the context does not release")
	require.NotEmpty(t, w.Ephemerals(held.Path()))
	release(t, held)

	ended, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	require.Empty(t, w.Requests(func() {
		require.ErrorIs(t, w.StartWith(ended, a, time.Minute).Failed(), reason)
	}), "an ended context sends no request")
	require.Empty(t, w.Ephemerals("/"))
}

// excluded returns what an unrelated caller cannot acquire while one lease is held, or
// nil.
func (r Recipe) excluded(c *framework.Client) lease.Acquirer {
	switch {
	case r.Block != nil:
		return r.Block(c, path)
	case r.Slots == 1:
		return r.New(c, path)
	}
	return nil
}

func tokensGrow(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	var tokens []lease.Token
	for range 3 {
		held := w.Acquire(a)
		tokens = append(tokens, held.Token())
		release(t, held)
		require.NoError(t, c.DeleteTree(t.Context(), path))
	}
	require.IsIncreasing(t, tokens)
}

func manyCycles(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	for i := range 20 {
		held := fill(w, r)
		waiting, short := w.Start(a, lease.Forever), w.Start(a, 30*time.Millisecond)
		require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrTimeout)
		cancelled := w.Start(a, lease.Forever)
		cancelled.Cancel(errors.New("not now"))
		require.Error(t, cancelled.Failed())
		if i%2 == 0 {
			require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
		}
		release(t, held...)
		release(t, waiting.Granted())
		if i%2 == 1 {
			release(t, short.Granted())
		}
		w.Settle()
		require.LessOrEqual(t, w.Server.Watches(), 2*max(r.Known, 1), "after cycle %d", i)
		require.Empty(t, w.Ephemerals("/"))
	}
}
