package framework_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// certificate returns a certificate for a name and an address, and the pool that trusts
// it.
func certificate(t *testing.T, name, ip string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	authority := tlstest.NewAuthority(t, "test")
	return authority.Issue("server", name, ip).Certificate(t), authority.Pool()
}

// terminate listens with a certificate and passes what it decrypts on to a server. It
// records the names that clients requested.
func terminate(t *testing.T, s *zktest.Server, cert tls.Certificate) (addr string, names func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	addr = tlstest.NewFront(t, s.Addr(), &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, hello.ServerName)
			return &cert, nil
		},
	})
	return addr, func() []string {
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

// untilSecond ends a context when a client dials for the second time: by then it knows
// why the first attempt failed.
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
	_, untrusted := certificate(t, "zk.test", "127.0.0.1")
	addr, _ := terminate(t, s, cert)
	for name, tc := range map[string]struct {
		server string
		pool   *x509.CertPool
		says   string
	}{
		"another name":      {"other.test:2281", pool, "zk.test, not "},
		"another authority": {"zk.test:2281", untrusted, "certificate"},
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
