package integration

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A client's certificate is an identity to which a lock's path can belong, without a
// password: clients with another certificate of the same authority can look, and
// neither contend nor delete.
func TestACertificateIsAnIdentity(t *testing.T) {
	authority := tlstest.NewAuthority(t, "authority")
	server, _ := secured(t, authority)
	as := func(name string, acl func(string) []framework.ACL) *framework.Client {
		return connectWith(t, framework.Config{
			Servers: []string{server.SecureAddr()}, ACL: acl, SessionTimeout: time.Minute, // the machine may be busy
			TLS: &tls.Config{
				MinVersion: tls.VersionTLS12, ServerName: tlsName, RootCAs: authority.Pool(),
				Certificates: []tls.Certificate{authority.Issue(name).Certificate(t)},
			},
		})
	}
	const path = "/locks/owned"
	owner, other := as("orders", framework.OwnedBelow(path)), as("billing", nil)
	held, err := newMutex(t, owner, path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	for _, node := range []string{path, held.Path()} {
		acl, _, err := other.GetACL(within(t, limit), node)
		require.NoError(t, err)
		assert.Equal(t, []framework.ACL{
			{Perms: framework.PermAll, Scheme: "x509", ID: "CN=orders"},
			{Perms: framework.PermRead, Scheme: "world", ID: "anyone"},
		}, acl, node)
	}

	m := newMutex(t, other, path)
	who, err := m.Contenders(within(t, limit))
	require.NoError(t, err)
	require.Len(t, who, 1)
	_, err = m.Acquire(within(t, limit), lease.Forever)
	require.ErrorIs(t, err, framework.ErrNoAuth)
	require.ErrorIs(t, other.Delete(within(t, limit), held.Path(), framework.AnyVersion), framework.ErrNoAuth)
	require.ErrorIs(t, lease.RequestRevocation(within(t, limit), other, held.Path()), framework.ErrNoAuth)

	require.NoError(t, held.Err())
	require.NoError(t, held.Release())
}
