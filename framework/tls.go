package framework

import (
	"context"
	"crypto/tls"
	"net"
)

// tlsFor returns the TLS configuration for a new connection to a server, given as
// "host:port", or nil if it is to be a plain one.
func (cfg *Config) tlsFor(server string) *tls.Config {
	base := cfg.TLS
	if base == nil {
		return nil
	}
	own := base.Clone()
	if own.ServerName == "" {
		own.ServerName, _, _ = net.SplitHostPort(server)
	}
	return own
}

// encrypt does the TLS handshake on a fresh connection, which it closes if that fails.
func encrypt(ctx context.Context, conn net.Conn, cfg *tls.Config) (net.Conn, error) {
	secure := tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // which is done already if ctx has ended
		return nil, explainTLS(err)
	}
	return secure, nil
}
