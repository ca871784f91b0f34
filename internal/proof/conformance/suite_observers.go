package conformance

import (
	"context"
	"errors"
	stdpath "path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about the events of observers. The order, and that whatever starts ends once, is
// checked in all rows of the suite: see ObserverLog.
var observers = rows{
	"observers are notified of a hold":            observesHold,
	"observers are notified of a wait":            observesWait,
	"observers are notified of failures":          observesFailures,
	"observers are notified of losses":            observesLosses,
	"observers are notified of the next session":  observesNextSession,
	"observers are notified of a re-entry":        observesReEntry,
	"observers cannot change what a lease is":     observersChangeNothing,
	"a session ends while observers are notified": sessionEndsBeforeTheHold,
	"a client is closed while it is held open":    closedWhileHeld,
}

// observed returns what observers received in f by clients with that name's observer.
func (w *World) observed(name string, f func(c *framework.Client)) []any {
	w.T.Helper()
	var log ObserverLog
	f(w.Client(name, func(cfg *framework.Config) { cfg.Observers = append(cfg.Observers, log.Observer()) }))
	w.Settle()
	require.Empty(w.T, log.Wrong())
	return log.Events()
}

// event returns an event of a type.
func event[T any](t *testing.T, events []any, i int) T {
	t.Helper()
	require.Greater(t, len(events), i, "%+v", events)
	require.IsType(t, *new(T), events[i])
	return events[i].(T)
}

func observesHold(t *testing.T, w *World, r Recipe) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "the caller's")
	var held *lease.Lease
	var session int64
	events := w.observed("a", func(c *framework.Client) {
		ns, err := c.Namespace("conformance")
		require.NoError(t, err)
		held, err = r.New(ns, "/recipe").Acquire(ctx, time.Minute)
		require.NoError(t, err)
		require.NotNil(t, held.Context().Value(startedKey{&w.Observed, "hold"}), "work under the lease is part of the hold")
		require.Nil(t, held.Context().Value(startedKey{&w.Observed, "acquire"}), "and not of the acquire")
		require.Equal(t, "the caller's", held.Context().Value(key{}))
		session = c.Session().ID()
		pass(3 * time.Second)
		require.NoError(t, held.Release())
	})
	require.Len(t, events, 4)
	acquire, ended := event[framework.AcquireInfo](t, events, 0), event[framework.AcquireEnd](t, events, 1)
	hold, over := event[framework.HoldInfo](t, events, 2), event[framework.HoldEnd](t, events, 3)
	require.NotEmpty(t, acquire.Recipe)
	permits := acquire.Permits // more than 1 if the recipe is a semaphore's weight
	wanted, got := path+r.Below, path+r.Below
	if r.Spread {
		wanted, got = path, stdpath.Dir("/conformance"+held.Path())
	}
	require.Equal(t, framework.AcquireInfo{Recipe: acquire.Recipe, Path: path, Lock: wanted, Permits: permits, Timeout: time.Minute}, acquire)
	require.Equal(t, framework.AcquireEnd{AcquireInfo: acquire}, ended, "it took no virtual time")
	require.Equal(t, framework.HoldInfo{
		Recipe: acquire.Recipe, Path: path, Lock: got, Node: "/conformance" + held.Path(), Permits: permits, Session: session, Token: int64(held.Token()),
	}, hold)
	require.Equal(t, framework.HoldEnd{HoldInfo: hold, Held: 3 * time.Second}, over)
}

// observesWait has every answer to the waiter take a while, so that a hand-over takes
// time.
func observesWait(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	const slow = 20 * time.Millisecond
	events := w.observed("a", func(c *framework.Client) {
		at := w.Start(r.New(c, path), lease.Forever)
		w.After(2 * SessionTimeout / 3)
		require.True(t, at.Waiting())
		w.Server.SetFaults(func(c zktest.Call) zktest.Action {
			if c.Client == "a" && c.Phase == zktest.PhaseAfterApply {
				return zktest.Delay(slow)
			}
			return zktest.Pass
		})
		release(t, held[0])
		next := at.Granted()
		w.Server.SetFaults(nil)
		release(t, next)
	})
	require.Len(t, events, 4)
	ended := event[framework.AcquireEnd](t, events, 1)
	require.Positive(t, ended.Ahead)
	require.GreaterOrEqual(t, ended.HandOver, slow, "a quorum has to vouch for a session that was idle")
	require.LessOrEqual(t, ended.HandOver, 10*slow)
	require.Equal(t, ended.HandOver.Round(SessionTimeout/3)+2*SessionTimeout/3, ended.Waited.Round(SessionTimeout/3))
	release(t, held[1:]...)
}

func observesFailures(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	errMine := errors.New("cancelled by the test")
	for name, tc := range map[string]struct {
		timeout time.Duration
		end     func(c *framework.Client, at *Attempt)
		err     error
	}{
		"at once":   {0, func(*framework.Client, *Attempt) {}, lease.ErrTimeout},
		"late":      {time.Second, func(*framework.Client, *Attempt) {}, lease.ErrTimeout},
		"cancelled": {lease.Forever, func(_ *framework.Client, at *Attempt) { at.Cancel(errMine) }, errMine},
		"closed":    {lease.Forever, func(c *framework.Client, _ *Attempt) { c.Close() }, framework.ErrClosed},
	} {
		events := w.observed(name, func(c *framework.Client) {
			at := w.Start(r.New(c, path), tc.timeout)
			tc.end(c, at)
			require.ErrorIs(t, at.Failed(), tc.err)
			w.After(SessionTimeout) // clean-ups end
		})
		require.Len(t, events, 2, name)
		ended := event[framework.AcquireEnd](t, events, 1)
		require.ErrorIs(t, ended.Err, tc.err, name)
		require.Positive(t, ended.Ahead, name)
	}
	release(t, held...)
}

func observesLosses(t *testing.T, w *World, r Recipe) {
	for name, tc := range map[string]struct {
		end    func(c *framework.Client, held *lease.Lease)
		reason error
	}{
		"expired": {func(c *framework.Client, _ *lease.Lease) { w.Expire(c) }, framework.ErrSessionLost},
		"deleted": {func(_ *framework.Client, held *lease.Lease) { w.Remove(w.Named("other"), held.Path()) }, lease.ErrDeleted},
		"closed":  {func(c *framework.Client, _ *lease.Lease) { require.NoError(t, c.Close()) }, framework.ErrClosed},
		"cut off": {func(*framework.Client, *lease.Lease) { w.Server.Partition("cut off", true) }, framework.ErrTrustExpired},
	} {
		var held *lease.Lease
		events := w.observed(name, func(c *framework.Client) {
			held = w.Acquire(r.New(c, path))
			w.After(time.Second)
			tc.end(c, held)
			<-held.Done()
			require.ErrorIs(t, held.Release(), lease.ErrLost)
			w.Server.Partition(name, false)
			w.After(2 * SessionTimeout)
		})
		over := event[framework.HoldEnd](t, events, 3)
		var loss *lease.LossError
		require.ErrorAs(t, over.Err, &loss, name)
		require.ErrorIs(t, over.Err, tc.reason, name)
		require.Equal(t, loss.Held, over.Held, name)
	}
}

// observesNextSession has a waiter lose its session: it is one acquire, and the hold is
// that of the next session.
func observesNextSession(t *testing.T, w *World, r Recipe) {
	held := fill(w, r)
	var session int64
	events := w.observed("a", func(c *framework.Client) {
		at := w.Start(r.New(c, path), lease.Forever)
		w.Expire(c)
		w.After(time.Second)
		release(t, held[0])
		next := at.Granted()
		session = c.Session().ID()
		release(t, next)
	})
	require.Len(t, events, 4)
	require.Equal(t, session, event[framework.HoldInfo](t, events, 2).Session)
	release(t, held[1:]...)
}

// observersChangeNothing has an observer return contexts that belong to another lease,
// have ended, or know nothing of the caller's.
func observersChangeNothing(t *testing.T, w *World, r Recipe) {
	type key struct{}
	type callers struct{}
	foreign, cancel := context.WithCancel(context.Background())
	var returned context.Context
	c := w.Client("a", func(cfg *framework.Config) {
		cfg.Observers = append([]framework.Observer{{
			AcquireStarted: func(context.Context, framework.AcquireInfo) context.Context { return returned },
			HoldStarted:    func(context.Context, framework.HoldInfo) context.Context { return returned },
		}}, cfg.Observers...)
	})
	const elsewhere = "/conformance/elsewhere"
	other := w.Acquire(r.New(c, elsewhere))
	cancel()
	alive, cancelAlive := context.WithCancel(context.Background())
	defer cancelAlive()
	ended := errors.New("the work ends")
	for _, returned = range []context.Context{
		nil, foreign, context.WithValue(context.Background(), key{}, 1), context.WithoutCancel(t.Context()), other.Context(), alive, foreign,
	} {
		ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), callers{}, "the caller's"))
		held := w.StartWith(ctx, r.New(c, path), time.Minute).Granted()
		require.NoError(t, held.Context().Err())
		require.Equal(t, "the caller's", held.Context().Value(callers{}))
		require.NotNil(t, held.Context().Value(startedKey{&w.Observed, "hold"}), "the other observer")
		if !r.NotReentrant {
			inner := w.StartWith(held.Context(), r.New(c, path), 0).Granted()
			require.Equal(t, held.Token(), inner.Token())
			release(t, inner)
		}
		if !r.NotReentrant && !r.shares() {
			at := w.StartWith(held.Context(), r.New(c, elsewhere), 0)
			require.ErrorIs(t, at.Failed(), lease.ErrTimeout, "another lease's context gives no ownership")
		}
		cancel(ended)
		w.Settle()
		require.ErrorIs(t, context.Cause(held.Context()), ended)
		release(t, held)
	}
	returned = context.Background()
	unending, err := r.New(c, path).Acquire(context.WithValue(context.Background(), callers{}, "the caller's"), time.Minute)
	require.NoError(t, err)
	require.Equal(t, "the caller's", unending.Context().Value(callers{}))
	release(t, unending)
	release(t, other)
}

// sessionEndsBeforeTheHold ends the session while an observer is notified of the end of
// the acquire, and of the start of the hold.
func sessionEndsBeforeTheHold(t *testing.T, w *World, r Recipe) {
	for _, early := range []bool{true, false} {
		var c *framework.Client
		end := func(now bool) {
			if now {
				w.Expire(c)
				<-c.Session().Done()
				pass(time.Second) // nothing can be started in that session any more
			}
		}
		c = w.Client("a", func(cfg *framework.Config) {
			cfg.Observers = append(cfg.Observers, framework.Observer{
				AcquireEnded: func(context.Context, framework.AcquireEnd) { end(early) },
				HoldStarted:  func(ctx context.Context, _ framework.HoldInfo) context.Context { end(!early); return ctx },
			})
		})
		held, err := r.New(c, path).Acquire(t.Context(), time.Minute)
		require.NoError(t, err)
		require.ErrorIs(t, held.Err(), framework.ErrSessionLost)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
	}
}

// closedWhileHeld closes a client at the same time as its leases are released.
func closedWhileHeld(t *testing.T, w *World, r Recipe) {
	for range 20 {
		c := w.Client("a")
		held := w.Acquire(r.New(c, path))
		go func() { _ = held.Release() }()
		require.NoError(t, c.Close())
		<-held.Done()
	}
}
