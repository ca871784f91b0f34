package conformance

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// delayedWaits are rows about those who wait for a delay.
var delayedWaits = timedRows{
	"nobody waits as long as the delay":           delayedShortCalls(0),
	"the same, and the clock of a server is fast": delayedShortCalls(time.Hour),
	"the same, and it is slow":                    delayedShortCalls(-time.Hour),
	"the clock of a server leaps":                 delayedLeap,
	"the error of a delay":                        delayError,
	"a wait for a delay is cancelled":             delayCancelled,
	"the session ends in a wait for a delay":      delayIn(func(w *World, c *framework.Client) { w.Expire(c) }),
	"the connection breaks in a wait for a delay": delayIn(func(w *World, _ *framework.Client) { w.Server.DropConnections("a") }),
	"the node is deleted in a wait for a delay": delayIn(func(w *World, _ *framework.Client) {
		for _, node := range w.Ephemerals("/") {
			w.Remove(w.Named("operator"), node)
		}
	}),
	"a call ends at any moment, without a lease": delayNotBegun,
	"who waits first gives up":                   delayFirstGivesUp,
	"the client closes in a wait for a delay":    delayClosed,
}

// killed has all slots be closed, from now on.
func killed(w *World, r Recipe) {
	w.T.Helper()
	_, clients := holders(w, r)
	w.kill(clients...)
}

// delayedShortCalls calls all the time, and never waits as long as the delay. A slot is
// open twice the delay after the first of them has marked the end, whatever the
// servers' clock shows.
func delayedShortCalls(clock time.Duration) timedRow {
	return func(t *testing.T, w *World, with Timed) {
		r := with(Times{LockDelay: lockDelay})
		w.Server.SetClock(clock)
		killed(w, r)
		a := r.New(w.Client("a"), path)
		w.After(3 * time.Second)
		first := time.Now()
		for n := 0; ; n++ {
			left := time.Until(first.Add(2 * r.closedFor()))
			if left < 2*time.Second {
				w.After(left - time.Millisecond)
				break
			}
			at := w.Start(a, time.Duration(n%2)*time.Second)
			require.ErrorIs(t, at.Failed(), lease.ErrLockDelay)
			w.After(300 * time.Millisecond)
		}
		require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrLockDelay)
		w.After(2 * time.Millisecond)
		release(t, w.Start(a, 0).Granted())
	}
}

// delayedLeap has the servers' clock leap by less than the delay: nobody gets the slot
// before the delay has passed, by any true clock. A call that waits as long gets the
// slot then, however slow the servers' clock becomes.
func delayedLeap(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	if r.Locks > 1 {
		return // each of the locks is marked at a time of its own
	}
	killed(w, r)
	a := r.New(w.Client("a"), path)
	marked := time.Now()
	require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrLockDelay)
	w.Server.SetClock(lockDelay - time.Millisecond)
	for time.Since(marked) < lockDelay {
		require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrLockDelay)
		w.After(lockDelay / 40)
	}
	w.After(2 * time.Millisecond)
	release(t, w.Start(a, 0).Granted())

	w.Server.SetClock(0)
	killed(w, r)
	require.ErrorIs(t, w.Start(a, 0).Failed(), lease.ErrLockDelay)
	w.Server.SetClock(-time.Hour)
	since := time.Now()
	release(t, w.requireGrantedAt(r, w.Start(a, lease.Forever), since.Add(lockDelay)))
}

func delayError(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	held, clients := holders(w, r)
	records := w.Records()
	b := r.New(w.Client("b"), path)
	waits := w.Start(b, 1500*time.Millisecond)
	require.NotErrorIs(t, waits.Failed(), lease.ErrLockDelay, "somebody is ahead")
	w.kill(clients...)
	for _, timeout := range []time.Duration{0, -time.Second, 1500 * time.Millisecond} {
		at := w.Start(b, timeout)
		require.ErrorIs(t, at.Failed(), lease.ErrTimeout)
		require.ErrorIs(t, at.Err, lease.ErrLockDelay)
		require.NotErrorIs(t, at.Err, lease.ErrLockDelayMismatch)
		var late *lease.TimeoutError
		require.ErrorAs(t, at.Err, &late)
		require.ErrorIs(t, late.Err, lease.ErrLockDelay)
		require.NoError(t, late.Cause)
		require.Zero(t, late.Ahead, "nobody is")
		require.InDelta(t, max(timeout, 0), late.Waited, float64(60*time.Millisecond))
		require.InDelta(t, max(timeout, 0), at.Took, float64(60*time.Millisecond))
		require.ErrorContains(t, at.Err, "20s")
		named := false
		for _, record := range records {
			named = named || late.Node == record[strings.LastIndex(record, "/")+1:]
		}
		require.True(t, named, "%s is that of a holder", late.Node)
		require.ErrorContains(t, at.Err, late.Holder.String()+" has ended without a release")
		w.Settle()
		require.Empty(t, w.Ephemerals("/"), "nothing is left")
	}
	for _, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrLost)
	}
}

// delayCancelled cancels a wait. The next one that comes begins anew.
func delayCancelled(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	killed(w, r)
	records := w.Records()
	reason := errors.New("not needed any more")
	at := w.Start(r.New(w.Client("a"), path), lease.Forever)
	w.After(5 * time.Second)
	require.Len(t, w.Ephemerals("/"), 1)
	at.Cancel(reason)
	w.Settle()
	require.False(t, at.Waiting(), "it ends at once")
	require.ErrorIs(t, at.Failed(), reason)
	require.NotErrorIs(t, at.Err, lease.ErrTimeout)
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
	require.Equal(t, records, w.Records())
	b := r.New(w.Client("b"), path)
	since := time.Now()
	release(t, w.requireGrantedAt(r, w.Start(b, lease.Forever), since.Add(r.closedFor())))
}

// delayIn strikes at client a while it waits. It has seen the end before, and what it
// has waited counts.
func delayIn(strike func(w *World, a *framework.Client)) timedRow {
	return func(t *testing.T, w *World, with Timed) {
		r := with(Times{LockDelay: lockDelay})
		killed(w, r)
		c := w.Client("a")
		since := time.Now()
		at := w.Start(r.New(c, path), lease.Forever)
		for range 3 {
			w.After(5 * time.Second)
			strike(w, c)
			w.After(time.Second)
		}
		if r.Spread { // in another session it may wait at another slot
			w.After(time.Until(since.Add(lockDelay - time.Millisecond)))
			require.True(t, at.Waiting())
			release(t, at.Granted())
			require.LessOrEqual(t, at.Took, 3*lockDelay)
			return
		}
		release(t, w.requireGrantedAt(r, at, since.Add(r.closedFor())))
	}
}

// delayFirstGivesUp has a second one come just before the first one gives up. It waits
// for no longer than a delay of its own.
func delayFirstGivesUp(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	killed(w, r)
	first := w.Start(r.New(w.Client("a"), path), lease.Forever)
	b := r.New(w.Client("b"), path)
	w.After(5 * time.Second)
	since := time.Now()
	second := w.Start(b, lease.Forever)
	first.Cancel(nil)
	require.Error(t, first.Failed())
	release(t, w.requireGrantedAt(r, second, since.Add(r.closedFor())))
}

func delayClosed(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	killed(w, r)
	c := w.Client("a")
	at := w.Start(r.New(c, path), lease.Forever)
	w.After(5 * time.Second)
	require.LessOrEqual(t, <-closing(w, c), 100*time.Millisecond)
	require.ErrorIs(t, at.Failed(), framework.ErrClosed)
	require.Empty(t, w.Ephemerals("/"))
}

// delayNotBegun ends calls at every moment of an acquire. Those that fail have held
// nothing, and leave nothing that closes a slot.
func delayNotBegun(t *testing.T, w *World, with Timed) {
	r := with(Times{LockDelay: lockDelay})
	a, b := r.New(w.Client("a"), path), r.New(w.Client("b"), path)
	release(t, w.Acquire(a))
	reason := errors.New("enough")
	failed, granted := 0, 0
	for limit := time.Millisecond; failed == 0 || granted < 20; limit += time.Millisecond {
		fast := w.slow("a", 5*time.Millisecond)
		for _, at := range []*Attempt{w.Start(a, limit), w.cancelledAfter(a, limit, reason)} {
			select {
			case <-at.Done():
			case <-time.After(waitLimit):
				t.Fatal("a call does not end")
			}
			if failed++; at.Err == nil {
				failed, granted = failed-1, granted+1
				release(t, at.Lease)
			}
		}
		w.After(300 * time.Millisecond)
		fast()
		require.Empty(t, w.Records(), "limit %v", limit)
		release(t, w.Start(b, 0).Granted())
	}
}

// slow delays each request of a client, and each answer, until it is told to end that.
func (w *World) slow(client string, by time.Duration) (end func()) {
	w.Server.SetFaults(func(call zktest.Call) zktest.Action {
		if call.Client == client && (call.Phase == zktest.PhaseBeforeApply || call.Phase == zktest.PhaseAfterApply) {
			return zktest.Delay(by)
		}
		return zktest.Pass
	})
	return func() { w.Server.SetFaults(nil) }
}

// cancelledAfter starts an attempt that is cancelled after some time, with a cause.
func (w *World) cancelledAfter(a lease.Acquirer, d time.Duration, cause error) *Attempt {
	at := w.Start(a, lease.Forever)
	time.AfterFunc(d, func() { at.Cancel(cause) })
	return at
}
