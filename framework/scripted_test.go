package framework

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
)

// script is a connection on which the server sends its script, whatever it gets.
type script struct {
	io.Reader
	net.Conn
}

func (s *script) Read(p []byte) (int, error)       { return s.Reader.Read(p) }
func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
func (s *script) Close() error                     { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// scripted returns a session without its library. The servers grant it nine seconds and
// send no more.
func scripted() *Session {
	reply := append(make([]byte, 4), 0, 0, 0x23, 0x28) // no version; 9000
	reply = binary.BigEndian.AppendUint64(reply, 17)
	reply = append(binary.BigEndian.AppendUint32(reply, 16), make([]byte, 16)...)
	reply = append(binary.BigEndian.AppendUint32(nil, uint32(len(reply))), reply...)
	cfg := Config{
		Servers: []string{"a"}, Reconnect: retry.Constant(time.Millisecond), Logger: slog.New(slog.DiscardHandler),
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return &script{Reader: bytes.NewReader(reply)}, nil
		},
	}.withDefaults()
	servers := guard.NewServers(cfg.forGuard(), cfg.Servers)
	s := &Session{core: &core{cfg: cfg, states: newTimeline(), servers: servers}, servers: servers}
	s.gate = newGate(s)
	s.guard = guard.New(servers, s.guardEvents())
	s.ctx = s.guard.Context()
	s.gate.publish()
	return s
}

// greet makes a connection for a session, as the library does, and attaches it.
func greet(t *testing.T, s *Session) *guard.Conn {
	t.Helper()
	conn, err := s.guard.Dial("", "", 0)
	require.NoError(t, err)
	_, err = conn.Write(make([]byte, 48))
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 100))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close()
		s.core.servers.AwaitCallbacks()
	})
	return conn.(*guard.Conn)
}

// Requests must not go out in a session that is over, however that is noticed.
func TestAwaitChecksTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		session := scripted()
		greet(t, session)
		<-time.After(9*time.Second*5/6 - 1)
		require.NoError(t, session.await(t.Context()))
		<-time.After(1)
		assert.ErrorIs(t, session.await(t.Context()), ErrTrustExpired)
	})
}
