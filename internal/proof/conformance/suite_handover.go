package conformance

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about the hand-over within a session: the next waiter of the session gets a
// released slot before the node of the last holder is known to be deleted.
var handovers = rows{
	"a slot is handed over before the answer to its delete": handedOverAtOnce,
	"a handed over slot is kept from other sessions":        handedOverPastNoOne,
	"a chain of hand-overs is not confirmed":                chainOfHandovers,
	"the next holder reads what the last one has written":   handoverReads,
}

// Rows of recipes whose slots are granted only when the nodes are known to be deleted.
var confirmedOnly = rows{
	"a slot is kept until its delete is answered": keptUntilDeleted,
}

// A party is what a client holds and waits for, with another session in between.
type party struct {
	w *World
	r Recipe
	a lease.Acquirer

	held  *lease.Lease
	next  *Attempt // of the same session
	other *Attempt // of another session
	last  *Attempt // of the first
}

// newParty has client "a" hold the slot, and wait for it on both sides of client "b".
// All own watches are set.
func newParty(w *World, r Recipe, change ...func(*framework.Config)) *party {
	w.T.Helper()
	if len(change) > 0 {
		w.Client("a", change...)
	}
	c := newHolder(w, r)
	c.next = w.Start(c.a, lease.Forever)
	c.other = w.Start(r.New(w.Named("b"), path), lease.Forever)
	c.last = w.Start(c.a, lease.Forever)
	w.After(100 * time.Millisecond)
	return c
}

// newHolder has client "a" hold the slot. Its own watch is set.
func newHolder(w *World, r Recipe) *party {
	w.T.Helper()
	require.Equal(w.T, 1, r.Slots, "only a recipe of one slot hands it over")
	c := &party{w: w, r: r, a: r.New(w.Named("a"), path)}
	c.held = w.Acquire(c.a)
	w.After(100 * time.Millisecond)
	return c
}

// drain releases what is held, and what is granted by that, and checks that nothing
// remains.
func (c *party) drain(left ...*lease.Lease) {
	c.w.T.Helper()
	for _, l := range left {
		release(c.w.T, l)
	}
	for waiting := []*Attempt{c.next, c.other, c.last}; len(waiting) > 0; c.w.After(5 * time.Millisecond) {
		waiting = slices.DeleteFunc(waiting, func(at *Attempt) bool {
			ended := !at.Waiting()
			if ended && at.Granted().Err() == nil {
				release(c.w.T, at.Lease)
			}
			return ended
		})
	}
	c.w.After(SessionTimeout)
	require.Empty(c.w.T, c.w.Ephemerals(path))
}

// freeing releases a lease in a goroutine: its delete may not be answered soon. It
// returns when the release waits for that, or has ended.
func (w *World) freeing(l *lease.Lease) <-chan error {
	freed := w.beginFreeing(l)
	w.Settle()
	return freed
}

// beginFreeing is freeing without waiting.
func (w *World) beginFreeing(l *lease.Lease) <-chan error {
	freed := make(chan error, 1)
	go func() { freed <- l.Release() }()
	return freed
}

// stands reports whether the server has the node of a lease.
func (w *World) stands(l *lease.Lease) bool {
	_, ok := w.Server.Node(l.Path())
	return ok
}

// unanswered are the ways in which a delete is not answered at once.
var unanswered = map[string]func(*zktest.Rule){
	"late":          func(rule *zktest.Rule) { rule.Before().Delay(900 * time.Millisecond) },
	"answered late": func(rule *zktest.Rule) { rule.After().Delay(900 * time.Millisecond) },
	"forgotten":     func(rule *zktest.Rule) { rule.Before().Mute() },
	"never known":   func(rule *zktest.Rule) { rule.After().Mute() },
}

// handedOverAtOnce releases a slot while the delete is not answered.
func handedOverAtOnce(t *testing.T, w *World, r Recipe) {
	for name, strike := range unanswered {
		c := newParty(w, r)
		referee := r.Referee()
		referee.Grant("a", c.held)
		strike(w.Server.On(zktest.OpDelete, c.held.Path()).Client("a"))
		before := time.Now()
		freed := w.freeing(c.held)
		require.Zero(t, time.Since(before))
		require.False(t, c.next.Waiting(), name)
		got := c.next.Granted()
		referee.Grant("next", got)
		require.Greater(t, got.Token(), c.held.Token())
		require.NotEqual(t, c.held.Path(), got.Path())
		require.True(t, w.stands(got))
		require.ErrorIs(t, c.held.Err(), lease.ErrReleased)
		require.True(t, c.other.Waiting())
		require.NoError(t, <-freed, name)
		require.NoError(t, got.Confirm(t.Context()))
		require.False(t, w.stands(c.held), "a confirmation comes behind the delete")
		require.Empty(t, referee.Faults())
		c.drain(got)
	}
}

// handedOverPastNoOne releases a slot, and at once the one that was handed over.
func handedOverPastNoOne(t *testing.T, w *World, r Recipe) {
	for name, strike := range unanswered {
		c := newParty(w, r)
		strike(w.Server.On(zktest.OpDelete, c.held.Path()).Client("a"))
		first := w.freeing(c.held)
		got := c.next.Granted()
		second := w.freeing(got)
		if w.stands(c.held) {
			require.True(t, c.other.Waiting(), name)
		}
		require.True(t, c.last.Waiting(), "nor does a waiter behind another session get it")
		other := c.other.Granted()
		require.False(t, w.stands(c.held), name)
		require.False(t, w.stands(got), name)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
		require.Greater(t, other.Token(), got.Token())
		release(t, other)
		last := c.last.Granted()
		require.Greater(t, last.Token(), other.Token())
		release(t, last)
		w.After(SessionTimeout)
		require.Empty(t, w.Ephemerals(path))
	}
}

// chainOfHandovers has more waiters than slots may be handed over unconfirmed.
func chainOfHandovers(t *testing.T, w *World, r Recipe) {
	const limit, waiters = 64, 100
	a := r.New(w.Client("a"), path)
	var chain []*Attempt
	for range 1 + waiters {
		chain = append(chain, w.Start(a, lease.Forever))
	}
	w.After(100 * time.Millisecond)
	w.Server.On(zktest.OpDelete, path).Client("a").Delay(900 * time.Millisecond) // and all that follow
	var freed []<-chan error
	for _, at := range chain {
		if at.Waiting() {
			break
		}
		freed = append(freed, w.freeing(at.Granted()))
	}
	require.Len(t, freed, limit+1)
	require.Len(t, w.Ephemerals(path), 1+waiters, "none is deleted")
	w.After(time.Second)
	for _, at := range chain[len(freed):] {
		freed = append(freed, w.freeing(at.Granted()))
	}
	for _, f := range freed {
		require.NoError(t, <-f)
	}
	require.Empty(t, w.Ephemerals(path))
}

// handoverReads has the last holder write through another client. The server of the
// session lags, but what the next holder reads comes behind the delete.
func handoverReads(t *testing.T, w *World, r Recipe) {
	c := newParty(w, r)
	a, b := w.Known("a"), w.Known("b")
	_, err := b.Create(t.Context(), "/data", []byte("old"), framework.Persistent)
	require.NoError(t, err)
	require.NoError(t, a.Sync(t.Context(), "/data"))
	w.Server.Lag("a", true)
	_, err = b.Set(t.Context(), "/data", []byte("new"), framework.AnyVersion)
	require.NoError(t, err)
	data, _, err := a.Get(t.Context(), "/data")
	require.NoError(t, err)
	require.Equal(t, "old", string(data), "the server lags")
	w.Server.On(zktest.OpDelete, c.held.Path()).Client("a").Delay(900 * time.Millisecond)
	freed := w.freeing(c.held)
	got := c.next.Granted()
	require.True(t, w.stands(c.held))
	data, _, err = a.Get(t.Context(), "/data")
	require.NoError(t, err)
	require.Equal(t, "new", string(data))
	require.NoError(t, got.Err())
	require.NoError(t, <-freed)
	w.Server.Lag("a", false)
	c.drain(got)
}

// keptUntilDeleted releases a slot that is not handed over, while the delete is not
// carried out.
func keptUntilDeleted(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	var held []*lease.Lease
	for range max(r.Slots, 1) {
		held = append(held, w.Acquire(r.New(c, path)))
	}
	next := w.Start(r.next()(c, path), lease.Forever)
	w.After(100 * time.Millisecond)
	w.Server.On(r.removal(), path).Client("a").Delay(500 * time.Millisecond)
	freed := w.freeing(held[0])
	for w.stands(held[0]) {
		require.True(t, next.Waiting())
		w.After(10 * time.Millisecond)
	}
	require.NoError(t, <-freed)
	got := next.Granted()
	release(t, held[1:]...)
	release(t, got)
}
