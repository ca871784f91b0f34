//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// completePaths returns the paths that a shell would offer.
func completePaths(t *testing.T, env []string, args ...string) []string {
	t.Helper()
	code, stdout, stderr := invoke(t, env, append([]string{"completion", "paths"}, args...)...)
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	return strings.Fields(stdout)
}

// serverWith returns a server that has nodes.
func serverWith(t *testing.T, paths ...string) *zktest.Server {
	t.Helper()
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	for _, path := range paths {
		require.NoError(t, client.CreateParents(t.Context(), path))
		_, err := client.Create(t.Context(), path, nil, framework.Persistent)
		require.NoError(t, err)
	}
	return server
}

func TestCompletePaths(t *testing.T) {
	server := serverWith(t, "/locks/cart", "/locks/backup/_c_6fa6b2a1-lock-0000000012", "/locks/backup/x-2147483648", "/locks/backup/lock-delay",
		"/locks/a:b@c,d=e%f_g+h-1.x", "/locks/$(reboot)", "/locks/"+hostileName, "/locks/a b", "/locks/é", "/loch")
	env := []string{envServers + "=" + server.Addr()}
	for begin, want := range map[string][]string{
		"":               {"/loch", "/locks", "/zookeeper"},
		"/":              {"/loch", "/locks", "/zookeeper"},
		"/loc":           {"/loch", "/locks"},
		"/locks":         {"/locks"},
		"/locks/":        {"/locks/a:b@c,d=e%f_g+h-1.x", "/locks/backup", "/locks/cart"},
		"/locks/c":       {"/locks/cart"},
		"/locks/backup/": {"/locks/backup/lock-delay"},
		"/none/":         nil,
		"//":             nil,
		"locks":          nil,
		"locks/":         nil,
		hostile:          nil,
	} {
		require.ElementsMatch(t, want, completePaths(t, env, begin), "%q", begin)
	}
	require.Equal(t, []string{"/backup", "/cart"}, completePaths(t, []string{envServers + "=" + server.Addr() + "/locks"}, "/")[1:], "below a chroot")
}

// The flags of the line that is being written say which servers are meant.
func TestCompletePathsUsesTheFlagsOfTheLine(t *testing.T) {
	here, there := serverWith(t, "/here"), serverWith(t, "/there")
	env := []string{envServers + "=" + here.Addr()}
	for _, line := range []string{
		"--servers " + there.Addr(),
		"--servers=" + there.Addr(),
		"--lock /x --nonsense --try --timeout 10m --servers " + there.Addr() + " --lock",
	} {
		require.Equal(t, []string{"/there"}, completePaths(t, env, append([]string{"/t"}, strings.Fields(line)...)...), line)
	}
	for _, line := range []string{"--json -- --servers " + there.Addr(), "--label --servers"} {
		require.NotContains(t, completePaths(t, env, append([]string{"/"}, strings.Fields(line)...)...), "/there", line)
	}
}

// A shell waits for it, and would show an error in the middle of a line.
func TestCompletePathsIsBoundedAndSilent(t *testing.T) {
	t.Parallel()
	require.Empty(t, completePaths(t, nil, "/"), "no servers are given")
	require.Empty(t, completePaths(t, []string{envServers + "=127.0.0.1:1"}, "/"), "no server is there")
	require.Empty(t, completePaths(t, []string{envServers + "=127.0.0.1:1"}, "/", "--auth-file", "/no/such/file"))
	require.Empty(t, completePaths(t, []string{envServers + "=127.0.0.1:1"}, "/", "--tls=perhaps", "--help"))

	server := serverWith(t, "/locks")
	env := []string{envServers + "=" + server.Addr()}
	listed := server.On(zktest.OpGetChildren2, "/").Always().DropReply()
	require.Empty(t, completePaths(t, env, "/"), "the list is not answered")
	listed.Remove()

	server.Pause()
	defer server.Resume()
	begun := time.Now()
	require.Empty(t, completePaths(t, env, "/", "--timeout", "10m"), "the server does not answer")
	require.Less(t, time.Since(begun), time.Minute)
}

func TestCompletePathsListsNoCrowd(t *testing.T) {
	server := serverWith(t, "/crowd")
	client := connectClient(t, server)
	var ops []framework.Op
	for i := range mostCompleted + 1 {
		ops = append(ops, framework.CreateOp(fmt.Sprintf("/crowd/%d", i), nil, framework.Persistent))
	}
	_, err := client.Multi(t.Context(), ops...)
	require.NoError(t, err)
	require.Empty(t, completePaths(t, []string{envServers + "=" + server.Addr()}, "/crowd/9"))
	require.Zero(t, server.Count(zktest.OpGetChildren)+server.Count(zktest.OpGetChildren2), "a list would have all names")
}
