package guard

import (
	"errors"
	"fmt"
)

// Package framework exports these under the same names, documented for users.
var (
	// ErrSessionLost means that a session is over.
	ErrSessionLost = errors.New("session lost")
	// ErrSessionExpired means that the server expired it.
	ErrSessionExpired = fmt.Errorf("%w: expired by the server", ErrSessionLost)
	// ErrSessionReplaced means that a server answered with another session.
	ErrSessionReplaced = fmt.Errorf("%w: the server replaced it with another", ErrSessionLost)
	// ErrTrustExpired means that its trust deadline passed.
	ErrTrustExpired = fmt.Errorf("%w: not proved to live by the trust deadline", ErrSessionLost)
	// ErrAuthFailed means that the server refused a credential.
	ErrAuthFailed = errors.New("authentication refused")
	// ErrCertificateRefused means that a server refused the client's certificate.
	ErrCertificateRefused = errors.New("the server refuses the client's certificate")
	// ErrTLSMismatch means that only one side seems to use TLS.
	ErrTLSMismatch = errors.New("only one side uses tls")
)

var (
	errSealed   = errors.New("session is over")
	errMoved    = errors.New("session moved to another server")
	errSilent   = errors.New("no answer in time")
	errNoLeader = errors.New("no answer from the leader in time")

	// Which of the two proofs was missing at the trust deadline.
	errUnanswered = fmt.Errorf("%w: no answer from the leader", ErrTrustExpired)
	errNotVouched = fmt.Errorf("%w: servers answered, but no quorum committed a transaction", ErrTrustExpired)
)
