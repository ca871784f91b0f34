package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// minHold is longer than a session timeout.
const minHold = 15 * time.Second

// minHolds are rows about a minimum hold time.
var minHolds = timedRows{
	"a release waits for the rest":                restIsAwaited,
	"an async release does not wait for the rest": restIsLeftToBackground,
	"no rest after the minimum hold time":         noRestLater,
	"no rest after a loss":                        noRestAfterALoss,
	"no rest for what no caller has got":          noRestWithoutALease,
	"the session ends in the rest": restEnds(func(w *World, all []*framework.Client) {
		for _, c := range all {
			w.Expire(c)
		}
	}, 0),
	"the client is closed in the rest": restEnds(func(w *World, all []*framework.Client) {
		for _, c := range all {
			require.NoError(w.T, c.Close())
		}
	}, 0),
	"the process is cut off in the rest": restEnds(func(w *World, all []*framework.Client) { w.kill(all...) }, SessionTimeout),
	"the maximum hold time is the same":  restUntilMaxHold,
	"the connection breaks in the rest":  restGoesOn,
}

// minHoldEntries are those about several leases of one slot.
var minHoldEntries = timedRows{
	"only the last release of one slot waits for the rest": restOfTheLast,
	"forks do not wait for the rest":                       restOfForks,
}

// releasing releases a lease in another goroutine, and returns what says how long that
// has taken.
func releasing(w *World, l *lease.Lease) <-chan time.Duration {
	began, took := time.Now(), make(chan time.Duration, 1)
	go func() {
		if err := l.Release(); err != nil {
			w.T.Errorf("release: %v", err)
		}
		took <- time.Since(began)
	}()
	w.Settle()
	return took
}

func requireReleased(t *testing.T, l *lease.Lease) {
	t.Helper()
	require.ErrorIs(t, l.Err(), lease.ErrReleased)
	require.ErrorIs(t, context.Cause(l.Context()), lease.ErrReleased)
	require.True(t, Closed(l.Done()))
	require.ErrorIs(t, l.Release(), lease.ErrReleased)
}

// restIsAwaited releases after some time. Who waits is granted the slot when the rest
// has passed, in whatever client, and nobody is before that.
func restIsAwaited(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	for _, waiter := range []string{"b", "holder0"} {
		for _, after := range []time.Duration{0, time.Second, minHold - time.Millisecond} {
			w.Named(waiter)
			held, _ := holders(w, r)
			begun := time.Now()
			at := w.Start(r.New(w.Named(waiter), path), lease.Forever)
			w.After(after)
			var all []<-chan time.Duration
			for _, l := range held {
				all = append(all, releasing(w, l))
				requireReleased(t, l)
			}
			if after < minHold/2 {
				require.ErrorIs(t, w.Start(r.New(w.Named("c"), path), 0).Failed(), lease.ErrTimeout)
				w.After(time.Until(begun.Add(minHold)) - time.Millisecond)
			}
			require.True(t, at.Waiting())
			for _, took := range all {
				require.Empty(t, took, "it waits")
			}
			w.After(time.Millisecond)
			require.False(t, at.Waiting())
			for _, took := range all {
				require.Equal(t, minHold-after, <-took)
			}
			w.After(minHold)
			release(t, at.Granted())
			w.Settle()
			require.Empty(t, w.Ephemerals("/"))
		}
	}
}

func restIsLeftToBackground(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	held, _ := holders(w, r)
	begun := time.Now()
	at := w.Start(r.New(w.Client("b"), path), lease.Forever)
	w.After(time.Second)
	before := time.Now()
	for _, l := range held {
		require.NoError(t, l.ReleaseAsync())
		requireReleased(t, l)
	}
	require.Zero(t, time.Since(before), "it returns at once")
	w.After(time.Until(begun.Add(minHold)) - time.Millisecond)
	require.True(t, at.Waiting())
	w.After(time.Millisecond)
	require.False(t, at.Waiting())
	w.After(minHold)
	release(t, at.Granted())
}

func noRestLater(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	held, _ := holders(w, r)
	at := w.Start(r.New(w.Client("b"), path), lease.Forever)
	w.After(minHold)
	before := time.Now()
	release(t, held...)
	require.Zero(t, time.Since(before))
	w.Settle()
	require.False(t, at.Waiting())
	require.NoError(t, at.Granted().ReleaseAsync())
}

func noRestAfterALoss(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	for reason, lose := range map[error]func(c *framework.Client, l *lease.Lease){
		lease.ErrDeleted:            func(_ *framework.Client, l *lease.Lease) { w.Remove(w.Named("operator"), l.Path()) },
		framework.ErrSessionExpired: func(c *framework.Client, _ *lease.Lease) { w.Expire(c) },
	} {
		held, clients := holders(w, r)
		at := w.Start(r.New(w.Named("b"), path), lease.Forever)
		w.After(time.Second)
		for i, l := range held {
			lose(clients[i], l)
		}
		w.After(100 * time.Millisecond) // it has to connect again
		before := time.Now()
		for _, l := range held {
			require.ErrorIs(t, l.Release(), reason)
		}
		require.Less(t, time.Since(before), 100*time.Millisecond)
		w.After(100 * time.Millisecond)
		require.False(t, at.Waiting(), "%v", reason)
		require.NoError(t, at.Granted().ReleaseAsync())
		w.After(minHold)
	}
}

// noRestWithoutALease ends calls at every moment of an acquire. Those that fail leave a
// slot that is free at once.
func noRestWithoutALease(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	c, b := w.Client("a"), w.Client("b")
	require.NoError(t, w.Acquire(r.New(c, path)).ReleaseAsync())
	w.After(minHold + time.Second)
	fast := w.slow("a", 5*time.Millisecond)
	failed := 0
	for limit := time.Millisecond; limit < 60*time.Millisecond; limit += 3 * time.Millisecond {
		at := w.Start(r.New(c, path), limit)
		w.After(limit + 300*time.Millisecond)
		require.False(t, at.Waiting())
		if at.Err != nil {
			failed++
			require.Empty(t, w.Ephemerals("/"))
			continue
		}
		require.NoError(t, at.Granted().ReleaseAsync())
		w.After(minHold + time.Second)
	}
	fast()
	require.Positive(t, failed)
	require.NoError(t, w.Start(r.New(b, path), 0).Granted().ReleaseAsync())
}

// restEnds ends the rest before the time has passed, within some time.
func restEnds(strike func(w *World, all []*framework.Client), within time.Duration) timedRow {
	return func(t *testing.T, w *World, with Timed) {
		for _, async := range []bool{false, true} {
			held, clients := holders(w, with(Times{MinHold: minHold}))
			at := w.Start(with(Times{}).New(w.Named("b"), path), lease.Forever)
			w.After(time.Second)
			var all []<-chan time.Duration
			for _, l := range held {
				if async {
					require.NoError(t, l.ReleaseAsync())
				} else {
					all = append(all, releasing(w, l))
				}
			}
			w.After(time.Second)
			strike(w, clients)
			w.After(100 * time.Millisecond)
			require.False(t, at.Waiting(), "the slots are free")
			for _, took := range all {
				require.LessOrEqual(t, <-took, time.Second+100*time.Millisecond+within)
			}
			for _, l := range held {
				requireReleased(t, l)
			}
			release(t, at.Granted())
		}
	}
}

// restUntilMaxHold releases before the one time has passed, which is the other as well,
// or never.
func restUntilMaxHold(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold, MaxHold: minHold})
	held, _ := holders(w, r)
	begun := time.Now()
	w.After(time.Second)
	for _, l := range held[1:] {
		require.NoError(t, l.ReleaseAsync())
	}
	release(t, held[0])
	require.Equal(t, minHold, time.Since(begun))
	held, _ = holders(w, r)
	w.After(minHold)
	before := time.Now()
	for _, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrMaxHold)
	}
	require.Zero(t, time.Since(before))
}

// restGoesOn breaks the connection, and makes it again.
func restGoesOn(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	b := r.New(w.Client("b"), path)
	held, _ := holders(w, r)
	begun := time.Now()
	at := w.Start(b, lease.Forever)
	var all []<-chan time.Duration
	for _, l := range held {
		all = append(all, releasing(w, l))
	}
	for range 3 {
		w.After(3 * time.Second)
		w.Server.DropConnections("")
	}
	require.NoError(t, w.requireGrantedAt(r, at, begun.Add(minHold)).ReleaseAsync())
	for _, took := range all {
		require.Equal(t, minHold, <-took)
	}
}

// restOfTheLast releases several leases of one slot, in both orders.
func restOfTheLast(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	c := w.Client("a")
	for i := range 2 {
		outer := w.Acquire(r.New(c, path))
		begun := time.Now()
		both := []*lease.Lease{outer, w.StartWith(outer.Context(), r.New(c, path), 0).Granted()}
		release(t, both[i])
		require.Zero(t, time.Since(begun), "another lease holds the slot")
		require.NoError(t, both[1-i].Err())
		w.After(time.Second)
		require.Equal(t, minHold-time.Second, <-releasing(w, both[1-i]))
		require.Empty(t, w.Ephemerals("/"))
	}
}

// restOfForks has forks take turns within the minimum hold time.
func restOfForks(t *testing.T, w *World, with Timed) {
	r := with(Times{MinHold: minHold})
	c := w.Client("a")
	held := w.Acquire(r.New(c, path))
	begun := time.Now()
	for range 3 {
		first := w.fork(r, c, held, lease.Forever)
		second := w.fork(r, c, held, lease.Forever)
		release(t, first.Granted())
		release(t, second.Granted())
	}
	require.Zero(t, time.Since(begun), "they hold nothing of their own")
	last := w.fork(r, c, held, 0).Granted()
	release(t, held)
	require.Zero(t, time.Since(begun), "the fork holds the slot")
	require.Equal(t, minHold, <-releasing(w, last))
}
