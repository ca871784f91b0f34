//go:build unix

package main

import (
	"encoding/pem"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/tlstest"
)

// write writes a file with these permissions, whatever the umask, and returns its name.
func write(t *testing.T, name string, text []byte, mode os.FileMode) string {
	t.Helper()
	require.NoError(t, os.WriteFile(name, text, 0o600))
	require.NoError(t, os.Chmod(name, mode))
	return name
}

// parsed returns the Config of flags, separated by blanks, and the environment.
func parsed(t *testing.T, flags string, env ...string) (framework.Config, error) {
	t.Helper()
	var c connection
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	c.register(fs)
	p := &program{env: append(env, envServers+"=127.0.0.1:1")}
	require.NoError(t, p.parse(fs, strings.Fields(flags)), flags)
	cfg, _, err := c.config(p.auth)
	return cfg, err
}

var (
	envTLS           = variableOf("tls")
	envTLSCA         = variableOf("tls-ca")
	envTLSCert       = variableOf("tls-cert")
	envTLSKey        = variableOf("tls-key")
	envTLSServerName = variableOf("tls-server-name")
)

func TestTLSIsUsedIfAskedFor(t *testing.T) {
	ca := write(t, filepath.Join(t.TempDir(), "ca.pem"), tlstest.NewAuthority(t, "test").PEM(), 0o644)
	for _, test := range []struct {
		flags string
		env   []string
		want  bool
	}{
		{"", nil, false},
		{"--tls", nil, true},
		{"--tls=false", nil, false},
		{"--tls-ca " + ca, nil, true},
		{"--tls-server-name zk", nil, true},
		{"--tls --tls-ca " + ca, nil, true},
		{"", []string{envTLS + "=true"}, true},
		{"", []string{envTLS + "=1"}, true},
		{"", []string{envTLS + "=false"}, false},
		{"", []string{envTLS + "="}, false},
		{"", []string{envTLSCA + "=" + ca}, true},
		{"", []string{envTLSServerName + "=zk"}, true},
		{"", []string{envTLSCA + "="}, false},
		{"", []string{envTLS + "=false", envTLSCA + "=/no/such/file"}, false},
		{"--tls=false", []string{envTLS + "=true", envTLSCA + "=/no/such/file"}, false},
		{"--tls", []string{envTLS + "=false"}, true},
		{"--tls-ca " + ca, []string{envTLS + "=false", envTLSCA + "=/no/such/file"}, true},
	} {
		cfg, err := parsed(t, test.flags, test.env...)
		require.NoError(t, err, "%s %v", test.flags, test.env)
		require.Equal(t, test.want, cfg.GetTLS != nil, "%s %v", test.flags, test.env)
		require.Nil(t, cfg.TLS)
	}
	cfg, err := parsed(t, "--tls-server-name flag.test", envTLSServerName+"=env.test", envTLSCA+"="+ca)
	require.NoError(t, err)
	got, err := cfg.GetTLS(t.Context())
	require.NoError(t, err)
	require.Equal(t, "flag.test", got.ServerName)
	require.EqualValues(t, 0x0303, got.MinVersion, "TLS 1.2")
	require.False(t, got.InsecureSkipVerify)
	require.NotNil(t, got.RootCAs)
}

// Mistakes are reported at the start, with the file's name, and nothing of its content.
func TestTLSUsageErrors(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	authority := tlstest.NewAuthority(t, "test")
	ours, other := authority.Issue("ours"), authority.Issue("other")
	write(t, in("ca"), authority.PEM(), 0o644)
	write(t, in("cert"), ours.Cert, 0o644)
	write(t, in("key"), ours.Key, 0o600)
	write(t, in("otherkey"), other.Key, 0o600)
	write(t, in("seen"), ours.Key, 0o604)
	write(t, in("changed"), ours.Key, 0o620)
	write(t, in("text"), []byte("hunter2"), 0o600)
	write(t, in("halfca"), append(authority.PEM(), authority.PEM()[:200]...), 0o600)
	write(t, in("halfkey"), ours.Key[:len(ours.Key)/2], 0o600)
	write(t, in("badca"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("hunter2")}), 0o600)
	write(t, in("locked"), pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("hunter2")}), 0o600)
	write(t, in("large"), make([]byte, maxFile+1), 0o600)
	require.NoError(t, syscall.Mkfifo(in("pipe"), 0o600))
	for _, test := range []struct {
		flags string // names of files in dir begin with an @
		env   []string
		says  []string
	}{
		{"--tls=false --tls-ca @ca", nil, []string{"--tls=false and --tls-ca contradict"}},
		{"", []string{envTLS + "=maybe"}, []string{envTLS, "maybe"}},
		{"--tls-ca=", nil, []string{"--tls-ca is empty"}},
		{"--tls-cert @cert", nil, []string{"--tls-cert without --tls-key"}},
		{"--tls-key @key", nil, []string{"--tls-key without --tls-cert"}},
		{"", []string{envTLSCert + "=" + in("cert")}, []string{"--tls-cert without --tls-key"}},
		{"--tls-server-name zk:2281", nil, []string{"--tls-server-name", "zk:2281"}},

		{"--tls-ca @none", nil, []string{"--tls-ca: @none: no such file"}},
		{"", []string{envTLSCA + "=" + in("none")}, []string{"--tls-ca: @none: no such file"}},
		{"--tls-ca @text", nil, []string{"--tls-ca: @text: not in PEM"}},
		{"--tls-ca @halfca", nil, []string{"--tls-ca: @halfca: damaged"}},
		{"--tls-ca @badca", nil, []string{"--tls-ca: @badca: x509: "}},
		{"--tls-ca @key", nil, []string{"--tls-ca: @key: it contains no certificate"}},
		{"--tls-ca @large", nil, []string{"--tls-ca: @large: too large"}},
		{"--tls-ca " + dir, nil, []string{"not a regular file"}},
		{"--tls-ca @pipe", nil, []string{"--tls-ca: @pipe: not a regular file"}},

		{"--tls-cert @none --tls-key @key", nil, []string{"--tls-cert: @none: no such file"}},
		{"--tls-cert @cert --tls-key @none", nil, []string{"--tls-key: @none: no such file"}},
		{"--tls-cert @cert --tls-key @halfkey", nil, []string{"--tls-key: @halfkey: damaged"}},
		{"--tls-cert @cert --tls-key @locked", nil, []string{"--tls-key: @locked: the key is encrypted"}},
		{"--tls-cert @cert --tls-key @otherkey", nil, []string{"@cert", "@otherkey", "does not match"}},
		{"--tls-cert @key --tls-key @key", nil, []string{"--tls-cert: @key"}},
		{"--tls-cert @cert --tls-key @cert", nil, []string{"--tls-key: @cert"}},
		{"--tls-cert @cert --tls-key @seen", nil, []string{"--tls-key: @seen: it contains a secret and is open to other users (mode 0604)"}},
		{"--tls-cert @cert --tls-key @changed", nil, []string{"--tls-key: @changed: it contains a secret and is open to other users (mode 0620)"}},
	} {
		full := func(text string) string { return strings.ReplaceAll(text, "@", dir+"/") }
		args := append([]string{"ls", "/l"}, strings.Fields(full(test.flags))...)
		code, stdout, stderr := invoke(t, append(test.env, envServers+"=127.0.0.1:1"), args...)
		require.Equal(t, exitUsage, code, "%s: %s", test.flags, stderr)
		require.Empty(t, stdout)
		for _, says := range test.says {
			require.Contains(t, stderr, full(says), "%s %v", test.flags, test.env)
		}
		require.NotContains(t, stderr, "hunter2")
		require.NotContains(t, stderr, string(ours.Key[40:80]))
	}
	_, err := parsed(t, "--tls-cert "+in("cert")+" --tls-key "+in("key"))
	require.NoError(t, err)
}

// A refused certificate has an exit code of its own.
func TestRefusedCertificateHasItsExitCode(t *testing.T) {
	failed := func(all ...error) error {
		e := &framework.ConnectError{}
		for _, err := range all {
			e.Attempts = append(e.Attempts, framework.ConnectAttempt{Addr: "zk:2281", Err: err})
		}
		return e
	}
	require.Equal(t, exitNoPerm, exitCode(failed(errFake, framework.ErrCertificateRefused), exitConflict))
	require.Equal(t, exitUnavailable, exitCode(failed(errFake), exitConflict))
}
