package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// connectRefused connects until a server is tried for the second time, and returns why
// it could not the first time.
func connectRefused(t *testing.T, s *zktest.Server, settings ...setting) framework.ConnectAttempt {
	t.Helper()
	ctx, stop := untilSecond(t)
	_, err := framework.Connect(ctx, config(s, "client", append(append([]setting{unhurried}, settings...), stop)...))
	require.ErrorIs(t, err, framework.ErrNotConnected)
	require.ErrorIs(t, err, errStopped)
	var all *framework.ConnectError
	require.ErrorAs(t, err, &all)
	require.Len(t, all.Attempts, 1)
	require.ErrorContains(t, err, all.Attempts[0].Err.Error(), "the error names what failed while it is tried again")
	return all.Attempts[0]
}

// A client that uses TLS with a server that does not, or the reverse, gets an error
// that says what is probably wrong.
func TestTLSOnOneSideOnly(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	cert, pool := certificate(t, "zk.test", "127.0.0.1")
	addr, _ := terminate(t, s, cert)
	secure := func(cfg *framework.Config) { cfg.TLS = &tls.Config{RootCAs: pool} }
	for name, tc := range map[string]struct {
		dial     dialer
		setting  setting
		says     string
		mismatch bool
	}{
		"client only":                           {through(s.Addr()), secure, "a port without TLS: ", true},
		"client only, something else answers":   {through(answering(t, "220 ready\r\n")), secure, "may be a port without it", true},
		"server only, which hangs up":           {through(addr), nop, "want TLS: EOF", true},
		"server only, which resets":             {through(answering(t, reset)), nop, "want TLS: read tcp ", true},
		"client only, and a reset":              {through(answering(t, reset)), secure, "a port without TLS: read tcp ", true},
		"server only, which sends an alert":     {through(answering(t, "\x15\x03\x01\x00\x02\x02\x0a")), nop, "answers in TLS: this is a port with TLS", true},
		"neither, closed before it was open":    {failing(syscall.EPIPE), nop, "allow no more connections: dial tcp: ", false},
		"neither, reset before it was open":     {failing(syscall.ECONNRESET), nop, "allow no more connections: dial tcp: ", false},
		"client only, reset before it was open": {failing(syscall.ECONNRESET), secure, "allow no more connections: dial tcp: ", false},
		"nobody listens":                        {failing(syscall.ECONNREFUSED), nop, "dial tcp: connect: connection refused", false},
		"both, and it hangs up after that":      {through(tlstest.NewFront(t, answering(t, ""), &tls.Config{Certificates: []tls.Certificate{cert}})), secure, "allow no more connections: EOF", false},
		"neither, and it answers something odd": {through(answering(t, "HTTP/1.1 400 Bad Request\r\n\r\n")), nop, "malformed frame", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := connectRefused(t, s, tc.setting, func(cfg *framework.Config) { cfg.Servers, cfg.Dial = []string{"zk.test:2181"}, tc.dial })
			assert.Equal(t, "zk.test:2181", failed.Addr)
			assert.ErrorContains(t, failed.Err, tc.says)
			assert.NotErrorIs(t, failed.Err, framework.ErrCertificateRefused)
			assert.Equal(t, tc.mismatch, errors.Is(failed.Err, framework.ErrTLSMismatch))
		})
	}
}

// failing returns a dialer whose dials fail as a system call does.
func failing(err syscall.Errno) dialer {
	return func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
	}
}

func nop(*framework.Config) {}

// reset makes answering say nothing and reset the connection.
const reset = "reset"

// answering returns the address of a server that waits for something, says its piece
// and hangs up.
func answering(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 16<<10)) // else what is not read resets the connection
			if text == reset {
				_ = conn.(*net.TCPConn).SetLinger(0)
			} else {
				_, _ = io.WriteString(conn, text)
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// A certificate that the server does not want has an error of its own, whatever the
// version of TLS: from 1.3 on it comes after the client's handshake.
func TestServerRefusesTheClientsCertificate(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	ours := tlstest.NewAuthority(t, "ours")
	theirs := tlstest.NewAuthority(t, "theirs").Issue("other").Certificate(t)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		addr := tlstest.NewFront(t, s.Addr(), &tls.Config{
			Certificates: []tls.Certificate{ours.Issue("server", "zk.test").Certificate(t)},
			ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool(), MaxVersion: version,
		})
		secure := func(cert *tls.Certificate) setting {
			return func(cfg *framework.Config) {
				cfg.Servers, cfg.Dial = []string{"zk.test:2281"}, through(addr)
				cfg.TLS = &tls.Config{RootCAs: ours.Pool(), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					return cert, nil
				}}
			}
		}
		for name, cert := range map[string]*tls.Certificate{"none": {}, "of another authority": &theirs} {
			t.Run(tls.VersionName(version)+" "+name, func(t *testing.T) {
				t.Parallel()
				failed := connectRefused(t, s, secure(cert))
				require.ErrorIs(t, failed.Err, framework.ErrCertificateRefused)
				assert.ErrorContains(t, failed.Err, "remote error: tls: ", "and what the server said")
				assert.Equal(t, name == "none", strings.Contains(failed.Err.Error(), "it wants one, and got none"))
			})
		}
		t.Run(tls.VersionName(version)+" good", func(t *testing.T) {
			t.Parallel()
			cert := ours.Issue("client").Certificate(t)
			c := connect(t, s, unhurried, secure(&cert))
			require.NoError(t, c.Close())
		})
	}
}

// The two sides have no version of TLS in common, or none of their ways to encrypt.
func TestTLSWithNothingInCommon(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	cert, pool := certificate(t, "zk.test", "127.0.0.1")
	for name, tc := range map[string]struct {
		server, client *tls.Config
		says           string
	}{
		"version": {&tls.Config{MinVersion: tls.VersionTLS13}, &tls.Config{MaxVersion: tls.VersionTLS12}, "protocol version not supported"},
		"suites": {
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}},
			&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}},
			"tls handshake: remote error: tls: handshake failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.server.Certificates, tc.client.RootCAs = []tls.Certificate{cert}, pool
			addr := tlstest.NewFront(t, s.Addr(), tc.server)
			failed := connectRefused(t, s, func(cfg *framework.Config) {
				cfg.Servers, cfg.Dial, cfg.TLS = []string{"zk.test:2281"}, through(addr), tc.client
			})
			require.ErrorContains(t, failed.Err, tc.says)
			assert.NotErrorIs(t, failed.Err, framework.ErrCertificateRefused)
		})
	}
}
