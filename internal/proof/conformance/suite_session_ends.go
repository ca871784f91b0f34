package conformance

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Ends of one of several sessions, or of all.
var sessionEnds = rows{
	"a further session is lost":                           furtherSessionIsLost,
	"the main session of several is lost":                 mainSessionIsLost,
	"a further session is suspended":                      furtherSessionIsSuspended,
	"a waiter moves to another session when its own ends": waiterMovesToAnotherSession,
	"a client with several sessions is closed":            severalSessionsAreClosed,
}

func furtherSessionIsLost(t *testing.T, w *World, r Recipe) {
	m := fillSessions(t, w, r)
	lost, length := m.furthest(w), len(m.states.since(0))
	main := m.client.Session()
	require.True(t, w.Server.ExpireSession(lost))
	w.After(time.Second)
	m.only(t, lost)
	require.Same(t, main, m.client.Session())
	require.Equal(t, []framework.StateChange{
		{State: framework.Suspended, Session: lost}, {State: framework.Lost, Session: lost}, {State: framework.Connected, Session: main.ID()},
	}, m.states.since(length))
	for _, l := range m.leases[lost] {
		again := w.Acquire(r.New(m.client, m.paths[l]))
		require.NotEqual(t, lost, ownerOf(w, again.Path()))
		release(t, again)
	}
	m.release(t, lost)
}

func mainSessionIsLost(t *testing.T, w *World, r Recipe) {
	m := fillSessions(t, w, r)
	lost := m.client.Session().ID()
	w.Expire(m.client)
	w.After(time.Second)
	require.Equal(t, framework.Connected, m.client.State())
	m.only(t, lost)
	for _, l := range m.leases[lost] {
		release(t, w.Acquire(r.New(m.client, m.paths[l])))
	}
	m.release(t, lost)
}

// Only the connection of the further sessions breaks.
func furtherSessionIsSuspended(t *testing.T, w *World, r Recipe) {
	m := fillSessions(t, w, r, dialFurtherAs(w, "further", math.MaxInt32))
	all, length := sessionsOf(w, "further"), len(m.states.since(0))
	require.Len(t, all, len(m.leases)-1)
	w.Server.Partition("further", true)
	w.After(SessionTimeout / 4)
	require.Equal(t, framework.Suspended, m.client.State())
	require.NoError(t, m.client.Reachable(), "that is the main session")
	for _, leases := range m.leases {
		for _, l := range leases {
			require.NoError(t, l.Err())
		}
	}
	w.Server.Partition("further", false)
	w.After(time.Second)
	m.only(t, 0)
	changes := m.states.since(length)
	require.Len(t, changes, 2)
	require.Contains(t, all, changes[0].Session)
	require.Equal(t, framework.Suspended, changes[0].State)
	require.Equal(t, framework.StateChange{State: framework.Connected, Session: m.client.Session().ID()}, changes[1])
	w.Server.Partition("further", true)
	w.After(SessionTimeout)
	for session, leases := range m.leases {
		for _, l := range leases {
			require.Equal(t, session == m.client.Session().ID(), l.Err() == nil)
		}
	}
	require.Equal(t, framework.Connected, m.client.State(), "there is no trouble any more, only losses")
	w.Server.Partition("further", false)
	release(t, m.leases[m.client.Session().ID()]...)
}

// A waiter whose session ends queues again, in another one.
func waiterMovesToAnotherSession(t *testing.T, w *World, r Recipe) {
	m := fillSessions(t, w, r)
	held := fill(w, r)
	waiting := w.Start(r.New(m.client, path), lease.Forever)
	w.After(time.Second)
	var ended int64
	for _, s := range w.Server.Sessions() {
		for _, node := range s.Ephemeral {
			if s.Client == "a" && strings.HasPrefix(node, path) && !m.holds(node) {
				ended = s.ID
			}
		}
	}
	require.NotZero(t, ended)
	require.True(t, w.Server.ExpireSession(ended))
	w.After(time.Second)
	require.True(t, waiting.Waiting())
	release(t, held...)
	got := waiting.Granted()
	require.NotEqual(t, ended, ownerOf(w, got.Path()))
	release(t, got)
	m.only(t, ended)
	m.release(t, ended)
}

func severalSessionsAreClosed(t *testing.T, w *World, r Recipe) {
	for _, grace := range []time.Duration{0, time.Second} {
		m := fillSessions(t, w, r, func(cfg *framework.Config) { cfg.CloseGrace = grace })
		done := closing(w, m.client)
		w.Settle()
		for _, leases := range m.leases {
			for _, l := range leases {
				require.ErrorIs(t, l.Err(), framework.ErrClosed)
			}
		}
		if grace > 0 {
			require.Len(t, sessionsOf(w, "a"), len(m.leases), "their holders have the time that was promised")
		}
		require.Less(t, <-done-grace, 100*time.Millisecond, "for all at once")
		require.Empty(t, sessionsOf(w, "a"))
		require.Empty(t, w.Ephemerals("/"))
	}
}
