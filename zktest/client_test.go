package zktest_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// hosts is a host provider for one server. Like the default one it makes the client
// pause before each attempt but the first.
type hosts struct {
	addr  string
	tried bool
}

func (h *hosts) Init(servers []string) error { h.addr = servers[0]; return nil }
func (h *hosts) Len() int                    { return 1 }
func (h *hosts) Connected()                  {}

func (h *hosts) Next() (addr string, pause bool) {
	pause, h.tried = h.tried, true
	return h.addr, pause
}

// connect opens a session with go-zookeeper's client. When the test ends it closes the
// session and waits for the client's goroutines.
func connect(tb testing.TB, s *zktest.Server, name string, timeout time.Duration) *zk.Conn {
	tb.Helper()
	dial := s.Dial(name)
	c, events, err := zk.Connect([]string{s.Addr()}, timeout,
		zk.WithHostProvider(&hosts{}), zk.WithLogger(quiet{}), zk.WithLogInfo(false),
		zk.WithMaxBufferSize(1<<20), zk.WithMaxConnBufferSize(1<<20),
		zk.WithDialer(func(network, addr string, limit time.Duration) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			return dial(ctx, network, addr)
		}))
	require.NoError(tb, err)
	tb.Cleanup(func() {
		c.Close()
		for range events { // wait until the client's goroutines have ended
		}
	})
	for e := range events {
		if e.State == zk.StateHasSession {
			return c
		}
	}
	tb.Fatal("no session")
	return nil
}

var open = zk.WorldACL(zk.PermAll)

func TestClientOverTCP(t *testing.T) {
	s := zktest.NewServer(t)
	exercise(t, connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second))
}

func TestClientOverNetwork(t *testing.T) {
	s := zktest.NewServer(t, zktest.WithNetwork(new(zktest.Network)))
	exercise(t, connect(t, s, "a", 10*time.Second), connect(t, s, "b", 10*time.Second))
}

// exercise tries a bit of everything.
func exercise(t *testing.T, a, b *zk.Conn) {
	t.Helper()
	path, err := a.Create("/a", []byte("one"), 0, open)
	require.NoError(t, err)
	require.Equal(t, "/a", path)
	_, err = a.Create("/a", nil, 0, open)
	require.ErrorIs(t, err, zk.ErrNodeExists)

	data, stat, watch, err := b.GetW("/a")
	require.NoError(t, err)
	require.Equal(t, "one", string(data))
	require.EqualValues(t, 3, stat.DataLength)
	_, err = a.Set("/a", []byte("two"), 0)
	require.NoError(t, err)
	require.Equal(t, zk.EventNodeDataChanged, (<-watch).Type)

	_, _, kids, err := b.ChildrenW("/a")
	require.NoError(t, err)
	path, err = a.Create("/a/n-", nil, zk.FlagEphemeral|zk.FlagSequence, open)
	require.NoError(t, err)
	require.Equal(t, "/a/n-0000000000", path)
	require.Equal(t, zk.EventNodeChildrenChanged, (<-kids).Type)

	there, stat, gone, err := b.ExistsW(path)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, a.SessionID(), stat.EphemeralOwner)
	require.NoError(t, a.Delete(path, -1))
	require.Equal(t, zk.EventNodeDeleted, (<-gone).Type)

	path, err = a.CreateContainer("/c", nil, zk.FlagContainer, open)
	require.NoError(t, err)
	require.Equal(t, "/c", path)
	_, err = a.CreateTTL("/t", nil, zk.FlagTTL, open, time.Minute)
	require.NoError(t, err)

	res, err := a.Multi(
		&zk.CreateRequest{Path: "/m", Acl: open},
		&zk.CheckVersionRequest{Path: "/m", Version: 0},
		&zk.SetDataRequest{Path: "/m", Data: []byte("x"), Version: 0},
		&zk.DeleteRequest{Path: "/m", Version: 1})
	require.NoError(t, err)
	require.Len(t, res, 4)
	_, err = a.Multi(&zk.CreateRequest{Path: "/m", Acl: open}, &zk.DeleteRequest{Path: "/none", Version: -1})
	require.ErrorIs(t, err, zk.ErrNoNode)
	there, _, err = b.Exists("/m")
	require.NoError(t, err)
	require.False(t, there)

	require.NoError(t, a.AddAuth("digest", []byte("me:secret")))
	acl := zk.DigestACL(zk.PermAll, "me", "secret")
	_, err = a.SetACL("/a", acl, -1)
	require.NoError(t, err)
	_, _, err = b.Get("/a")
	require.ErrorIs(t, err, zk.ErrNoAuth)
	got, _, err := a.GetACL("/a")
	require.NoError(t, err)
	require.Equal(t, acl, got)
	_, err = b.Sync("/a")
	require.NoError(t, err)
}
