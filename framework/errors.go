package framework

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// What servers answer, and what this package finds out by itself. Test for them with
// errors.Is.
var (
	// ErrNoNode means that the znode, or for a create its parent, does not exist.
	ErrNoNode = errors.New("node does not exist")
	// ErrNodeExists means that a create found a znode of that name.
	ErrNodeExists = errors.New("node already exists")
	// ErrNotEmpty means that a delete found children under the znode.
	ErrNotEmpty = errors.New("node has children")
	// ErrBadVersion means that the znode's version is not the one given.
	ErrBadVersion = errors.New("version does not match")
	// ErrNoChildrenForEphemerals means that the parent of a create is ephemeral.
	ErrNoChildrenForEphemerals = errors.New("ephemeral nodes cannot have children")
	// ErrNoAuth means that the node's ACL does not allow the operation.
	ErrNoAuth = errors.New("not permitted by the node's acl")
	// ErrInvalidACL means that the server refused the ACL of a create or SetACL.
	ErrInvalidACL = errors.New("invalid acl")
	// ErrAuthFailed means that the server refused a credential or does not know its
	// scheme.
	ErrAuthFailed = guard.ErrAuthFailed
	// ErrCertificateRefused means that a server refused the certificate that the client
	// presented in the TLS handshake, or wants one and got none. It is the Err of a
	// ConnectAttempt: another server may accept it, or the same one later.
	ErrCertificateRefused = guard.ErrCertificateRefused
	// ErrTLSMismatch means that a server seems to want TLS where the client uses none,
	// or the reverse: see Config.TLS. It is the Err of a ConnectAttempt. A server that
	// hangs up for another reason may look the same.
	ErrTLSMismatch = guard.ErrTLSMismatch
	// ErrUnsupported means that the server does not know the operation, as old servers
	// do not know container or TTL nodes.
	ErrUnsupported = errors.New("operation not supported by the server")
	// ErrThrottled means that the server refused the request because it is overloaded.
	ErrThrottled = errors.New("refused by an overloaded server")
	// ErrInvalidPath means that a path breaks the rules for ZooKeeper paths. Nothing
	// was sent.
	ErrInvalidPath = errors.New("invalid path")
	// ErrInvalidArgument means that another argument makes no sense. Nothing was sent.
	ErrInvalidArgument = errors.New("invalid argument")
	// ErrTooLarge means that the request is larger than Config.MaxRequestBytes. Nothing
	// was sent.
	ErrTooLarge = errors.New("request too large")
	// ErrReplyTooLarge means that the answer is larger than Config.MaxReplyBytes; the
	// error names both sizes. The request was carried out, but its answer was not read:
	// a write has an unknown outcome, and a read is not repeated, because its answer
	// would be as large again. The connection goes on.
	ErrReplyTooLarge = guard.ErrLargeAnswer
	// ErrTooManyEphemerals means that the session owns as many ephemeral nodes as
	// Config.MaxEphemeralBytes allows. Nothing was sent.
	ErrTooManyEphemerals = errors.New("too many ephemeral nodes in one session")
	// ErrUnknownOutcome means that a request was sent and never answered: it may have
	// taken effect, or may still do so.
	ErrUnknownOutcome = errors.New("outcome unknown")
	// ErrSessionLost means that the session an operation belongs to is over.
	ErrSessionLost = guard.ErrSessionLost
	// ErrClosed means that the client was closed.
	ErrClosed = errors.New("client is closed")
	// ErrNotConnected means that no server could be reached, or used; the error names
	// the addresses tried and what happened there.
	ErrNotConnected = errors.New("not connected to zookeeper")

	errMoved           = errors.New("session moved to another server")
	errMalformedAnswer = errors.New("malformed answer")
)

// Reasons for the end of a session. Each is also an ErrSessionLost.
var (
	// ErrSessionExpired means that the server expired the session.
	ErrSessionExpired = guard.ErrSessionExpired
	// ErrTrustExpired means that the trust deadline passed, because no server answered,
	// or none that has a quorum, so that the session could no longer be proved to live.
	ErrTrustExpired = guard.ErrTrustExpired
	// ErrSessionReplaced means that a server answered with another session than the one
	// requested.
	ErrSessionReplaced = guard.ErrSessionReplaced
)

// An OpError says which operation on which path failed and whether it may have taken
// effect all the same.
type OpError struct {
	// Op is the operation, such as "create".
	Op string
	// Path is the path as the caller gave it.
	Path string
	// Session is the id of the session the request was sent in, 0 if it was never sent.
	Session int64
	// Outcome is Failed or Unknown.
	Outcome Outcome
	// Err is the reason.
	Err error
}

// Error describes the failure in one line, in which what is not printable in the path
// is escaped.
func (e *OpError) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Path != "" {
		b.WriteString(" " + quote.Path(e.Path))
	}
	b.WriteString(": ")
	if e.Outcome == Unknown {
		b.WriteString("outcome unknown: ")
	}
	fmt.Fprint(&b, e.Err)
	if e.Session != 0 {
		fmt.Fprintf(&b, " (session %s)", sessionName(e.Session))
	}
	return b.String()
}

// Unwrap returns the reason.
func (e *OpError) Unwrap() error { return e.Err }

// Is reports whether target is ErrUnknownOutcome and the outcome is unknown.
func (e *OpError) Is(target error) bool {
	return target == ErrUnknownOutcome && e.Outcome == Unknown
}

// A ConnectError says which addresses were tried without success. It is an
// ErrNotConnected, and an ErrAuthFailed if a server was reached and refused the
// credentials. It does not wrap the failures themselves: a dial that timed out must not
// look like a timeout of the caller's context.
type ConnectError struct {
	// Attempts holds the newest attempt for each address, in the order tried.
	Attempts []ConnectAttempt
}

// A ConnectAttempt is one failed attempt to attach to a server.
type ConnectAttempt struct {
	// Addr is the host and port that was tried.
	Addr string
	// At is when it failed.
	At time.Time
	// Err is why.
	Err error
}

// notConnected returns the error of attempts.
func notConnected(attempts []guard.Attempt) *ConnectError {
	e := &ConnectError{}
	for _, a := range attempts {
		e.Attempts = append(e.Attempts, ConnectAttempt(a))
	}
	return e
}

// Error names every address and its failure, in which what is not printable is escaped:
// a certificate may have said it.
func (e *ConnectError) Error() string {
	if len(e.Attempts) == 0 {
		return ErrNotConnected.Error() + ": no server tried yet"
	}
	tried := make([]string, len(e.Attempts))
	for i, a := range e.Attempts {
		tried[i] = quote.Brief(a.Addr) + ": " + quote.Path(fmt.Sprint(a.Err))
	}
	return ErrNotConnected.Error() + ": tried " + strings.Join(tried, "; ")
}

// Is reports whether target is ErrNotConnected, or ErrAuthFailed and that is why.
func (e *ConnectError) Is(target error) bool {
	refused := func(a ConnectAttempt) bool { return errors.Is(a.Err, ErrAuthFailed) }
	return target == ErrNotConnected || target == ErrAuthFailed && slices.ContainsFunc(e.Attempts, refused)
}

// waitEnded is the error of a wait for a connection that ctx has ended: it is both the
// cause of ctx and the failures at the addresses.
func waitEnded(ctx context.Context, servers *guard.Servers) error {
	return fmt.Errorf("%w: %w", context.Cause(ctx), notConnected(servers.Attempts()))
}

// lastFailure returns the error of the newest attempt that has failed.
func lastFailure(servers *guard.Servers) error {
	if all := servers.Attempts(); len(all) > 0 {
		return notConnected(all[len(all)-1:])
	}
	return ErrNotConnected
}
