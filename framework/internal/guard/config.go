package guard

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/zkrecipes/zkrecipes/retry"
)

// Config is what a guard has to know of that of the client.
type Config struct {
	// SessionTimeout is that which is asked for.
	SessionTimeout time.Duration
	// RequestTimeout is when an answer does not come any more; 0 means two thirds of
	// the session timeout.
	RequestTimeout time.Duration
	// MaxRequestBytes is the size of the largest request.
	MaxRequestBytes int
	// MaxReplyBytes is the size of the largest answer that the library gets.
	MaxReplyBytes int

	// Dial opens connections, to names as well as addresses; nil is a net.Dialer, for
	// which names are looked up.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS returns how a connection to a server is encrypted, nil if it is not.
	TLS func(ctx context.Context, server string) (*tls.Config, error)
	// Reconnect spaces attempts.
	Reconnect retry.Policy
	// Logger gets what goes on in the background.
	Logger *slog.Logger
}
