package framework

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
)

// Defaults and limits of a Config.
const (
	// DefaultSessionTimeout is the session timeout that is requested if Config has
	// none.
	DefaultSessionTimeout = 15 * time.Second
	// DefaultMaxRequestBytes keeps every request below the megabyte at which a server
	// with default settings drops the connection.
	DefaultMaxRequestBytes = 1<<20 - 8<<10
	// DefaultMaxReplyBytes is enough for a listing of some 250,000 locks.
	DefaultMaxReplyBytes = 16 << 20
	// DefaultMaxEphemeralBytes keeps the paths of one session's ephemeral nodes well
	// below the size at which closing it makes a log record that ZooKeeper cannot read
	// back (ZOOKEEPER-4306).
	DefaultMaxEphemeralBytes = 900 << 10
	// DefaultSessions is how many sessions a client may have at once. They take some
	// 175,000 locks.
	DefaultSessions = 16
	// DefaultMaxOutstanding is how many requests may await their answers at once.
	DefaultMaxOutstanding = 4096

	minSessionTimeout = 100 * time.Millisecond
	maxSessionTimeout = time.Hour
)

// A Config says how to reach ZooKeeper. Only Servers is required; the zero value of
// every other field is a good default. Connect copies it, with its slices, secrets and
// TLS: all of them may be changed or wiped afterwards.
type Config struct {
	// Servers are the addresses of the ensemble, each "host" or "host:port" (port 2181
	// when absent). An element may also be a whole connection string,
	// "h1:2181,h2:2181/chroot". Names are looked up again for each round of connection
	// attempts.
	Servers []string
	// Chroot is an absolute path under which all other paths lie, as in a connection
	// string. It is created with the client's ACL when it is missing.
	Chroot string
	// Namespace is a relative path, such as "billing/eu", under which all paths of this
	// client lie. It comes below Chroot.
	Namespace string

	// SessionTimeout is how long a session outlives its last contact with the ensemble.
	// 0 means DefaultSessionTimeout; it must lie between 100 ms and an hour. With a
	// shorter one, locks of a crashed process are free sooner, and locks are lost in
	// shorter network failures.
	//
	// It is what the client asks for. A server grants what lies between its
	// minSessionTimeout and its maxSessionTimeout, by default 2 and 20 of its ticks (4
	// and 40 seconds with the usual tick of 2 s). For any other it grants the nearer
	// bound, without an error. [Session.Timeout] returns what was granted, and all
	// times derive from that. All servers of an ensemble need the same bounds: a
	// session whose connection moves to a server that grants less has the lesser
	// timeout from then on.
	SessionTimeout time.Duration
	// StopOnSuspend ends every lease as soon as the connection breaks, instead of when
	// the trust deadline passes.
	StopOnSuspend bool
	// CloseGrace is how long Close waits, when it has ended all leases, for their
	// holders to stop their work and to release them, before it ends the session, which
	// frees what they held. 0 means that it does not wait: work that takes a while to
	// stop then goes on beside the next holder's. The wait ends early when all are
	// released, or the session is lost.
	CloseGrace time.Duration

	// Auth are the credentials presented in every session. With any, recipes log a
	// warning, once per path and session, if clients without credentials may create or
	// delete nodes there.
	Auth []Credential
	// ACL returns the ACL for a new node, parents included, at a path (with chroot and
	// namespace). nil means that all clients may do anything with every node, with one
	// exception: with credentials in Auth, the nodes of contenders in a recipe, and all
	// ephemeral ones of CreateProtected, belong to these credentials, and other clients
	// may only read them. So they cannot change them or request a revocation. They can
	// delete them: ZooKeeper checks the parent's ACL for that, and parents stay open.
	// OwnedBelow closes those too.
	//
	// A contender must be able to read the nodes ahead of it in the queue. With
	// CreatorACL(PermAll) only clients with the same credentials can wait; others get
	// ErrNoAuth.
	ACL func(path string) []ACL
	// TLS makes connections encrypted; ServerName is set to the host's name when it is
	// empty.
	TLS *tls.Config
	// GetTLS is for certificates that change while the client lives. It takes the place
	// of TLS, which must then be nil, and returns the configuration for one connection.
	// It is called before every attempt to connect, the first and all later ones. It
	// must obey ctx, which ends with the attempt, and be safe for concurrent use. What
	// it returns is not changed, and needs no InsecureSkipVerify: the handshake
	// verifies against it. If it fails, or returns nil, so does the attempt, without a
	// byte sent: no connection is ever plain instead. The error is part of the
	// ConnectError, and the next attempt calls it again. Existing connections stay.
	GetTLS func(ctx context.Context) (*tls.Config, error)
	// Dial opens connections instead of a net.Dialer. Names are then not looked up:
	// addr is as in Servers. It is called concurrently, for a session and for closing
	// the one before. It must obey ctx: if it has not returned a quarter of a second
	// after the end of ctx, another attempt is made beside it. The connections must
	// support deadlines. Their Close may block: nothing waits for it except
	// [Client.Close], for some seconds.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Retry spaces the repetition of operations that certainly had no effect, and of
	// reads. The zero value repeats with growing delays until the context of the
	// operation ends.
	Retry retry.Policy
	// Reconnect spaces attempts to reach a server, those of clean-ups in the
	// background, and those of CreateProtected and CreateParents after an unknown
	// outcome. The zero value is 20 ms growing to 1 s, with jitter.
	Reconnect retry.Policy
	// RequestTimeout is how long an answer may take before the connection is given up
	// as broken. 0 means two thirds of the session timeout.
	RequestTimeout time.Duration
	// MaxRequestBytes is the largest request that is sent; raise it together with the
	// servers' jute.maxbuffer. 0 means DefaultMaxRequestBytes.
	MaxRequestBytes int
	// MaxReplyBytes is the largest answer that is accepted; a larger one fails the
	// request, with ErrReplyTooLarge. 0 means DefaultMaxReplyBytes.
	MaxReplyBytes int
	// MaxEphemeralBytes bounds the sum of the path lengths of the ephemeral nodes one
	// session owns, those included that are being deleted. 0 means
	// DefaultMaxEphemeralBytes, which is enough for some 11,000 locks and waiters.
	MaxEphemeralBytes int
	// Sessions is how many sessions the client may have at once. 0 means
	// DefaultSessions; with 1 there never is another than the main one.
	//
	// When there is no room in any, Acquire opens a further one; without room it fails
	// with ErrTooManyEphemerals. Those who contend for the same path share a session
	// while there is room. All else that the client does it does in the main session. A
	// sixteenth of each session is kept free for what can be in no other: ephemeral
	// nodes that the program makes itself, and downgrades of write locks.
	//
	// Each session is a connection of its own, maybe to another server, with the same
	// settings and credentials. A server accepts only so many connections from one
	// address: see maxClientCnxns. A further session that was not used for a minute or
	// two is closed.
	Sessions int
	// MaxOutstanding bounds the requests of a session that await an answer; further
	// ones are not sent until one is answered. 0 means DefaultMaxOutstanding.
	MaxOutstanding int

	// Logger gets state changes and what goes on in the background. nil means
	// slog.Default().
	Logger *slog.Logger
	// Observers are notified of what the client and its recipes do, for metrics and
	// traces.
	Observers []Observer

	random       io.Reader               // of the names of protected nodes
	protectedACL func(path string) []ACL // of the ephemeral nodes of CreateProtected

	_ struct{}
}

// A ConfigError is what Validate and Connect return for a field that makes no sense.
type ConfigError struct {
	// Field is the field as Go code in a Config would name it, such as
	// "SessionTimeout", "Servers[0]" or "Auth[1].Secret".
	Field string
	// Err is why: an ErrInvalidArgument, or for a path an ErrInvalidPath.
	Err error
}

// Error names the field and the reason.
func (e *ConfigError) Error() string { return fmt.Sprintf("config.%s: %v", e.Field, e.Err) }

// Unwrap returns the reason.
func (e *ConfigError) Unwrap() error { return e.Err }

// Validate returns a *ConfigError for a field that makes no sense, or several, joined.
func (cfg Config) Validate() error {
	_, _, err := cfg.addresses()
	return errors.Join(err, cfg.validateRest())
}

// field returns a ConfigError, if there is an error.
func field(name string, err error) error {
	if err != nil {
		return &ConfigError{Field: name, Err: err}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalidArgument}, args...)...)
}

func (cfg Config) validateRest() error {
	if err := validateNamespace(cfg.Namespace); err != nil {
		return field("Namespace", err)
	}
	if t := cfg.SessionTimeout; t != 0 && (t < minSessionTimeout || t > maxSessionTimeout) {
		return field("SessionTimeout", invalid("%v is not between %v and %v", t, minSessionTimeout, maxSessionTimeout))
	}
	for i, c := range cfg.Auth {
		if part, err := c.validate(); err != nil {
			return field(fmt.Sprintf("Auth[%d].%s", i, part), err)
		}
	}
	if cfg.TLS != nil && cfg.GetTLS != nil {
		return field("GetTLS", invalid("TLS is set as well"))
	}
	return cmp.Or(
		field("CloseGrace", notNegative(cfg.CloseGrace)),
		field("RequestTimeout", notNegative(cfg.RequestTimeout)),
		field("MaxRequestBytes", notNegative(cfg.MaxRequestBytes)),
		field("MaxReplyBytes", notNegative(cfg.MaxReplyBytes)),
		field("MaxEphemeralBytes", notNegative(cfg.MaxEphemeralBytes)),
		field("Sessions", notNegative(cfg.Sessions)),
		field("MaxOutstanding", notNegative(cfg.MaxOutstanding)),
		field("Retry", validatePolicy(cfg.Retry)),
		field("Reconnect", validatePolicy(cfg.Reconnect)),
	)
}

func notNegative[T int | time.Duration](value T) error {
	if value < 0 {
		return invalid("negative")
	}
	return nil
}

func validatePolicy(p retry.Policy) error {
	if err := p.Validate(); err != nil {
		return invalid("%w", err)
	}
	return nil
}

// withDefaults returns a copy in which every field has a usable value. It shares
// nothing with the original that the caller may change or wipe.
func (cfg Config) withDefaults() Config {
	cfg.Auth = slices.Clone(cfg.Auth)
	for i := range cfg.Auth {
		cfg.Auth[i].Secret = bytes.Clone(cfg.Auth[i].Secret)
	}
	cfg.TLS = cfg.TLS.Clone()
	cfg.SessionTimeout = cmp.Or(cfg.SessionTimeout, DefaultSessionTimeout)
	cfg.MaxRequestBytes = cmp.Or(cfg.MaxRequestBytes, DefaultMaxRequestBytes)
	cfg.MaxReplyBytes = cmp.Or(cfg.MaxReplyBytes, DefaultMaxReplyBytes)
	cfg.MaxEphemeralBytes = cmp.Or(cfg.MaxEphemeralBytes, DefaultMaxEphemeralBytes)
	cfg.Sessions = cmp.Or(cfg.Sessions, DefaultSessions)
	cfg.MaxOutstanding = cmp.Or(cfg.MaxOutstanding, DefaultMaxOutstanding)
	cfg.Reconnect = cmp.Or(cfg.Reconnect, retry.Exponential(20*time.Millisecond, time.Second))
	cfg.random = cmp.Or(cfg.random, rand.Reader)
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.ACL, cfg.protectedACL = cfg.acls()
	return cfg
}

// forGuard returns what the guard of a session has to know.
func (cfg Config) forGuard() guard.Config {
	auth := make([]guard.Credential, len(cfg.Auth))
	for i, cred := range cfg.Auth {
		auth[i] = guard.Credential(cred)
	}
	return guard.Config{
		Auth: auth, SessionTimeout: cfg.SessionTimeout, RequestTimeout: cfg.RequestTimeout,
		MaxRequestBytes: cfg.MaxRequestBytes, MaxReplyBytes: cfg.MaxReplyBytes,
		Dial: cfg.Dial, TLS: cfg.tlsFor, Reconnect: cfg.Reconnect, Logger: cfg.Logger,
	}
}
