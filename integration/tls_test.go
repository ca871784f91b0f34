package integration

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// tlsName is the name in the servers' certificates: their addresses are not known
// before they start.
const tlsName = "zk.test"

// put writes a file for servers, also in containers, or for the command. It writes the
// file as a whole or not at all.
func put(t *testing.T, dir, name string, text []byte, mode os.FileMode) {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file+".new", text, mode))
	require.NoError(t, os.Rename(file+".new", file))
}

// certify writes the files of servers that trust an authority and have its certificate.
func certify(t *testing.T, dir string, authority *tlstest.Authority) {
	t.Helper()
	server := authority.Issue("server", tlsName)
	put(t, dir, ensemble.ServerFile, slices.Concat(server.Key, server.Cert), 0o644) //nolint:gosec // a throw-away key
	put(t, dir, ensemble.ClientsFile, authority.PEM(), 0o644)
}

// equip writes a client's files, with a certificate for a name, and returns the flags
// for them.
func equip(t *testing.T, dir string, authority *tlstest.Authority, name string) []string {
	t.Helper()
	client := authority.Issue(name)
	put(t, dir, "ca.pem", authority.PEM(), 0o600)
	put(t, dir, "cert.pem", client.Cert, 0o600)
	put(t, dir, "key.pem", client.Key, 0o600)
	return []string{
		"--tls-server-name", tlsName, "--tls-ca", filepath.Join(dir, "ca.pem"),
		"--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"),
	}
}

// secured starts a server that takes TLS from clients with a certificate of an
// authority.
func secured(t *testing.T, authority *tlstest.Authority) (server ensemble.Node, dir string) {
	t.Helper()
	dir = t.TempDir()
	certify(t, dir, authority)
	// Sessions may last for a minute: half of that is for a restart on a busy machine.
	servers := ensemble.New(t, ensemble.Options{NoSync: true, TickTime: 3 * time.Second, TLSFolder: dir})
	return servers.Node(0), dir
}

// logged waits until the server has written text.
func logged(t *testing.T, server ensemble.Node, text string) {
	t.Helper()
	ctx := within(t, limit)
	for {
		lines, err := server.Logged(text)
		require.NoError(t, err)
		if len(lines) > 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the server does not say %q", text)
		case <-time.After(20 * time.Millisecond): // there is no event for a line in a log
		}
	}
}

// The command keeps its lock while it and the servers change from the certificates of
// one authority to those of another. The connection after the restart uses the new
// ones: the old ones are not accepted any more.
func TestCertificatesAreRotatedUnderALock(t *testing.T) {
	first, second := tlstest.NewAuthority(t, "first"), tlstest.NewAuthority(t, "second")
	server, dir := secured(t, first)
	ours := t.TempDir()
	flags := equip(t, ours, first, "before")
	const path = "/locks/rotated"
	holder := startCommand(t, server.SecureAddr(),
		slices.Concat([]string{"run", "--lock", path, "--session-timeout", "60s"}, flags, []string{"--", "sh", "-c", child})...)
	holder.line(t)
	logged(t, server, "CN=before")

	require.NoError(t, server.Kill())
	certify(t, dir, second)
	require.NoError(t, server.Start(within(t, limit)))
	logged(t, server, "Received fatal alert: bad_certificate") // from the client, which trusts the first authority only
	equip(t, ours, second, "after")
	logged(t, server, "CN=after")

	ls := startCommand(t, server.SecureAddr(), slices.Concat([]string{"ls", path}, flags)...)
	ls.lines.Split(bufio.ScanBytes)
	out := ""
	for ls.lines.Scan() {
		out += ls.lines.Text()
	}
	require.Equal(t, 0, ls.exit(t), "%s", &ls.stderr)
	assert.Contains(t, out, "held")
	require.NoError(t, holder.stdin.Close())
	assert.Equal(t, 0, holder.exit(t), "%s", &holder.stderr)
	assert.Contains(t, holder.stderr.String(), "connected again")
	requireEmpty(t, server.Addr(), path, soon)
}

// The command explains what is wrong with a port that wants TLS, or does not.
func TestTLSMistakesAreExplained(t *testing.T) {
	ours, theirs := tlstest.NewAuthority(t, "ours"), tlstest.NewAuthority(t, "theirs")
	server, _ := secured(t, ours)
	good, foreign := equip(t, t.TempDir(), ours, "client"), equip(t, t.TempDir(), theirs, "foreign")
	trust := good[:4] // the name and the authority
	plain, secure := server.Addr(), server.SecureAddr()
	tests := map[string]struct {
		server string
		flags  []string
		code   int
		says   string
	}{
		"nothing":                            {secure, good, 0, ""},
		"plain, to a port for TLS":           {secure, nil, 69, "or want TLS: EOF (see --tls)"},
		"TLS, to a plain port":               {plain, good, 69, "a port without TLS: EOF (see --tls)"},
		"no certificate":                     {secure, trust, 77, "it wants one, and got none: remote error: tls: "},
		"a certificate of another authority": {secure, append(slices.Clone(trust), foreign[4:]...), 77, "refuses the client's certificate: remote error: tls: "},
		"another authority":                  {secure, foreign, 69, "signed by unknown authority"},
		"another name":                       {secure, append([]string{"--tls-server-name", "other.test"}, good[2:]...), 69, "valid for " + tlsName + ", not other.test"},
	}
	running := map[string]*running{} // at the same time: each takes the whole of --timeout
	for name, test := range tests {
		running[name] = startCommand(t, test.server, slices.Concat(
			[]string{"run", "--lock", "/locks/test", "--timeout", "10s"}, test.flags, []string{"--", "true"})...)
	}
	for name, test := range tests {
		code, stderr := running[name].exit(t), &running[name].stderr
		assert.Equal(t, test.code, code, "%s: %s", name, stderr)
		assert.Contains(t, stderr.String(), test.says, name)
	}
}
