//go:build unix

package main

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// pki is a server that wants certificates of its own authority, and what a client needs
// to know of it.
type pki struct {
	server        *tls.Config
	ca, cert, key []byte
}

func newPKI(t *testing.T, name string) *pki {
	t.Helper()
	authority := tlstest.NewAuthority(t, name)
	client := authority.Issue("client")
	return &pki{
		server: &tls.Config{
			Certificates: []tls.Certificate{authority.Issue("server", "zk.test", "127.0.0.1").Certificate(t)},
			ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool(),
		},
		ca: authority.PEM(), cert: client.Cert, key: client.Key,
	}
}

// files are the names of files for a client.
type files struct{ ca, cert, key string }

func filesIn(dir string) files {
	return files{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// write writes the files for a client, each at once, as tools that rotate certificates
// do.
func (f files) write(t *testing.T, p *pki) files {
	t.Helper()
	for name, text := range map[string][]byte{f.ca: p.ca, f.cert: p.cert, f.key: p.key} {
		require.NoError(t, os.Rename(write(t, name+".new", text, 0o600), name))
	}
	return f
}

func (f files) flags() []string {
	return []string{"--tls-ca", f.ca, "--tls-cert", f.cert, "--tls-key", f.key}
}

// Every command that connects does so with TLS, whether flags say so or the
// environment.
func TestCommandsOverTLS(t *testing.T) {
	server := zktest.NewServer(t)
	p := newPKI(t, "test")
	addr := tlstest.NewFront(t, server.Addr(), p.server)
	f := filesIn(t.TempDir()).write(t, p)
	flags := append(f.flags(), "--servers", addr)
	env := []string{envServers + "=" + addr, envTLSCA + "=" + f.ca, envTLSCert + "=" + f.cert, envTLSKey + "=" + f.key}

	holder := hold(t, server, append(flags, "--label", "holder")...)
	code, stdout, stderr := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "holder")
	code, _, stderr = invoke(t, nil, slices.Concat([]string{"revoke", testLock}, flags)...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 3, holder.end(), "the command got TERM")

	leader := start(t, server, slices.Concat([]string{"elect", "--json", "--path", "/elections/test"}, flags, command("exit", "5"))...)
	require.Equal(t, 5, leader.end())
}

// Mistakes are explained with the flags of the command, and have the right exit code.
func TestTLSMistakesAreExplained(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	p, other := newPKI(t, "test"), newPKI(t, "other")
	secure := tlstest.NewFront(t, server.Addr(), p.server)
	ours, theirs := filesIn(t.TempDir()).write(t, p), filesIn(t.TempDir()).write(t, other)
	tests := map[string]struct {
		server string
		flags  []string
		code   int
		says   string
	}{
		"plain, to a port for TLS": {secure, nil, exitUnavailable, "or want TLS: EOF (see --tls)"},
		"TLS, to a plain port":     {server.Addr(), ours.flags(), exitUnavailable, "a port without TLS: "},
		"no certificate":           {secure, []string{"--tls-ca", ours.ca}, exitNoPerm, "refuses the client's certificate: it wants one, and got none: remote error: tls: certificate required (see --tls-cert)"},
		"a certificate of another authority": {
			secure, []string{"--tls-ca", ours.ca, "--tls-cert", theirs.cert, "--tls-key", theirs.key}, exitNoPerm,
			"refuses the client's certificate: remote error: tls: ",
		},
		"an unknown authority":     {secure, theirs.flags(), exitUnavailable, "certificate signed by unknown authority"},
		"the system's authorities": {secure, []string{"--tls"}, exitUnavailable, "certificate signed by unknown authority"},
		"another name":             {secure, append(ours.flags(), "--tls-server-name", "other.test"), exitUnavailable, "certificate is valid for zk.test, not other.test"},
		"the right name":           {secure, append(ours.flags(), "--tls-server-name", "zk.test"), 0, ""},
	}
	running := map[string]*started{} // at the same time: each takes the whole of --timeout
	for name, test := range tests {
		flags := append([]string{"--lock", testLock, "--timeout", "5s", "--servers", test.server}, test.flags...)
		running[name] = start(t, server, flagsFor(command("exit", "0"), flags...)...)
	}
	for name, test := range tests {
		require.Equal(t, test.code, running[name].end(), name)
		if test.code == 0 {
			continue
		}
		reason := running[name].event("failed").Reason
		require.Contains(t, reason, test.says, name)
		require.Contains(t, reason, test.server, name)
		require.NotContains(t, reason, "onfig.", "names of the library")
	}
}

// Certificates and authorities are replaced while a client is connected. Its next
// connection uses the new ones, not the old ones, and there is none while the files are
// incomplete.
func TestTLSFilesAreReadForEachConnection(t *testing.T) {
	t.Parallel()
	server := shortLived(t)
	first, second := newPKI(t, "first"), newPKI(t, "second")
	var (
		present    atomic.Pointer[tls.Config]
		handshakes atomic.Int32
	)
	present.Store(first.server)
	addr := tlstest.NewFront(t, server.Addr(), &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		handshakes.Add(1)
		return present.Load(), nil
	}})
	f := filesIn(t.TempDir()).write(t, first)
	cfg, err := parsed(t, "--session-timeout 1m --servers "+addr+" --tls-ca "+f.ca+" --tls-cert "+f.cert+" --tls-key "+f.key)
	require.NoError(t, err)
	read, failed := cfg.GetTLS, make(chan error, 1000)
	cfg.GetTLS = func(ctx context.Context) (*tls.Config, error) {
		got, err := read(ctx)
		if err != nil {
			failed <- err
		}
		return got, err
	}
	client, err := connect(t.Context(), cfg, eventTimeout)
	require.NoError(t, err)
	defer client.Close()
	session := client.Session().ID()
	reached := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), eventTimeout)
		defer cancel()
		_, _, err := client.Exists(ctx, "/")
		require.NoError(t, err)
		require.Equal(t, session, client.Session().ID())
	}
	reached()

	// The servers switch to the second ones; the client's files stay as they are.
	present.Store(second.server)
	reached()
	server.DropConnections("")
	until(t, "the old ones have failed", func() bool { return handshakes.Load() >= 3 })
	require.False(t, server.Sessions()[0].Connected)

	// The files change one after the other, one of them in two steps.
	// That one is put there at once: an empty file would be another mistake.
	require.NoError(t, os.Rename(write(t, f.ca+".half", second.ca[:len(second.ca)/2], 0o600), f.ca))
	failure := func() error {
		t.Helper()
		select {
		case err := <-failed:
			return err
		case <-time.After(eventTimeout):
			require.Fail(t, "the files are not read")
		}
		return nil
	}
	require.ErrorContains(t, failure(), f.ca+": damaged or incomplete")
	write(t, f.ca, second.ca, 0o600)
	write(t, f.cert, second.cert, 0o600)
	const mismatch = ": tls: private key does not match public key"
	for failure().Error() != "--tls-cert: "+f.cert+" and --tls-key: "+f.key+mismatch { // until the half file is whole
	}
	f.write(t, second)
	reached()
}

// The same for the command: it holds its lock through a change of all certificates.
func TestRunHoldsItsLockThroughARotation(t *testing.T) {
	t.Parallel()
	server := shortLived(t)
	first, second := newPKI(t, "first"), newPKI(t, "second")
	var present atomic.Pointer[tls.Config]
	present.Store(first.server)
	addr := tlstest.NewFront(t, server.Addr(), &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return present.Load(), nil
	}})
	f := filesIn(t.TempDir()).write(t, first)
	holder := hold(t, server, append(f.flags(), "--servers", addr, "--session-timeout", time.Minute.String())...)
	present.Store(second.server)
	f.write(t, second)
	server.DropConnections("")
	holder.event("suspended")
	holder.event("connected")
	holder.signal(syscall.SIGTERM)
	require.Equal(t, 3, holder.end())
	require.Empty(t, server.Children(testLock))
}
