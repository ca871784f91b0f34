package guard

import (
	"context"
	"crypto/tls"
	"net"
)

// A secureConn is an encrypted connection.
type secureConn struct {
	*tls.Conn
	wanted bool // the server has asked for the client's certificate
	sent   bool // and got one
}

// encrypt does the TLS handshake on a fresh connection, which it closes if that fails.
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
		_ = conn.Close() // which is done already if ctx has ended
		return nil, secure.explain(err)
	}
	return secure, nil
}

// firstSupported is how crypto/tls chooses among certificates where there is no
// GetClientCertificate: one without content stands for none.
func firstSupported(request *tls.CertificateRequestInfo, all []tls.Certificate) *tls.Certificate {
	for i := range all {
		if request.SupportsCertificate(&all[i]) == nil {
			return &all[i]
		}
	}
	return &tls.Certificate{}
}
