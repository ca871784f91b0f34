package tlstest

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"
)

// NewFront listens for TLS connections on the loopback interface until the test ends,
// and forwards them, decrypted, to the server at backend. It closes a connection when
// the server does. It returns its address.
func NewFront(tb testing.TB, backend string, cfg *tls.Config) string {
	tb.Helper()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		tb.Fatalf("listen: %v", err)
	}
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	tb.Cleanup(func() {
		cancel()
		_ = listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { pass(ctx, conn, backend) })
		}
	})
	return listener.Addr().String()
}

// pass connects the two sides until one closes, or ctx ends.
func pass(ctx context.Context, conn net.Conn, backend string) {
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if conn.(*tls.Conn).HandshakeContext(ctx) != nil {
		return
	}
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", backend)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	stopServer := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopServer()
	var copying sync.WaitGroup
	copying.Go(func() {
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	})
	_, _ = io.Copy(conn, server)
	_ = conn.Close()
	copying.Wait()
}
