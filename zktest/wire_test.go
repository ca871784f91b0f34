package zktest_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
	"github.com/zkrecipes/zkrecipes/zktest/internal/script"
)

// session opens a session with raw frames.
func session(t *testing.T, s *zktest.Server, id int64, password []byte, seen int64) *script.Conn {
	t.Helper()
	c, err := script.Connect(t.Context(), script.TCP(s.Addr()), 10*time.Second, id, password, seen)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestHandshake(t *testing.T) {
	s := zktest.NewServer(t, zktest.WithSessionTimeouts(time.Second, 6*time.Second))
	first := session(t, s, 0, nil, 0)
	require.Equal(t, 6*time.Second, first.Timeout)
	require.Len(t, first.Password, 16)

	second := session(t, s, first.ID, first.Password, 0)
	require.Equal(t, first.ID, second.ID)
	reply, err := first.Do(zktest.OpPing, nil)
	require.NoError(t, err)
	require.True(t, reply.Closed, "the session has moved on")

	thief := session(t, s, first.ID, make([]byte, 16), 0)
	require.Zero(t, thief.ID)
	require.Zero(t, thief.Timeout)
	reply, err = second.Do(zktest.OpPing, nil)
	require.NoError(t, err)
	require.True(t, reply.Closed, "even a wrong password costs the holder his connection")
	third := session(t, s, first.ID, first.Password, 0)
	require.Equal(t, first.ID, third.ID)

	unknown := session(t, s, 4711, nil, 0)
	require.Zero(t, unknown.ID)
	_, err = script.Connect(t.Context(), script.TCP(s.Addr()), time.Second, 0, nil, 1<<40)
	require.ErrorIs(t, err, io.EOF, "a client from the future is turned away without a word")
}

func TestFrameLimit(t *testing.T) {
	s := zktest.NewServer(t)
	c := session(t, s, 0, nil, 0)
	put := func(n int) script.Reply {
		r, err := c.Do(zktest.OpSetData, func(e *jute.Encoder) { e.String("/"); e.Buffer(make([]byte, n)); e.Int32(-1) })
		require.NoError(t, err)
		return r
	}
	const overhead = 8 + 5 + 4 + 4 // header, path, length, version
	require.Equal(t, zktest.OK, put(jute.MaxFrame-overhead).Code)
	require.True(t, put(jute.MaxFrame-overhead+1).Closed)
	require.Len(t, s.Sessions(), 1, "the session is not to blame")
}

func TestFourLetterWords(t *testing.T) {
	s := zktest.NewServer(t)
	c := session(t, s, 0, nil, 0)
	_, err := c.Do(zktest.OpCreate, func(e *jute.Encoder) {
		e.String("/e")
		e.Buffer(nil)
		e.ACLs([]jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}})
		e.Int32(1)
	})
	require.NoError(t, err)
	for _, op := range []zktest.Op{zktest.OpExists, zktest.OpGetChildren} {
		_, err = c.Do(op, func(e *jute.Encoder) { e.String("/e"); e.Bool(true) })
		require.NoError(t, err)
	}
	for word, want := range map[string]string{
		"ruok": "imok", "envi": "zookeeper.version=3.8", "mntr": "zk_watch_count\t2\nzk_ephemerals_count\t1",
	} {
		nc, err := script.TCP(s.Addr())(t.Context())
		require.NoError(t, err)
		_, err = nc.Write([]byte(word))
		require.NoError(t, err)
		answer, err := io.ReadAll(nc)
		require.NoError(t, err)
		require.Contains(t, string(answer), want, word)
		require.NoError(t, nc.Close())
	}
}

func TestPipelining(t *testing.T) {
	s := zktest.NewServer(t)
	nc, err := script.TCP(s.Addr())(t.Context())
	require.NoError(t, err)
	defer nc.Close()
	var all bytes.Buffer
	e := jute.NewFrame(64)
	e.ConnectRequest(jute.ConnectRequest{TimeOut: 10_000, Password: make([]byte, 16)})
	all.Write(e.Frame())
	const n = 500
	for xid := range int32(n) {
		e := jute.NewFrame(64)
		e.Int32(xid)
		e.Int32(int32(zktest.OpExists))
		e.String("/")
		e.Bool(false)
		all.Write(e.Frame())
	}
	_, err = nc.Write(all.Bytes())
	require.NoError(t, err)
	frame, err := jute.ReadFrame(nc, jute.MaxFrame)
	require.NoError(t, err)
	require.Len(t, frame, 36, "no read-only byte for a client that sent none")
	for xid := range int32(n) {
		frame, err := jute.ReadFrame(nc, jute.MaxFrame)
		require.NoError(t, err)
		d := jute.NewDecoder(frame)
		require.Equal(t, xid, d.Int32())
	}
}

func TestCloseIsPromptAndIdempotent(t *testing.T) {
	s, err := zktest.Start()
	require.NoError(t, err)
	c, err := script.Connect(t.Context(), script.TCP(s.Addr()), 10*time.Second, 0, nil, 0)
	require.NoError(t, err)
	defer c.Close()
	s.Pause()
	s.Partition("", true)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(s.Close)
	}
	wg.Wait()
	_, err = script.TCP(s.Addr())(t.Context())
	require.Error(t, err)
}

func TestRefusedOverTCP(t *testing.T) {
	s := zktest.NewServer(t)
	s.RefuseConnections("a", true)
	_, err := s.Dial("a")(t.Context(), "tcp", s.Addr())
	require.Error(t, err)
	nc, err := s.Dial("b")(t.Context(), "tcp", s.Addr())
	require.NoError(t, err)
	require.NoError(t, nc.Close())
	s.RefuseConnections("", true)
	_, err = script.Connect(t.Context(), script.TCP(s.Addr()), time.Second, 0, nil, 0)
	require.Error(t, err)
}

func TestMemoryConnDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n zktest.Network
		s := zktest.NewServer(t, zktest.WithNetwork(&n))
		nc, err := n.DialContext(t.Context(), "mem", s.Addr())
		require.NoError(t, err)
		require.Equal(t, s.Addr(), nc.RemoteAddr().String())
		require.True(t, strings.HasPrefix(nc.LocalAddr().String(), "10.1.0.1:"))
		start := time.Now()
		require.NoError(t, nc.SetDeadline(start.Add(time.Second)))
		_, err = nc.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		require.Equal(t, time.Second, time.Since(start))
		_, err = nc.Write([]byte("x"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, nc.SetDeadline(time.Time{}))
		_, err = nc.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, nc.Close())
		_, err = nc.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = nc.Write([]byte("x"))
		require.ErrorIs(t, err, net.ErrClosed)
	})
}

// FuzzServer sends any bytes to a server and then checks that it still works.
func FuzzServer(f *testing.F) {
	connect := jute.NewFrame(64)
	connect.ConnectRequest(jute.ConnectRequest{TimeOut: 10_000, Password: make([]byte, 16)})
	f.Add(append(connect.Frame(), 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 14))
	f.Add([]byte("mntr"))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	s, err := zktest.Start(zktest.WithNetwork(new(zktest.Network)))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	dial := s.Dial("fuzz")
	f.Fuzz(func(t *testing.T, bytes []byte) {
		for _, begin := range [][]byte{nil, connect.Frame()} {
			nc, err := dial(t.Context(), "mem", s.Addr())
			require.NoError(t, err)
			_, _ = nc.Write(begin)
			_, _ = nc.Write(bytes)
			require.NoError(t, nc.Close())
		}
		c, err := script.Connect(t.Context(), func(ctx context.Context) (net.Conn, error) { return dial(ctx, "mem", s.Addr()) },
			10*time.Second, 0, nil, 0)
		require.NoError(t, err)
		_, err = c.Do(zktest.OpClose, nil)
		require.NoError(t, err)
		require.NoError(t, c.Close())
	})
}
