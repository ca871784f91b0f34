//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Of two values one would be used, and nobody would say which.
func TestFlagGivenTwice(t *testing.T) {
	env := []string{envServers + "=127.0.0.1:1"}
	for _, test := range []struct{ args, flag string }{
		{"run --lock /a --lock /b -- true", "--lock"},
		{"run --lock /a --lock /a -- true", "--lock"},
		{"run -lock /a --lock=/b -- true", "--lock"},
		{"run --lock /a --shared --shared -- true", "--shared"},
		{"run --lock /a --try --try=false -- true", "--try"},
		{"run --lock /a --timeout 1s --timeout 2s -- true", "--timeout"},
		{"run --lock /a --permits 1 --json --permits 2 -- true", "--permits"},
		{"run --lock /a --servers a --servers b -- true", "--servers"},
		{"elect --path /a --path /b -- true", "--path"},
		{"elect --path /a --id a --id b -- true", "--id"},
		{"ls /a --json --json", "--json"},
		{"ls --json /a --json", "--json"},
		{"ls --servers a /a --servers b", "--servers"},
		{"revoke --node a /a --node b", "--node"},
		{"revoke /a --all --all", "--all"},
		{"testserver --port 1 --port 2", "--port"},
		{"testserver --host a --host a", "--host"},
	} {
		code, stdout, stderr := invoke(t, env, strings.Fields(test.args)...)
		require.Equal(t, exitUsage, code, test.args)
		require.Contains(t, stderr, test.flag+" is given twice", test.args)
		require.Empty(t, stdout)
	}
}

// What belongs to the command is its own affair.
func TestFlagOfTheCommandGivenTwice(t *testing.T) {
	code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"},
		"run", "--lock", "/a", "--", "no-such-command-anywhere", "--lock", "/a", "--lock", "/b")
	require.Equal(t, exitNotFound, code, stderr)
}
