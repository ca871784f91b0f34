package framework

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// tlsFor returns the TLS configuration for a new connection to a server, given as
// "host:port", or nil if it is to be a plain one.
func (cfg *Config) tlsFor(ctx context.Context, server string) (*tls.Config, error) {
	base := cfg.TLS
	if cfg.GetTLS != nil {
		var err error
		if base, err = cfg.GetTLS(ctx); err != nil {
			return nil, fmt.Errorf("get tls configuration: %w", err)
		}
		if base == nil { // a mistake must not make the connection a plain one
			return nil, fmt.Errorf("get tls configuration: %w: there is none", ErrInvalidArgument)
		}
	}
	if base == nil {
		return nil, nil //nolint:nilnil // nil is a plain connection, as in Config.TLS
	}
	own := base.Clone()
	if own.ServerName == "" {
		own.ServerName, _, _ = net.SplitHostPort(server)
	}
	return own, nil
}
