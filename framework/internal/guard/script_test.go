package guard

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/retry"
)

// A script is a connection on which the server sends fixed bytes, whatever it receives.
type script struct{ io.Reader }

func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
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
		Ended:   func(cause error) { g.End(cause); g.Seal() },
		Refused: func(error) {}, Watched: func() Watched { return Watched{} }, WatchesLost: func() {},
		Attached: func(*Conn) {}, Suspended: func() {}, Event: func(int32, string) {}, Wake: func() {},
		IsOpen: func() bool { return false },
	})
	return g
}

// scripted returns a guarded connection on which the server will send these bytes.
// Nothing writes what is sent: see unwritten.
func scripted(says []byte) *Conn {
	g := newTestGuard()
	g.conn = newConn(g, "a", &script{bytes.NewReader(says)}, time.Now().Add(time.Minute))
	g.latest = g.conn
	return g.conn
}

// connected returns one that has a session, of 9 s.
func connected(t testing.TB, says ...[]byte) *Conn {
	t.Helper()
	_, reply := connectFrames(17)
	c := scripted(append(reply, bytes.Join(says, nil)...))
	greet(t, c)
	unwritten(c)
	return c
}

// again returns a further connection of the same guard, which has attached.
func again(t testing.TB, g *Guard, says ...[]byte) *Conn {
	t.Helper()
	_, reply := connectFrames(17)
	g.conn = newConn(g, "a", &script{bytes.NewReader(append(reply, bytes.Join(says, nil)...))}, time.Now().Add(time.Minute))
	g.latest = g.conn
	greet(t, g.conn)
	return g.conn
}

// greet does what the library does with a connection: it sends the connect request, and
// reads the reply.
func greet(t testing.TB, c *Conn) {
	t.Helper()
	request, reply := connectFrames(17)
	send(t, c, request)
	got := make([]byte, len(reply))
	_, err := io.ReadFull(c, got)
	require.NoError(t, err)
	require.Equal(t, reply, got)
}

// unwritten returns and forgets what is sent but not written. It must not be used
// together with a goroutine that writes.
func unwritten(c *Conn) []byte {
	c.order.Lock()
	defer c.order.Unlock()
	sent := c.out
	c.out = nil
	return sent
}

// readAll reads until the connection ends, as the library does, which gets nothing. It
// returns why the connection ended.
func readAll(t testing.TB, c *Conn) error {
	t.Helper()
	n, err := c.Read(make([]byte, 100))
	require.Zero(t, n, "the library gets nothing but the connect reply")
	require.Error(t, err)
	return err
}

// readOne reads one frame.
func readOne(t testing.TB, c *Conn) {
	t.Helper()
	require.NoError(t, c.nextFrame())
	require.Empty(t, c.frame)
}

// vouch sends a check, as if it were due.
func vouch(c *Conn) {
	c.order.Lock()
	defer c.order.Unlock()
	c.sendCheck(c.startCheck())
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

// happened is the frame of an event.
func happened(kind byte, path string) []byte {
	return answer(xidEvent, -1, 0, append([]byte{0, 0, 0, kind, 0, 0, 0, 3}, text(path)...)...)
}

func text(s string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...)
}

// send sends frames as the library does.
func send(t testing.TB, c *Conn, frames ...[]byte) {
	t.Helper()
	for _, frame := range frames {
		n, err := c.Write(frame)
		require.NoError(t, err)
		require.Len(t, frame, n)
	}
}
