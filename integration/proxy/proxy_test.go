package proxy_test

import (
	"context"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/probe"
	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start returns a server, a proxy in front of it, a client through the proxy and one
// past it.
func start(t *testing.T) (p *proxy.Proxy, through, past *zk.Conn) {
	t.Helper()
	server := ensemble.New(t, ensemble.Options{NoSync: true}).Node(0).Addr()
	p = proxy.New(t, server)
	return p, probe.Connect(t, p.Addr()), probe.Connect(t, server)
}

func create(conn *zk.Conn, path string) error {
	_, err := conn.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
	return err
}

func TestCutBeforeTheServerSawTheRequest(t *testing.T) {
	p, through, past := start(t)
	fired := p.CutBefore(proxy.OpCreate, "/a")
	require.NoError(t, create(through, "/b"), "another path is not cut")
	require.False(t, probe.Exists(t, through, "/a"), "another request is not cut")

	require.ErrorIs(t, create(through, "/a"), zk.ErrConnectionClosed)
	await(t, fired)
	probe.Sync(t, past)
	require.False(t, probe.Exists(t, past, "/a"), "the server never saw it")

	probe.Create(t, through, "/a")
	require.True(t, probe.Exists(t, past, "/a"), "it happens once")
}

func TestCutAfterTheServerCarriedTheRequestOut(t *testing.T) {
	p, through, past := start(t)
	session := through.SessionID()
	fired := p.CutAfter(proxy.OpCreate, "/a")

	require.ErrorIs(t, create(through, "/a"), zk.ErrConnectionClosed)
	await(t, fired)
	require.True(t, probe.Exists(t, past, "/a"), "the server carried it out")
	require.True(t, probe.Exists(t, through, "/a"))
	require.Equal(t, session, through.SessionID(), "the session goes on over the next connection")
}

func TestCutMeansTheNthRequest(t *testing.T) {
	p, through, past := start(t)
	fired := p.CutBefore(proxy.OpCreate, "/", proxy.Nth(3))
	require.NoError(t, create(through, "/1"))
	require.NoError(t, create(through, "/2"))
	require.ErrorIs(t, create(through, "/3"), zk.ErrConnectionClosed)
	await(t, fired)
	require.False(t, probe.Exists(t, past, "/3"))
}

func TestCutThenRefuseKeepsTheClientOut(t *testing.T) {
	p, through, _ := start(t)
	fired := p.CutAfter(proxy.OpCreate, "/a", proxy.ThenRefuse())
	require.ErrorIs(t, create(through, "/a"), zk.ErrConnectionClosed)
	await(t, fired)
	_, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	p.Refuse(false)
	require.True(t, probe.Exists(t, through, "/a"))
}

func TestCutMeansTheFirstPathOfATransaction(t *testing.T) {
	p, through, past := start(t)
	require.NoError(t, create(through, "/parent"))
	fired := p.CutAfter(proxy.OpMulti, "/parent/")
	_, err := through.Multi(
		&zk.CreateRequest{Path: "/parent/child", Acl: zk.WorldACL(zk.PermAll)},
		&zk.CheckVersionRequest{Path: "/parent", Version: 0},
	)
	require.ErrorIs(t, err, zk.ErrConnectionClosed)
	await(t, fired)
	require.True(t, probe.Exists(t, past, "/parent/child"))
}

func TestCutOfTheConnectRequestCostsASession(t *testing.T) {
	server := ensemble.New(t, ensemble.Options{NoSync: true}).Node(0).Addr()
	p := proxy.New(t, server)
	before, after := p.CutBefore(proxy.OpConnect, ""), p.CutAfter(proxy.OpConnect, "")
	probe.Connect(t, p.Addr())
	await(t, before)
	await(t, after)
	stats, err := ensemble.Mntr(probe.Deadline(t), server)
	require.NoError(t, err)
	require.Equal(t, "2", stats["zk_global_sessions"], "one that the client knows and one that it does not")
}

func TestCutClosesConnectionsAndTakesNewOnes(t *testing.T) {
	server := ensemble.New(t, ensemble.Options{NoSync: true}).Node(0).Addr()
	p := proxy.New(t, server)
	conn := probe.Connect(t, p.Addr())
	session, remote := conn.SessionID(), remoteOf(t, server, conn.SessionID())
	p.Cut()
	probe.Create(t, conn, "/a")
	require.Equal(t, session, conn.SessionID())
	require.NotEqual(t, remote, remoteOf(t, server, session), "the session is carried on by another connection")
}

// remoteOf returns the address from which the server sees a session connected.
func remoteOf(t *testing.T, server string, session int64) string {
	t.Helper()
	connections, err := ensemble.Cons(probe.Deadline(t), server)
	require.NoError(t, err)
	i := slices.IndexFunc(connections, func(c ensemble.Connection) bool { return c.Session == session })
	require.GreaterOrEqual(t, i, 0, "session %#x is not among %v", session, connections)
	return connections[i].Remote
}

func TestRefuseTurnsAwayNewConnectionsOnly(t *testing.T) {
	p, through, _ := start(t)
	p.Refuse(true)
	p.Refuse(true)
	_, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NoError(t, create(through, "/a"))

	p.Refuse(false)
	p.Refuse(false)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func TestStallHoldsBytesAndDeliversThemLater(t *testing.T) {
	p, through, past := start(t)
	p.Stall(true)
	short, cancel := context.WithTimeout(probe.Deadline(t), 200*time.Millisecond)
	defer cancel()
	_, err := ensemble.Srvr(short, p.Addr())
	require.ErrorIs(t, err, context.DeadlineExceeded, "accepted, and not answered")

	created := make(chan error, 1)
	go func() { created <- create(through, "/a") }()
	probe.Sync(t, past)
	require.False(t, probe.Exists(t, past, "/a"))
	require.Empty(t, created)

	p.Stall(false)
	require.NoError(t, <-created)
}

func TestDelayHoldsEachFrameBothWays(t *testing.T) {
	p, through, _ := start(t)
	const delay = 300 * time.Millisecond
	p.Delay(delay)
	begin := time.Now()
	require.NoError(t, create(through, "/a"))
	require.GreaterOrEqual(t, time.Since(begin), 2*delay)

	begin = time.Now()
	var all []chan error
	for _, path := range []string{"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"} {
		done := make(chan error, 1)
		all = append(all, done)
		go func() { done <- create(through, path) }()
	}
	for _, done := range all {
		require.NoError(t, <-done)
	}
	require.Less(t, time.Since(begin), 18*delay, "frames wait side by side, not one after the other")
}

func TestFourLetterWordsPass(t *testing.T) {
	p, _, _ := start(t)
	answer, err := ensemble.Srvr(probe.Deadline(t), p.Addr())
	require.NoError(t, err)
	require.Equal(t, "standalone", answer["Mode"])
}

func TestCloseEndsEverything(t *testing.T) {
	p := proxy.New(t, "127.0.0.1:1") // nothing listens there
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err, "a connection that cannot be carried on is closed")
	require.NoError(t, conn.Close())

	p.Stall(true)
	p.Close()
	p.Close()
	p.Refuse(false)
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func await(t *testing.T, fired <-chan struct{}) {
	t.Helper()
	select {
	case <-fired:
	case <-probe.Deadline(t).Done():
		require.FailNow(t, "the cut did not happen")
	}
}
