package framework_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// certificate returns a certificate for a name and an address, signed by itself,
// and the pool that trusts it.
func certificate(t *testing.T, name, ip string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames: []string{name}, IPAddresses: []net.IP{net.ParseIP(ip)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// terminate listens with a certificate and passes what it decrypts on to a server.
// It notes the names that clients asked for.
func terminate(t *testing.T, s *zktest.Server, cert tls.Certificate) (addr string, names func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, hello.ServerName)
			return &cert, nil
		},
	})
	require.NoError(t, err)
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		listener.Close()
		running.Wait()
	})
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				server, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr())
				if err != nil {
					return
				}
				defer server.Close()
				stop := context.AfterFunc(ctx, func() { conn.Close(); server.Close() })
				defer stop()
				running.Go(func() {
					_, _ = io.Copy(server, conn)
					server.Close()
				})
				_, _ = io.Copy(conn, server)
			})
		}
	})
	return listener.Addr().String(), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), asked...)
	}
}

// unhurried gives each attempt to connect five seconds, a sixth of the timeout: these
// tests run in real time, beside whatever else keeps the machine busy.
func unhurried(cfg *framework.Config) { cfg.SessionTimeout = 30 * time.Second }

func TestTLSToAnAddress(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	cert, pool := certificate(t, "zk.test", "127.0.0.1")
	addr, _ := terminate(t, s, cert)
	c := connect(t, s, unhurried, func(cfg *framework.Config) {
		cfg.Servers, cfg.Dial, cfg.TLS = []string{addr}, nil, &tls.Config{RootCAs: pool}
		cfg.Auth = []framework.Credential{framework.DigestAuth("user", "password")}
	})
	made, err := c.CreateProtected(t.Context(), "/n-", make([]byte, 200<<10), framework.EphemeralSequential)
	require.NoError(t, err)
	data, _, err := c.Get(t.Context(), made.Path)
	require.NoError(t, err)
	assert.Len(t, data, 200<<10)
	require.NoError(t, c.Close())
	assert.Empty(t, s.Sessions())
}

// through makes every name lead to one address, as a resolver would.
func through(addr string) func(ctx context.Context, network, name string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
}

// untilSecond ends a context when a client dials for the second time: by then it
// knows why the first attempt failed.
func untilSecond(t *testing.T) (context.Context, setting) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	dials := 0
	return ctx, func(cfg *framework.Config) {
		dial := cfg.Dial
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if dials++; dials > 1 {
				cancel(errStopped)
			}
			return dial(ctx, network, addr)
		}
	}
}

func TestTLSAsksForTheConfiguredName(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	cert, pool := certificate(t, "zk.test", "127.0.0.1")
	addr, names := terminate(t, s, cert)
	original := &tls.Config{RootCAs: pool}
	c := connect(t, s, unhurried, func(cfg *framework.Config) {
		cfg.Servers, cfg.Dial, cfg.TLS = []string{"zk.test:2281"}, through(addr), original
	})
	s.DropConnections("")
	_, _, err := c.Exists(t.Context(), "/")
	require.NoError(t, err)
	require.NoError(t, c.Close())
	asked := names()
	assert.GreaterOrEqual(t, len(asked), 2)
	for _, name := range asked {
		assert.Equal(t, "zk.test", name)
	}
	assert.Empty(t, original.ServerName, "the caller's configuration is not touched")
}

func TestTLSRefusesTheWrongServer(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	cert, pool := certificate(t, "zk.test", "127.0.0.1")
	_, stranger := certificate(t, "zk.test", "127.0.0.1")
	addr, _ := terminate(t, s, cert)
	for name, tc := range map[string]struct {
		server string
		pool   *x509.CertPool
		says   string
	}{
		"another name":      {"other.test:2281", pool, "zk.test, not "},
		"another authority": {"zk.test:2281", stranger, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each server is refused once before the context ends at the next attempt;
			// the error tells of the other, which is not being tried again yet.
			ctx, stop := untilSecond(t)
			_, err := framework.Connect(ctx, config(s, "client", unhurried, func(cfg *framework.Config) {
				cfg.Servers, cfg.Dial, cfg.TLS = []string{tc.server, "second-" + tc.server}, through(addr), &tls.Config{RootCAs: tc.pool}
			}, stop))
			require.ErrorIs(t, err, framework.ErrNotConnected)
			assert.Contains(t, err.Error(), tc.server)
			assert.Contains(t, err.Error(), tc.says)
		})
	}
}

// A client that speaks TLS to a server that does not, and the other way round.
func TestTLSOnOneSideOnly(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	cert, pool := certificate(t, "zk.test", "127.0.0.1")
	addr, _ := terminate(t, s, cert)
	for name, set := range map[string]setting{
		"client": func(cfg *framework.Config) { cfg.Dial, cfg.TLS = through(s.Addr()), &tls.Config{RootCAs: pool} },
		"server": func(cfg *framework.Config) { cfg.Dial = through(addr) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := untilSecond(t)
			_, err := framework.Connect(ctx, config(s, "client", unhurried, set, stop))
			require.ErrorIs(t, err, framework.ErrNotConnected)
			require.ErrorIs(t, err, errStopped)
		})
	}
}
