package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Clients with more leases than there is room for in one session.
var severalSessions = rows{
	"there are more leases than one session has room for": moreLeasesThanOneSessionTakes,
	"contenders of one path share a session":              contendersShareASession,
	"no further session can be opened":                    noFurtherSession,
	"all sessions that are allowed are full":              allSessionsAreFull,
	"many contend at once where a session takes few":      manyContendWhereASessionTakesFew,
	"several are opened for those who come at once":       severalAreOpenedAtOnce,
	"several sessions have the credentials":               severalSessionsHaveTheCredentials,
}

func moreLeasesThanOneSessionTakes(t *testing.T, w *World, r Recipe) {
	leavesNothing(t, w, func() {
		m := fillSessions(t, w, r)
		var cfg framework.Config
		roomFor(r, 5)(&cfg)
		for _, s := range w.Server.Sessions() {
			used := 0
			for _, node := range s.Ephemeral {
				used += len(node) + 4
			}
			require.LessOrEqual(t, used, cfg.MaxEphemeralBytes)
		}
		require.Len(t, sessionsOf(w, "a"), len(m.leases))
		m.only(t, 0)
		w.After(5 * time.Minute)
		m.only(t, 0)
		require.Len(t, sessionsOf(w, "a"), len(m.leases))
		m.release(t, 0)
		w.After(2*time.Minute + time.Second)
		require.Equal(t, []int64{m.client.Session().ID()}, sessionsOf(w, "a"), "those that are not used are closed")
		require.Equal(t, framework.Connected, m.client.State())
		require.Len(t, m.states.since(0), 2, "connecting, and connected for good")
		release(t, w.Acquire(r.New(m.client, path)))
	})
}

func contendersShareASession(t *testing.T, w *World, r Recipe) {
	m := fillSessions(t, w, r)
	last := m.furthest(w)
	kept := m.leases[last][0]
	for session, leases := range m.leases {
		if session != last {
			release(t, leases...)
		}
	}
	release(t, m.leases[last][1:]...)
	require.NotEqual(t, m.client.Session().ID(), ownerOf(w, kept.Path()))
	waiting := []*Attempt{w.Start(r.blocker()(m.client, m.paths[kept]), lease.Forever)}
	other := w.Acquire(r.New(m.client, path))
	require.Equal(t, m.client.Session().ID(), ownerOf(w, other.Path()), "the oldest session takes those who contend alone")
	for _, s := range w.Server.Sessions() {
		if s.ID != last && s.Client == "a" && !r.Spread {
			require.LessOrEqual(t, len(s.Ephemeral), max(r.Nodes, 1))
		}
	}
	release(t, other, kept)
	for _, at := range waiting {
		got := at.Granted()
		require.Equal(t, !r.Spread, last == ownerOf(w, got.Path()))
		release(t, got)
	}
}

func noFurtherSession(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", roomFor(r, 5))
	w.Server.RefuseConnections("a", true)
	var held []*lease.Lease
	for {
		at := w.Start(r.New(c, fmt.Sprint(path, "/", len(held))), lease.Forever)
		at.await()
		if at.Err != nil {
			require.ErrorIs(t, at.Err, framework.ErrTooManyEphemerals)
			require.ErrorIs(t, at.Err, framework.ErrNotConnected)
			require.LessOrEqual(t, at.Took, SessionTimeout+time.Second)
			break
		}
		held = append(held, at.Lease)
	}
	require.NotEmpty(t, held)
	next := w.Start(r.New(c, path), lease.Forever)
	require.True(t, next.Waiting())
	release(t, held[0])
	got := next.Granted()
	require.Equal(t, c.Session().ID(), ownerOf(w, got.Path()), "there is room again")
	w.Server.RefuseConnections("a", false)
	again := w.Acquire(r.New(c, path+"/again"))
	release(t, append(held[1:], got, again)...)
}

func allSessionsAreFull(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", roomFor(r, 5), func(cfg *framework.Config) { cfg.Sessions = 2 })
	held := acquireUntilFull(t, w, r, c)
	require.Len(t, sessionsOf(w, "a"), 2)
	w.After(SessionTimeout)
	nodes := 0
	for _, s := range w.Server.Sessions() {
		nodes += len(s.Ephemeral)
	}
	require.Equal(t, len(held)*max(r.Nodes, 1), nodes)

	last := held[len(held)-1]
	require.True(t, w.Server.ExpireSession(ownerOf(w, last.Path())))
	<-last.Done()
	again := acquireUntilFull(t, w, r, c)
	for _, l := range held {
		_ = l.Release() // half of them are lost
	}
	release(t, again...)
}

// acquireUntilFull acquires on new paths until both sessions of a client are full.
func acquireUntilFull(t *testing.T, w *World, r Recipe, c *framework.Client) (held []*lease.Lease) {
	t.Helper()
	for i := range 20 {
		at := w.Start(r.New(c, fmt.Sprintf("%s/%v-%d", path, time.Now().Unix(), i)), time.Minute)
		at.await()
		if at.Err != nil {
			require.ErrorIs(t, at.Err, framework.ErrTooManyEphemerals)
			require.ErrorContains(t, at.Err, "2 sessions")
			require.Zero(t, at.Took)
			require.NotEmpty(t, held)
			return held
		}
		held = append(held, at.Lease)
	}
	t.Fatal("there are more sessions than are allowed")
	return nil
}

// The contenders of a client have queue positions in several sessions.
func manyContendWhereASessionTakesFew(t *testing.T, w *World, r Recipe) {
	w.Client("a", roomFor(r, 3))
	w.Client("b", roomFor(r, 3))
	crowdsUnderFaults(t, w, r)
	owners := map[int64]bool{}
	for _, e := range w.Observed.Events() {
		if hold, ok := e.(framework.HoldInfo); ok {
			owners[hold.Session] = true
		}
	}
	require.GreaterOrEqual(t, len(owners), 4)
}

// Not each contender opens a session, but as many are opened as are needed: a session
// that is passed over has at least three of them, or two that take several nodes. Those
// with several nodes that come at once may take the room for each other's last one, and
// each of them then opens a session: so they come one after the other here.
func severalAreOpenedAtOnce(t *testing.T, w *World, r Recipe) {
	c := w.Client("a", roomFor(r, 4))
	var starting []*Attempt
	for i := range 10 {
		starting = append(starting, w.Begin(t.Context(), r.New(c, fmt.Sprint(path, "/", i)), lease.Forever))
		if r.Nodes > 0 {
			w.Settle()
		}
	}
	held := grantedAll(starting)
	opened := len(sessionsOf(w, "a"))
	require.GreaterOrEqual(t, opened, 3)
	require.LessOrEqual(t, opened, 5)
	release(t, held...)
}

// What one session makes, another may use, which has the same credentials.
func severalSessionsHaveTheCredentials(t *testing.T, w *World, r Recipe) {
	m := fillSessions(t, w, r, func(cfg *framework.Config) {
		cfg.Auth = []framework.Credential{framework.DigestAuth("u", "p")}
		cfg.ACL = framework.OwnedBelow("/conformance")
		cfg.Namespace = "in"
	})
	m.only(t, 0)
	m.release(t, 0)
	for _, at := range m.paths {
		release(t, w.Acquire(r.New(m.client, at)))
	}
}
