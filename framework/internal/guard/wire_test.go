package guard

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A script is a connection on which the server sends fixed bytes, whatever it receives.
type script struct {
	io.Reader
	received bytes.Buffer
}

func (s *script) Write(p []byte) (int, error)      { return s.received.Write(p) }
func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return nil }
func (s *script) RemoteAddr() net.Addr             { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// testConfig is the configuration of guards in tests.
func testConfig() Config {
	return Config{
		SessionTimeout: 15 * time.Second, MaxRequestBytes: 1 << 20, MaxReplyBytes: 16 << 20,
		TLS:       func(context.Context, string) (*tls.Config, error) { return nil, nil }, //nolint:nilnil // as documented
		Reconnect: retry.Constant(time.Millisecond), Logger: slog.New(slog.DiscardHandler),
	}
}

// newTestGuard returns a guard whose session behaves as that of package framework.
func newTestGuard() *Guard {
	var g *Guard
	g = New(NewServers(testConfig(), []string{"a"}), Events{
		Ended:     func(cause error) { g.End(cause); g.Seal() },
		Suspended: func() {}, SettingWatches: func() {}, WatchesRestored: func(bool) {}, Wake: func() {},
		IsOpen: func() bool { return false },
		Start:  func(f func()) bool { go f(); return true },
	})
	return g
}

// scripted returns a guarded connection on which the server will send these bytes.
func scripted(says []byte) (*Conn, *script) {
	conn := &script{Reader: bytes.NewReader(says)}
	g := newTestGuard()
	g.conn = newConn(g, "a", conn, time.Now().Add(time.Minute))
	return g.conn, conn
}

// connected returns one that has a session, of 9 s.
func connected(t testing.TB, says ...[]byte) (*Conn, *script) {
	t.Helper()
	request, reply := connectFrames(17)
	c, conn := scripted(append(reply, bytes.Join(says, nil)...))
	send(t, c, request)
	_, err := io.ReadFull(c, make([]byte, len(reply)))
	require.NoError(t, err)
	return c, conn
}

// connectFrames is a connect request and the reply to it.
func connectFrames(session int64) (request, reply []byte) {
	body := binary.BigEndian.AppendUint32(nil, 0)
	body = binary.BigEndian.AppendUint32(body, 9000)
	body = binary.BigEndian.AppendUint64(body, uint64(session))
	body = binary.BigEndian.AppendUint32(body, 16)
	body = append(body, make([]byte, 16)...)
	return connectRequest(0, make([]byte, 16), 9000, 0), framed(body)
}

func framed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func ask(xid, op int32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(xid))
	return framed(append(binary.BigEndian.AppendUint32(b, uint32(op)), rest...))
}

func answer(xid int32, zxid int64, code int32, rest ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, uint64(zxid))
	return framed(append(binary.BigEndian.AppendUint32(b, uint32(code)), rest...))
}

func text(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

func send(t testing.TB, c *Conn, frames ...[]byte) {
	t.Helper()
	for _, frame := range frames {
		n, err := c.Write(frame)
		require.NoError(t, err)
		require.Len(t, frame, n)
	}
}

// The bytes that reach the library are those that the server sent, in whatever pieces,
// except error codes that the library has no names for.
func TestGuardPassesFramesOnAndReplacesCodes(t *testing.T) {
	t.Parallel()
	request, reply := connectFrames(7)
	event := answer(xidEvent, 0, 0, append([]byte{0, 0, 0, 1, 0, 0, 0, 3}, text("/a")...)...)
	large := answer(4, 9, 0, append(text(strings.Repeat("\xff", 300_000)), make([]byte, statBytes+2)...)...)
	stream := bytes.Join([][]byte{
		reply, answer(1, 5, -6, 1, 2, 3), answer(2, 6, -101), answer(3, 7, -127), event, answer(xidPing, 8, 0), large,
	}, nil)
	want := bytes.Join([][]byte{
		reply, answer(1, 5, -117, 1, 2, 3), answer(2, 6, -101), answer(3, 7, -123), event, answer(xidPing, 8, 0), large,
	}, nil)
	for _, size := range []int{1, 3, 4, 17, 1000, 1 << 20} {
		c, _ := scripted(stream)
		send(t, c, request)
		var got []byte
		buf := make([]byte, size)
		for first := true; ; first = false {
			n, err := c.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			if first {
				send(t, c, ask(1, 999), ask(2, 3), ask(3, 3), ask(xidPing, 11), ask(4, opGetData))
			}
		}
		require.True(t, bytes.Equal(want, got), "read in pieces of %d", size)
	}
}

func TestGuardRemembersTheZxidOfCreates(t *testing.T) {
	t.Parallel()
	c, _ := connected(t,
		answer(1, 5, 0, text("/a0000000001")...), answer(2, 6, -110), answer(3, 7, 0, text("/b")...),
		answer(4, 8, 0, text("/"+strings.Repeat("x", 100<<10))...),
	)
	sent := 0
	c.guard.ExpectCreate("/a", func() { sent++ })
	send(t, c, ask(1, opCreate, text("/a")...), ask(2, opContainer, text("/c")...), ask(3, opDelete, text("/b")...), ask(4, opCreate, text("/x")...))
	_, err := io.Copy(io.Discard, c)
	require.NoError(t, err)
	assert.Equal(t, 1, sent)
	assert.EqualValues(t, 5, c.guard.CreateEnded("/a", "/a0000000001"))
	assert.Empty(t, c.guard.creates.sent)
	assert.Zero(t, c.guard.TakeZxid("/a0000000001"), "forgotten when taken")
	assert.Zero(t, c.guard.TakeZxid("/c"))
	assert.Zero(t, c.guard.TakeZxid("/b"), "not a create")
}

// Nothing is sent after the connection has ended, and no write ever fails: the library
// deadlocks on some that do.
func TestGuardSwallowsWritesToADeadConnection(t *testing.T) {
	t.Parallel()
	c, conn := connected(t)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "twice")
	before := conn.received.Len()
	send(t, c, ask(1, opCreate, text("/a")...), ask(xidPing, 11))
	assert.Equal(t, before, conn.received.Len())

	c, conn = connected(t)
	require.NoError(t, c.sendClose(t.Context()))
	before = conn.received.Len()
	send(t, c, ask(1, opCreate, text("/a")...))
	assert.Equal(t, before, conn.received.Len(), "nothing comes after the close request")
}

func TestGuardRefusesASecondSession(t *testing.T) {
	t.Parallel()
	for id, want := range map[int64]error{0: ErrSessionExpired, 8: ErrSessionReplaced} {
		request, reply := connectFrames(id)
		c, _ := scripted(reply)
		c.guard.id = 7
		send(t, c, request)
		n, err := c.Read(make([]byte, 100))
		require.ErrorIs(t, err, want)
		assert.Zero(t, n, "the library gets nothing of it")
		assert.Error(t, c.guard.ctx.Err(), "it is over")
	}
}

func FuzzGuardReadsAnything(f *testing.F) {
	request, reply := connectFrames(7)
	f.Add([]byte{})
	f.Add(reply)
	f.Add(append(bytes.Clone(reply), answer(1, 5, 0, text("/a")...)...))
	f.Add(append(bytes.Clone(reply), answer(1, 5, -6)...))
	f.Add(append(bytes.Clone(reply), answer(1, 5, 0, 0xff, 0xff, 0xff, 0xff)...))
	f.Add(append(bytes.Clone(reply), answer(xidClose, 5, 0)...))
	f.Add(framed(nil))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, says []byte) {
		c, _ := scripted(says)
		send(t, c, request)
		buf := make([]byte, 64)
		total := 0
		for first := true; ; first = false {
			n, err := c.Read(buf)
			total += n
			if err != nil {
				break
			}
			if n == 0 {
				t.Fatal("no progress")
			}
			if first {
				send(t, c, ask(1, opCreate, text("/a")...), ask(2, opSync), ask(xidPing, 11), ask(3, opSetWatches))
			}
		}
		if total > len(says) {
			t.Fatalf("%d bytes out of %d", total, len(says))
		}
	})
}

func FuzzFramesOfTheLibrary(f *testing.F) {
	f.Add(ask(1, opCreate, text("/a")...))
	f.Add(ask(1, opCreate, 0xff, 0xff, 0xff, 0xff))
	f.Add([]byte{0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, frame []byte) {
		if path, ok := createPath(frame); ok && !bytes.Contains(frame, path) {
			t.Fatal("a path that is not in the frame")
		}
		if r, err := parseConnectReply(frame); err == nil && len(r.password) > len(frame) {
			t.Fatal("a password that is not in the reply")
		}
		c, _ := scripted(nil)
		c.record(frame)
	})
}
