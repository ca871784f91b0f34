package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Rows in which the server is down, or cannot be reached.
var outages = rows{
	"the server is down for a short time":     serverDown,
	"the server is down for long":             serverDownForLong,
	"waits end while the server is down":      waitsEndInOutages,
	"acquire begins while the server is down": acquireBeginsInOutages,
	"a holder that stops when suspended":      holderStopsWhenSuspended,
}

// strikes are ways in which a server becomes unreachable; World.Heal ends them.
var strikes = map[string]func(w *World){
	"paused":    func(w *World) { w.Server.Pause() },
	"partition": func(w *World) { w.Server.Partition("", true) },
	"stall":     func(w *World) { w.Server.Stall("", true) },
	"refused": func(w *World) {
		w.Server.RefuseConnections("", true)
		w.Server.DropConnections("")
	},
}

func serverDown(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.Server.RefuseConnections("", true)
	w.Server.Restart(true)
	w.After(time.Second)
	short := w.Start(r.New(w.clients[0], path), time.Second)
	require.ErrorIs(t, short.Failed(), lease.ErrTimeout)
	require.InDelta(t, time.Second, short.Took, float64(100*time.Millisecond))
	w.Server.RefuseConnections("", false)
	w.After(time.Second)
	require.True(t, at.Waiting())
	for _, l := range held {
		require.NoError(t, l.Err(), "a short outage ends no lease")
	}
	release(t, held...)
	release(t, at.Granted())
}

// serverDownForLong keeps the server unreachable for longer than sessions live.
func serverDownForLong(t *testing.T, w *World, r Recipe) {
	for _, strike := range strikes {
		referee := r.Referee()
		held := fill(w, r)
		for _, l := range held {
			referee.Grant("a holder", l)
		}
		at := w.Start(r.New(w.Client("a"), path), lease.Forever)
		strike(w)
		w.After(10 * SessionTimeout)
		for _, l := range held {
			require.ErrorIs(t, l.Err(), lease.ErrLost)
		}
		require.True(t, at.Waiting())
		w.Heal()
		got := at.Granted()
		referee.Grant("the waiter", got)
		require.Empty(t, referee.Faults())
		require.NoError(t, got.Confirm(t.Context()))
		release(t, got)
		for _, l := range held {
			require.ErrorIs(t, l.Release(), lease.ErrLost)
		}
		require.NoError(t, w.Known("a").Close())
	}
}

// waitsEndInOutages checks each limit of a wait while the server has been down for a
// moment, or for long.
func waitsEndInOutages(t *testing.T, w *World, r Recipe) {
	for _, strike := range strikes {
		for _, since := range []time.Duration{0, time.Second, 20 * time.Second} {
			held := fill(w, r)
			a := r.New(w.Client("a"), path)
			inQueue := w.Start(a, lease.Forever)
			strike(w)
			w.After(since)
			timed, try := w.Start(a, 2*time.Second), w.Start(a, 0)
			short, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			bounded := w.StartWith(short, a, lease.Forever)
			require.ErrorIs(t, bounded.Failed(), context.DeadlineExceeded)
			require.InDelta(t, 1500*time.Millisecond, bounded.Took, float64(100*time.Millisecond))
			cancel()
			require.ErrorIs(t, timed.Failed(), lease.ErrTimeout)
			require.InDelta(t, 2*time.Second, timed.Took, float64(100*time.Millisecond))
			require.ErrorIs(t, try.Failed(), lease.ErrTimeout)
			require.LessOrEqual(t, try.Took, SessionTimeout/3)
			require.True(t, inQueue.Waiting())
			reason := errors.New("enough")
			inQueue.Cancel(reason)
			w.After(100 * time.Millisecond)
			require.False(t, inQueue.Waiting())
			require.ErrorIs(t, inQueue.Failed(), reason)
			w.Heal()
			require.NoError(t, w.Known("a").Close())
			for _, l := range held {
				_ = l.Release() // it may be lost
			}
			w.After(2 * SessionTimeout)
		}
	}
}

// acquireBeginsInOutages begins to acquire while there is no connection, and while
// there is no session.
func acquireBeginsInOutages(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	for _, lost := range []bool{false, true} {
		w.Server.RefuseConnections("a", true)
		if lost {
			w.Expire(c)
		}
		w.Server.DropConnections("a")
		w.After(2 * SessionTimeout)
		at := w.Start(r.New(c, path), lease.Forever)
		w.After(time.Minute)
		require.True(t, at.Waiting())
		w.Server.RefuseConnections("a", false)
		got := at.Granted()
		r.stands(w, c, got)
		release(t, got)
	}
}

func holderStopsWhenSuspended(t *testing.T, w *World, r Recipe) {
	a := r.New(w.Client("a", func(cfg *framework.Config) { cfg.StopOnSuspend = true }), path)
	held := w.Acquire(a)
	w.After(time.Second)
	w.Server.DropConnections("a")
	w.After(time.Millisecond)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrSuspended)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	release(t, w.Acquire(a))
}
