package conformance

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Rows about how a lease ends: it is released, or lost.
var ends = rows{
	"a lease is released once":               releasedOnce,
	"the connection breaks during a release": releaseBreaks,
	"the session of a holder ends":           holderLosesSession,
	"the network of a holder is cut":         holderIsCutOff,
	"the node of a holder is deleted":        holderLosesNode,
	"the node of a holder is replaced":       holdersNodeIsReplaced,
	"a check fails after a loss":             checkFailsAfterLoss,
}

func releasedOnce(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	held := w.Acquire(a)
	require.NoError(t, held.Err())
	require.NoError(t, held.Confirm(t.Context()))
	results := make(chan error, 10)
	for range cap(results) {
		go func() { results <- held.Release() }()
	}
	done := 0
	for range cap(results) {
		if err := <-results; err == nil {
			done++
		} else {
			require.ErrorIs(t, err, lease.ErrReleased)
		}
	}
	require.Equal(t, 1, done)
	next := w.Acquire(r.New(w.Client("b"), path))
	require.ErrorIs(t, held.Release(), lease.ErrReleased)
	require.ErrorIs(t, held.Err(), lease.ErrReleased)
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrReleased)
	require.ErrorIs(t, held.Confirm(t.Context()), lease.ErrReleased)
	require.NoError(t, next.Confirm(t.Context()), "the next holder is not affected")
	release(t, next)
	w.Settle()
	require.Empty(t, w.Ephemerals("/"))
}

// releaseBreaks breaks the connection, delays answers or refuses while a release is
// under way.
func releaseBreaks(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	for _, strike := range []func(*zktest.Rule){
		func(rule *zktest.Rule) { rule.Before().Cut() },
		func(rule *zktest.Rule) { rule.After().Cut() },
		func(rule *zktest.Rule) { rule.Before().DropReply() },
		func(rule *zktest.Rule) { rule.After().DropReply() },
		func(rule *zktest.Rule) { rule.Before().Mute() },
		func(rule *zktest.Rule) { rule.Before().Delay(SessionTimeout / 2) },
		func(rule *zktest.Rule) { rule.Before().Fail(zktest.SessionMoved) },
	} {
		held := w.Acquire(a)
		at := w.Start(r.next()(w.Named("b"), path), lease.Forever)
		rule := w.Server.On(r.removal(), path).Client("a")
		strike(rule)
		began := time.Now()
		require.NoError(t, held.Release(), "it was intact until now")
		require.LessOrEqual(t, time.Since(began), SessionTimeout/3+50*time.Millisecond)
		<-rule.Fired()
		require.ErrorIs(t, held.Release(), lease.ErrReleased)
		w.After(SessionTimeout)
		require.False(t, at.Waiting(), "the release was finished in the background")
		release(t, at.Granted())
		release(t, w.Acquire(a))
		w.Settle()
		require.Empty(t, w.Ephemerals("/"))
	}
}

// next returns the constructor of what a lease keeps out once all slots are taken.
func (r Recipe) next() func(c *framework.Client, path string) lease.Acquirer {
	if r.Slots == 0 {
		return r.Block
	}
	return r.New
}

func holderLosesSession(t *testing.T, w *World, r Recipe) {
	c := w.Client("a")
	a := r.New(c, path)
	held := w.Acquire(a)
	at := w.Start(r.next()(w.Client("b"), path), lease.Forever)
	w.Expire(c)
	release(t, at.Granted())
	w.After(time.Second)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held.Context()), framework.ErrSessionLost)
	again := w.Acquire(a)
	require.ErrorIs(t, held.Release(), lease.ErrLost)
	w.After(time.Second)
	require.NoError(t, again.Confirm(t.Context()), "the late release did no harm")
	require.Greater(t, again.Token(), held.Token())
	release(t, again)
}

// holderIsCutOff cuts holders off from the server, at several moments between two
// pings.
func holderIsCutOff(t *testing.T, w *World, r Recipe) {
	for name, freeze := range map[string]func(client string, on bool){
		"partition": w.Server.Partition,
		"stall":     w.Server.Stall,
		"refused": func(client string, on bool) {
			w.Server.RefuseConnections(client, on)
			w.Server.DropConnections(client)
		},
		"mute": func(_ string, on bool) {
			w.Server.SetFaults(func(c zktest.Call) zktest.Action {
				if on && strings.HasPrefix(c.Client, "holder") && c.Phase != zktest.PhaseExpire {
					return zktest.Mute
				}
				return zktest.Pass
			})
		},
	} {
		for moment := range 4 {
			cutOff(t, w, r, SessionTimeout+time.Duration(moment)*431*time.Millisecond, name == "refused", freeze)
		}
	}
}

// cutOff cuts the holders off after that time. If they can reconnect, they free their
// slots themselves.
func cutOff(t *testing.T, w *World, r Recipe, after time.Duration, comesBack bool, freeze func(client string, on bool)) {
	referee := r.Referee()
	var held []*lease.Lease
	for i := range max(r.Slots, 1) {
		held = append(held, w.Acquire(r.New(w.Client(fmt.Sprint("holder", i)), path)))
		referee.Grant("a holder", held[i])
	}
	at := w.Start(r.next()(w.Client("b"), path), lease.Forever)
	require.True(t, at.Waiting())
	w.After(after)
	began := time.Now()
	for i := range held {
		freeze(fmt.Sprint("holder", i), true)
	}
	<-held[0].Context().Done()
	lost := time.Now()
	require.ErrorIs(t, context.Cause(held[0].Context()), lease.ErrLost)
	require.ErrorIs(t, context.Cause(held[0].Context()), framework.ErrSessionLost)
	got := at.Granted()
	referee.Grant("the next", got)
	require.Less(t, time.Since(began), SessionTimeout*3/2)
	if max(r.Slots, 1) == 1 && !comesBack {
		require.GreaterOrEqual(t, time.Since(lost), SessionTimeout/6-50*time.Millisecond)
	}
	if max(r.Slots, 1) == 1 { // of several holders some may live for a moment longer
		require.Positive(t, time.Since(lost))
		require.ErrorIs(t, held[0].Err(), lease.ErrLost, "the holder knew before the next grant")
	}
	require.Empty(t, referee.Faults())
	w.After(SessionTimeout)
	for i, l := range held {
		require.ErrorIs(t, l.Release(), lease.ErrLost)
		freeze(fmt.Sprint("holder", i), false)
	}
	require.NoError(t, got.Err())
	release(t, got)
	w.CloseAll()
	w.After(2 * SessionTimeout)
}

// holderLosesNode deletes a node before the holder first looks at it, and later.
func holderLosesNode(t *testing.T, w *World, r Recipe) {
	c, operator := w.Client("a"), w.Client("operator")
	for _, later := range []time.Duration{0, time.Second} {
		held := w.Acquire(r.New(c, path))
		w.After(later)
		w.Remove(operator, held.Path())
		w.After(100 * time.Millisecond)
		require.ErrorIs(t, held.Err(), lease.ErrLost)
		require.ErrorIs(t, context.Cause(held.Context()), lease.ErrDeleted)
		var loss *lease.LossError
		require.ErrorAs(t, held.Err(), &loss)
		require.Equal(t, held.Path(), loss.Path)
		require.Equal(t, held.Token(), loss.Token)
		require.ErrorIs(t, held.Release(), lease.ErrLost)
		at := w.Acquire(r.New(c, path))
		w.Remove(operator, at.Path())
		err := at.Release()
		r.requireAnswer(t, err, lease.ErrLost) // also if the release is the first to notice
		r.requireAnswer(t, err, lease.ErrDeleted)
		w.After(SessionTimeout)
	}
}

// holdersNodeIsReplaced deletes a node and makes another with its name.
func holdersNodeIsReplaced(t *testing.T, w *World, r Recipe) {
	if r.Nodes > 1 {
		return // the rest of several is deleted by name
	}
	c, forger := w.Client("a"), w.Client("forger")
	held := w.Acquire(r.New(c, path)) // which first looks at its node after a moment
	w.Remove(forger, held.Path())
	_, err := forger.Create(t.Context(), held.Path(), nil, framework.Ephemeral)
	require.NoError(t, err)
	w.After(20 * time.Millisecond)
	require.ErrorIs(t, held.Err(), lease.ErrLost)
	require.ErrorIs(t, held.Release(), lease.ErrDeleted)
	w.After(SessionTimeout)
	require.Equal(t, []string{held.Path()}, w.Ephemerals("/"), "the other node is left alone")
}

// checkFailsAfterLoss writes in transactions that contain Check of a lease.
func checkFailsAfterLoss(t *testing.T, w *World, r Recipe) {
	c, operator := w.Client("a"), w.Client("operator")
	view, err := c.Namespace("conformance")
	require.NoError(t, err)
	for _, lose := range []func(held *lease.Lease){
		func(held *lease.Lease) { w.Remove(operator, held.Path()) }, // and does not wait until the holder notices
		func(*lease.Lease) { w.Expire(c) },
		func(*lease.Lease) { w.Expire(c); w.After(time.Second) },
	} {
		held := w.Acquire(r.New(c, path))
		token, node := held.Token(), held.Path()
		write := framework.CreateOp("/written", nil, framework.Persistent)
		for _, view := range []*framework.Client{c, view, c.In(c.Session())} {
			_, err := view.Multi(t.Context(), held.Check())
			require.NoError(t, err, "on any view of the client")
		}
		lose(held)
		for _, view := range []*framework.Client{c, view} {
			_, err := view.Multi(t.Context(), held.Check())
			require.ErrorIs(t, err, framework.ErrNoNode)
		}
		again := w.Acquire(r.New(c, path))
		_, err := c.Multi(t.Context(), held.Check(), write)
		require.ErrorIs(t, err, framework.ErrNoNode, "a write under the old lease is refused")
		_, err = c.Multi(t.Context(), again.Check(), write)
		require.NoError(t, err)
		require.Equal(t, token, held.Token())
		require.Equal(t, node, held.Path())
		require.Greater(t, again.Token(), token)
		r.requireAnswer(t, held.Release(), lease.ErrLost)
		release(t, again)
		w.Remove(operator, "/written")
	}
}
