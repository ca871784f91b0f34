package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
)

// A secureConn is an encrypted connection.
type secureConn struct {
	*tls.Conn
	wanted bool // the server has asked for the client's certificate
	sent   bool // and has got one
}

// encrypt does the TLS handshake on a new connection. It closes the connection if the
// handshake fails.
func encrypt(ctx context.Context, conn net.Conn, cfg *tls.Config) (net.Conn, error) {
	secure := &secureConn{}
	choose := cfg.GetClientCertificate
	cfg.GetClientCertificate = func(request *tls.CertificateRequestInfo) (cert *tls.Certificate, err error) {
		if choose != nil {
			cert, err = choose(request)
		} else {
			cert = firstSupported(request, cfg.Certificates)
		}
		secure.wanted, secure.sent = true, cert != nil && len(cert.Certificate) > 0
		return cert, err
	}
	secure.Conn = tls.Client(conn, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // already closed if ctx has ended
		return nil, secure.explain(err)
	}
	return secure, nil
}

// firstSupported chooses among certificates as crypto/tls does without a
// GetClientCertificate. An empty certificate stands for none.
func firstSupported(request *tls.CertificateRequestInfo, all []tls.Certificate) *tls.Certificate {
	for i := range all {
		if request.SupportsCertificate(&all[i]) == nil {
			return &all[i]
		}
	}
	return &tls.Certificate{}
}

// A mismatchError is an ErrTLSMismatch that says which side uses TLS.
type mismatchError struct{ error }

func mismatch(format string, args ...any) error {
	return mismatchError{fmt.Errorf(format, args...)}
}

func (e mismatchError) Is(target error) bool { return target == ErrTLSMismatch }

func (e mismatchError) Unwrap() error { return e.error }

// explain adds the probable reason to the error of a failed TLS handshake, where the
// error does not say it.
func (c *secureConn) explain(err error) error {
	var (
		notTLS    tls.RecordHeaderError
		untrusted *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &notTLS):
		return mismatch("the server does not answer in TLS: this may be a port without it: %w", err)
	case closedByServer(err): // ZooKeeper does so when it reads the first bytes as a length
		return mismatch("the server closed the connection in the TLS handshake: it may not serve now, allow no more connections, or this is a port without TLS: %w", err)
	case errors.As(err, &untrusted):
		return err
	}
	if refused := c.refused(err); refused != nil {
		return refused
	}
	return fmt.Errorf("tls handshake: %w", err)
}

// certificateAlerts are the alerts of RFC 8446, section 6.2, by which a server refuses
// the client's certificate, or says that it got none.
var certificateAlerts = []tls.AlertError{
	40,  // handshake failure; newer Java sends it if it got none
	42,  // bad certificate; older Java sends it then
	43,  // unsupported certificate
	44,  // certificate revoked
	45,  // certificate expired
	46,  // certificate unknown
	48,  // unknown authority
	49,  // access denied
	116, // certificate required
}

// refused returns an error if err is an alert of the server about the client's
// certificate, else nil.
func (c *secureConn) refused(err error) error {
	var op *net.OpError
	if !c.wanted || !errors.As(err, &op) || op.Op != "remote error" { // crypto/tls marks alerts of the other side so
		return nil
	}
	// The alert's type is not exported, but its text is that of an exported type.
	is := func(alert tls.AlertError) bool { return op.Err.Error() == alert.Error() }
	switch {
	case !slices.ContainsFunc(certificateAlerts, is):
		return nil
	case !c.sent:
		return fmt.Errorf("%w: it wants one, and got none: %w", ErrCertificateRefused, err)
	}
	return fmt.Errorf("%w: %w", ErrCertificateRefused, err)
}

// errAnswersTLS means that a TLS record came in place of the connect reply.
var errAnswersTLS = mismatch("the server answers in TLS: this is a port with TLS")

// startsTLS reports whether bytes from the network begin a TLS alert or handshake. As
// the length of a frame they would be a third of a gigabyte.
func startsTLS(head []byte) bool {
	return len(head) >= 3 && (head[0] == 0x15 || head[0] == 0x16) && head[1] == 3 && head[2] <= 4
}

// explainHandshake adds the probable reason why a connection broke before the connect
// reply. A server that does not serve (yet) closes the connection, too: ZooKeeper gives
// no reasons.
func (c *Conn) explainHandshake(err error) error {
	secure, encrypted := c.Conn.(*secureConn)
	if encrypted {
		// From TLS 1.3 on the server checks the client's certificate after the client
		// has finished its handshake.
		if refused := secure.refused(err); refused != nil {
			return refused
		}
	}
	switch {
	case !closedByServer(err):
		return err
	case encrypted:
		return closedEarly(err)
	}
	return mismatch("the server closed the connection instead of answering: it may not serve now, allow no more connections, or want TLS: %w", err)
}

// explainDial adds the probable reason to the error of a dial that found its connection
// closed again: a server that refuses to listen gives another error, and TLS is not the
// reason, since nothing was sent yet.
func explainDial(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return closedEarly(err)
	}
	return err
}

// closedEarly adds the probable reasons to the error of a connection that the server
// has closed before it answered, where TLS is none of them.
func closedEarly(err error) error {
	return fmt.Errorf("the server closed the connection instead of answering: it may not serve now, or allow no more connections: %w", err)
}

// closedByServer reports whether err means that the other side has closed or reset the
// connection.
func closedByServer(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "read" || op.Op == "write") && !op.Timeout() && !errors.Is(err, net.ErrClosed)
}
