package conformance

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows with an old leader: it is without a quorum and does not know, so it answers
// reads, syncs and pings and revalidates sessions, while the other servers have a new
// leader that expires them.

var oldLeaders = rows{
	"a holder's server loses its quorum":         holderLosesQuorum,
	"a holder connects to an old leader":         holderConnectsToOldLeader,
	"a holder learns late that a quorum vouched": holderLearnsLate,
}

// holderLosesQuorum leaves the holders with an old leader. Their connections break
// once.
func holderLosesQuorum(t *testing.T, w *World, r Recipe) {
	givenAway(t, w, r, func(holders []string) {
		minority := w.Server.Split(holders...)
		t.Cleanup(minority.End)
		w.After(SessionTimeout / 2)
		for _, name := range holders {
			w.Server.DropConnections(name)
		}
	})
}

// holderConnectsToOldLeader moves the holders to an old leader from a server of the
// majority.
func holderConnectsToOldLeader(t *testing.T, w *World, r Recipe) {
	givenAway(t, w, r, func(holders []string) {
		minority := w.Server.Split()
		t.Cleanup(minority.End)
		w.After(SessionTimeout / 3)
		for _, name := range holders {
			minority.Take(name)
		}
	})
}

// holderLearnsLate cuts the leader off right after a quorum has vouched for a holder,
// which receives that answer late.
func holderLearnsLate(t *testing.T, w *World, r Recipe) {
	givenAway(t, w, r, func(holders []string) {
		vouched := w.Server.On(zktest.OpMulti, "").Client(holders[0]).After().Delay(SessionTimeout/6 - 100*time.Millisecond)
		<-vouched.Fired()
		minority := w.Server.Split(holders...)
		t.Cleanup(minority.End)
	})
}

// givenAway has the majority grant all slots to the next clients. It checks that the
// old leases were valid before the split, and ended before those grants.
func givenAway(t *testing.T, w *World, r Recipe, part func(holders []string)) {
	referee := r.Referee()
	var held []*lease.Lease
	var holders []string
	var mu sync.Mutex
	ended := map[*lease.Lease]time.Time{}
	for i := range max(r.Slots, 1) {
		name := fmt.Sprintf("holder%d", i)
		holders = append(holders, name)
		l := w.Acquire(r.New(w.Client(name), path))
		referee.Grant("a holder", l)
		context.AfterFunc(l.Context(), func() {
			mu.Lock()
			defer mu.Unlock()
			ended[l] = time.Now()
		})
		held = append(held, l)
	}
	at := w.Start(r.next()(w.Client("b"), path), lease.Forever)
	require.True(t, at.Waiting())
	w.After(2 * SessionTimeout)
	for _, l := range held {
		require.NoError(t, l.Err())
	}
	part(holders)
	got := at.Granted()
	granted := time.Now()
	referee.Grant("the next", got)
	require.Empty(t, referee.Faults())
	for _, l := range held {
		require.ErrorIs(t, l.Err(), lease.ErrLost)
		w.Settle()
		mu.Lock()
		end := ended[l]
		mu.Unlock()
		const timers = 10 * time.Millisecond // the context ends by a timer, Err by the clock
		require.GreaterOrEqual(t, granted.Sub(end)+timers, SessionTimeout/6, "it ended in time for work to stop")
		require.ErrorIs(t, l.Release(), lease.ErrLost)
	}
	release(t, got)
}
