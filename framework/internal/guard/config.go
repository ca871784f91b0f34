package guard

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// Config is the part of the client's configuration that a guard needs.
type Config struct {
	// SessionTimeout is the timeout to ask for.
	SessionTimeout time.Duration
	// RequestTimeout is how long an answer is waited for; 0 means two thirds of the
	// session timeout.
	RequestTimeout time.Duration
	// MaxRequestBytes is the size of the largest request.
	MaxRequestBytes int
	// MaxReplyBytes is the size of the largest answer that is read.
	MaxReplyBytes int
	// Auth is presented on each connection.
	Auth []Credential

	// Dial opens connections, to names as well as addresses. If it is nil, a net.Dialer
	// does, and the guard looks names up.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS returns how to encrypt a connection to a server, nil for no encryption.
	TLS func(ctx context.Context, server string) (*tls.Config, error)
	// Reconnect is the backoff between attempts to connect.
	Reconnect retry.Policy
	// Logger gets messages about what happens in the background.
	Logger *slog.Logger
}
