package once_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// neverBack fails the test if the moment up to which records were removed goes back. It
// strikes the nth request of that kind that client a sends about the records.
func neverBack(w *conformance.World, op zktest.Op, nth int, action zktest.Action) (struck chan struct{}) {
	struck = make(chan struct{})
	var last time.Time
	w.Server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Phase == zktest.PhaseAfterApply {
			info, _ := w.Server.Node(done)
			at, ok := znode.ParseSwept(info.Data)
			if !ok || at.Before(last) {
				w.T.Errorf("swept up to %v, and then to %v", last, at)
			}
			last = at
		}
		if c.Client == "a" && c.Op == op && c.Path == done && c.Phase == zktest.PhaseBeforeApply {
			if nth--; nth == 0 {
				close(struck)
				return action
			}
		}
		return zktest.Pass
	})
	return struck
}

// begin begins a run. Its release waits behind a request of the sweep that is delayed.
func begin(t *testing.T, r *once.Run) <-chan error {
	finished := make(chan error, 1)
	go func() { finished <- r.Do(t.Context(), nothing) }()
	return finished
}

// Of two clients that sweep at the same time one gives up, whichever request of it is
// delayed.
func TestTwoSweepAtOnce(t *testing.T) {
	for name, nth := range map[string]int{"the first write": 1, "the second write": 2} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				a, b := newJob(t, w.Client("a"), once.WithRetention(2*time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
				do(t, w, a.Key("first"))
				w.After(3 * time.Minute)
				delayed := neverBack(w, zktest.OpSetData, nth, zktest.Delay(500*time.Millisecond))
				finished := begin(t, a.Key("second"))
				<-delayed
				do(t, w, b.Key("third"))
				require.Equal(t, time.Now().Add(-time.Minute).UTC(), swept(t, w))
				w.After(time.Second)
				require.NoError(t, <-finished)
				require.Equal(t, time.Now().Add(-time.Minute-time.Second).UTC(), swept(t, w))
				require.Len(t, w.Server.Children(done), 2)
			})
		})
	}
}

// A client that has read an old record stops. Another one removes that record, and its
// key is recorded again. Then the first client goes on: it must not remove the new
// record.
func TestSweeperIsPaused(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := newJob(t, w.Client("a"), once.WithRetention(2*time.Minute)), newJob(t, w.Client("b"), once.WithRetention(time.Minute))
		do(t, w, a.Key("key"))
		w.After(3 * time.Minute)
		delayed := neverBack(w, zktest.OpMulti, 1, zktest.Delay(500*time.Millisecond))
		finished := begin(t, a.Key("another"))
		<-delayed
		require.ErrorIs(t, w.Start(b.Key("key"), 0).Failed(), once.ErrRecorded)
		do(t, w, b.Key("a third"))
		w.After(100 * time.Millisecond)
		do(t, w, b.Key("key"))
		w.After(time.Second)
		require.NoError(t, <-finished)
		require.ErrorIs(t, w.Start(b.Key("key"), 0).Failed(), once.ErrRecorded)
	})
}

// One wrong clock, that of the leading server or that of the client, makes nobody
// forget too early. The clocks of a bubble are all the same, so a server that is behind
// stands for a client that is ahead.
func TestWrongClocks(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"the server is ahead": time.Hour, "the server is behind": -30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j := newJob(t, w.Client("a"), once.WithRetention(time.Minute))
				do(t, w, j.Tick(time.Now()))
				began := time.Now()
				w.After(50 * time.Second)
				w.Server.SetClock(ahead)
				do(t, w, j.Key("a"))
				require.Equal(t, began.Add(50*time.Second+min(ahead, 0)-time.Minute).UTC(), swept(t, w))
				require.Len(t, w.Server.Children(done), 2)
			})
		})
	}
}

// The clock of a leading server is so far behind that what was swept already is later.
func TestServerIsFarBehind(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := newJob(t, w.Client("a"), once.WithRetention(time.Minute))
		do(t, w, j.Key("a"))
		last := swept(t, w)
		w.After(time.Minute)
		w.Server.SetClock(-time.Hour)
		neverBack(w, zktest.OpPing, 0, zktest.Pass)
		do(t, w, j.Key("b"))
		require.Equal(t, last, swept(t, w))
	})
}

// All clocks were ahead for a time, those of the client and of the servers, and records
// were removed meanwhile: ticks are refused until the moment that is stored has passed,
// or an operator stores an earlier one. Keys go on.
func TestAllClocksWereAhead(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		c := w.Client("a")
		j := newJob(t, c, once.WithRetention(time.Minute))
		do(t, w, j.Key("a"))
		_, err := c.Set(t.Context(), done, znode.Swept(time.Now().Add(24*time.Hour)), framework.AnyVersion)
		require.NoError(t, err)
		w.After(10 * time.Minute)
		do(t, w, j.Key("b"))
		require.ErrorIs(t, j.Tick(time.Now()).Do(t.Context(), nothing), once.ErrForgotten)

		_, err = c.Set(t.Context(), done, []byte("swept up to "+time.Now().UTC().Format(time.RFC3339)), framework.AnyVersion)
		require.NoError(t, err)
		do(t, w, j.Tick(time.Now().Add(time.Second)))
		require.ErrorIs(t, j.Tick(time.Now().Add(-time.Second)).Do(t.Context(), nothing), once.ErrForgotten, "nothing is run again")
		w.After(2 * time.Minute)
		do(t, w, j.Tick(time.Now()))
		require.Len(t, w.Server.Children(done), 1)
	})
}
