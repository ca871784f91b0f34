package framework_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Certificates of both sides change while a client is connected. It goes on with the
// connection that it has, and makes the next one with the new ones, in the same
// session.
func TestCertificatesAreRotated(t *testing.T) {
	t.Parallel()
	s := zktest.NewServer(t)
	var server, client atomic.Pointer[tls.Config]
	authorities := map[string]*tlstest.Authority{}
	issue := func(name string) {
		authorities[name] = tlstest.NewAuthority(t, name)
		server.Store(&tls.Config{
			Certificates: []tls.Certificate{authorities[name].Issue("server", "zk.test").Certificate(t)},
			ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: authorities[name].Pool(),
		})
	}
	adopt := func(name string) {
		cert := authorities[name].Issue("client").Certificate(t)
		client.Store(&tls.Config{RootCAs: authorities[name].Pool(), Certificates: []tls.Certificate{cert}})
	}
	issue("first")
	adopt("first")
	addr := tlstest.NewFront(t, s.Addr(), &tls.Config{
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return server.Load(), nil },
	})
	c := connect(t, s, unhurried, func(cfg *framework.Config) {
		cfg.Servers, cfg.Dial = []string{"zk.test:2281"}, through(addr)
		cfg.GetTLS = func(context.Context) (*tls.Config, error) { return client.Load(), nil }
	})
	session := c.Session().ID()
	_, err := c.Create(t.Context(), "/n", nil, framework.Ephemeral)
	require.NoError(t, err)

	issue("second")
	_, _, err = c.Exists(t.Context(), "/n")
	require.NoError(t, err, "what stands is not touched")
	s.DropConnections("")
	limit := within(t, 30*time.Second)
	for err == nil || !strings.Contains(err.Error(), "certificate") { // the break has not been noticed yet, or nothing but that
		require.NoError(t, limit.Err(), "%v", err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err = c.AwaitSession(ctx); err == nil {
			_, _, _ = kit.Of(c).Once().Exists(ctx, "/n")
		}
		cancel()
	}
	require.ErrorIs(t, err, framework.ErrNotConnected, "the server is not trusted any more")

	adopt("second")
	stat, _, err := c.Exists(within(t, 30*time.Second), "/n")
	require.NoError(t, err)
	assert.NotNil(t, stat)
	assert.Equal(t, session, c.Session().ID())
	assert.Empty(t, client.Load().ServerName, "what the function returned is not touched")
}

// Certificates that cannot be had end an attempt, not the client, and never make it go
// without.
func TestGetTLSFails(t *testing.T) {
	t.Parallel()
	errHalf := errors.New("ca.pem: cut off")
	for name, tc := range map[string]struct {
		get  func(context.Context) (*tls.Config, error)
		says string
	}{
		"with an error": {func(context.Context) (*tls.Config, error) { return nil, errHalf }, "get tls configuration: ca.pem: cut off"},
		"with nothing":  {func(context.Context) (*tls.Config, error) { return nil, nil }, "get tls configuration: invalid argument: there is none"}, //nolint:nilnil // the mistake
		"in time": {func(ctx context.Context) (*tls.Config, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "get tls configuration: context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *zktest.Server) {
				err := connectInVain(t, s, 10*time.Second, func(cfg *framework.Config) { cfg.GetTLS = tc.get })
				require.ErrorIs(t, err, framework.ErrNotConnected)
				require.ErrorContains(t, err, tc.says)
				require.NotErrorIs(t, err, context.DeadlineExceeded, "an attempt's own limit is not the caller's")
				assert.Empty(t, s.Counts(), "nothing was said in plain text")
			})
		})
	}
}

func TestTLSAndGetTLSContradict(t *testing.T) {
	t.Parallel()
	err := framework.Config{
		Servers: []string{"a"}, TLS: &tls.Config{},
		GetTLS: func(context.Context) (*tls.Config, error) { return &tls.Config{}, nil },
	}.Validate()
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
	require.ErrorContains(t, err, "config.GetTLS")
}
