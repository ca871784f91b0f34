package proxy

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// While nothing passes, neither bytes arrive nor the end of a connection.
func TestStall(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	p, err := Start(listener.Addr().String(), 0)
	require.NoError(t, err)
	defer p.Close()
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.NoError(t, err)
	server, err := listener.Accept()
	require.NoError(t, err)
	defer server.Close()

	one := make([]byte, 1)
	send := func() {
		_, err := client.Write([]byte("x"))
		require.NoError(t, err)
	}
	send()
	_, err = io.ReadFull(server, one)
	require.NoError(t, err)

	p.Stall()
	send()
	require.NoError(t, client.Close())
	require.NoError(t, server.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = server.Read(one)
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout())

	p.Resume()
	require.NoError(t, server.SetReadDeadline(time.Time{}))
	got, err := io.ReadAll(server)
	require.NoError(t, err)
	assert.Equal(t, "x", string(got))
}

// Close ends what is stalled.
func TestCloseWhileStalled(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	p, err := Start(listener.Addr().String(), 0)
	require.NoError(t, err)
	client, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
	require.NoError(t, err)
	defer client.Close()
	p.Stall()
	p.Close()
}

// After a Redirect the old connections are closed, and new ones are to the other server.
func TestRedirect(t *testing.T) {
	old, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer old.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	p, err := Start(old.Addr().String(), 0)
	require.NoError(t, err)
	defer p.Close()
	dial := func() net.Conn {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.Addr())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	client := dial()
	server, err := old.Accept()
	require.NoError(t, err)
	defer server.Close()
	_, err = server.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(client, make([]byte, 1))
	require.NoError(t, err)

	p.Redirect(other.Addr().String())
	_, err = io.ReadAll(client)
	if err != nil { // a reset is an end as well
		require.ErrorIs(t, err, syscall.ECONNRESET)
	}
	dial()
	server, err = other.Accept()
	require.NoError(t, err)
	server.Close()
}
