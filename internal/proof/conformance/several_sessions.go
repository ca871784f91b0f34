package conformance

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// roomFor makes a session take about so many of the contenders of these rows.
func roomFor(r Recipe, contenders int) func(*framework.Config) {
	return func(cfg *framework.Config) { cfg.MaxEphemeralBytes = 100 * contenders * (max(r.Nodes, 1) + 1) / 2 }
}

// dialFurtherAs gives the connections from the second to another one, that is the first
// ones of further sessions, another name.
func dialFurtherAs(w *World, name string, last int32) func(*framework.Config) {
	var connections atomic.Int32
	return func(cfg *framework.Config) {
		others, further := cfg.Dial, w.Server.Dial(name)
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if n := connections.Add(1); 2 <= n && n <= last {
				return further(ctx, network, addr)
			}
			return others(ctx, network, addr)
		}
	}
}

// A stateLog has what has become of a client.
type stateLog struct {
	mu  sync.Mutex
	all []framework.StateChange
}

func (l *stateLog) observe(cfg *framework.Config) {
	cfg.Observers = append(cfg.Observers, framework.Observer{StateChanged: func(change framework.StateChange) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, framework.StateChange{State: change.State, Session: change.Session})
	}})
}

// since returns what there is from some length on, without times and reasons.
func (l *stateLog) since(length int) []framework.StateChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]framework.StateChange{}, l.all[length:]...)
}

// many are leases on paths of their own, by the sessions that own their nodes.
type many struct {
	client *framework.Client
	states *stateLog
	leases map[int64][]*lease.Lease
	paths  map[*lease.Lease]string
}

// fillSessions has a client named "a" hold a dozen leases.
func fillSessions(t *testing.T, w *World, r Recipe, change ...func(*framework.Config)) *many {
	t.Helper()
	m := &many{states: new(stateLog), leases: map[int64][]*lease.Lease{}, paths: map[*lease.Lease]string{}}
	m.client = w.Client("a", append(change, roomFor(r, 5), m.states.observe)...)
	for i := range 12 {
		at := fmt.Sprintf("%s/%02d", path, i)
		held := w.Acquire(r.New(m.client, at))
		owner := ownerOf(w, m.client.FullPath(held.Path()))
		m.leases[owner] = append(m.leases[owner], held)
		m.paths[held] = at
	}
	require.GreaterOrEqual(t, len(m.leases), 3)
	require.Contains(t, m.leases, m.client.Session().ID())
	return m
}

// ownerOf returns the session that owns a node.
func ownerOf(w *World, node string) int64 {
	w.T.Helper()
	info, ok := w.Server.Node(node)
	require.True(w.T, ok, node)
	return info.EphemeralOwner
}

// furthest returns the session that was opened last.
func (m *many) furthest(w *World) (last int64) {
	for _, id := range sessionsOf(w, "a") {
		if id != m.client.Session().ID() {
			last = id
		}
	}
	return last
}

// only checks that of all leases just those of one session are lost.
func (m *many) only(t *testing.T, lost int64) {
	t.Helper()
	for session, leases := range m.leases {
		for _, l := range leases {
			if session != lost {
				require.NoError(t, l.Err())
				require.NoError(t, l.Confirm(t.Context()))
				continue
			}
			require.ErrorIs(t, l.Err(), lease.ErrLost)
			require.ErrorIs(t, l.Err(), framework.ErrSessionLost)
			require.ErrorContains(t, l.Err(), fmt.Sprintf("0x%x", session))
			require.Error(t, l.Context().Err())
		}
	}
}

// release releases all. Those of one session may be lost.
func (m *many) release(t *testing.T, but int64) {
	t.Helper()
	for session, leases := range m.leases {
		for _, l := range leases {
			if err := l.Release(); session != but {
				require.NoError(t, err)
			}
		}
	}
}

func sessionsOf(w *World, client string) (ids []int64) {
	for _, s := range w.Server.Sessions() {
		if s.Client == client {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// holds reports whether a node is that of one of the leases.
func (m *many) holds(node string) bool {
	for l := range m.paths {
		if strings.HasPrefix(node, m.paths[l]+"/") {
			return true
		}
	}
	return false
}
