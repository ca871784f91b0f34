//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestListing(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	holder := hold(t, server, "--label", "the holder")
	waiter := start(t, server, flagsFor(command("exit", "0"), "--lock", testLock)...)
	until(t, "it is in the queue", func() bool { return len(server.Children(testLock)) == 2 })

	code, stdout, stderr := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, []string{"POS", "STATE", "KIND", "WHO", "HOST", "PID", "AGE", "TOKEN"}, strings.Fields(lines[0]))
	acquired := holder.event("acquired")
	require.Regexp(t, fmt.Sprintf(`^1 +held +mutex +the.x20holder .* %d +\d+s +%d$`, holder.cmd.Process.Pid, acquired.Token), lines[1])
	require.Regexp(t, `^2 +waiting +mutex `, lines[2])

	code, stdout, _ = invoke(t, env, "ls", testLock, "--output", "wide")
	require.Equal(t, 0, code)
	lines = strings.Split(strings.TrimSpace(stdout), "\n")
	require.Equal(t, []string{"POS", "KIND", "STATE", "TOKEN", "SESSION", "WHO", "HOST", "PID", "SINCE", "AGE"}, strings.Fields(lines[0]))
	require.Regexp(t, fmt.Sprintf(`^1 +mutex +held +%d +%s +the.x20holder .* %d +20.*Z +\d`, acquired.Token, acquired.Session, holder.cmd.Process.Pid), lines[1])
	require.Regexp(t, `^2 +mutex +waiting `, lines[2])

	code, stdout, _ = invoke(t, nil, "ls", testLock, "--json", "--servers", server.Addr())
	require.Equal(t, 0, code)
	var l listing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Equal(t, testLock, l.Lock)
	require.True(t, l.Exists)
	require.Len(t, l.Queue, 2)
	require.Equal(t, acquired.Token, l.Queue[0].Token)
	require.Equal(t, inspect.Held, l.Queue[0].State)
	require.Equal(t, "the holder", l.Queue[0].Who)
	require.Equal(t, inspect.Waiting, l.Queue[1].State)
	require.Equal(t, waiter.cmd.Process.Pid, l.Queue[1].PID)

	holder.signal(syscall.SIGTERM)
	require.Equal(t, 0, waiter.end())
	code, stdout, _ = invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Equal(t, testLock+" is free: no client holds it or waits for it\n", stdout)
	code, stdout, _ = invoke(t, env, "ls", "--json", testLock)
	require.Equal(t, 0, code)
	require.JSONEq(t, `{"lock": "`+testLock+`", "exists": true, "queue": [], "left_out": 0, "semaphore": null, "stripes": null, "job": null, "lock_delays": [], "others": []}`, stdout)
}

// ls must not change anything, not even create the chroot.
func TestListingOfAPathThatDoesNotExist(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr() + "/no/such/chroot"}
	code, stdout, stderr := invoke(t, env, "ls", "/l")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "/l is free: there is no such node")
	code, stdout, _ = invoke(t, env, "ls", "/l", "--json")
	require.Equal(t, 0, code)
	require.JSONEq(t, `{"lock": "/l", "exists": false, "queue": [], "left_out": 0, "semaphore": null, "stripes": null, "job": null, "lock_delays": [], "others": []}`, stdout)
	_, ok := server.Node("/no")
	require.False(t, ok)
}

// Java clients say nothing about themselves, and text of other clients is escaped.
func TestListingOfJavaClientsAndOtherChildren(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/x"))
	for i, data := range []string{"10.0.0.1", `{"who":"a\u001b[2Jb","host":"h"}`} {
		_, err := client.Create(t.Context(), fmt.Sprintf("%s/lock-%010d", testLock, i), []byte(data), framework.Ephemeral)
		require.NoError(t, err)
	}
	_, err := client.Create(t.Context(), testLock+"/something-else", nil, framework.Ephemeral)
	require.NoError(t, err)
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 4)
	require.Equal(t, testLock+" has children that belong to no lock, semaphore or election (1): something-else", lines[3])
	require.Regexp(t, `^1 +held +mutex +- +- +- +\d+s +\d+$`, lines[1])
	require.Regexp(t, `^2 +waiting +mutex +a\\x1b\[2Jb +h +- +\d+s +\d+$`, lines[2])
}

func TestFirstFew(t *testing.T) {
	require.Equal(t, `a, b\x1bc, d,\x20e`, firstFew([]string{"a", "b\x1bc", "d, e"}))
	require.Equal(t, "1, 2, 3, 4, 5 and 2 more", firstFew([]string{"1", "2", "3", "4", "5", "6", "7"}))
}

func TestDescriptionOfAClientWithoutData(t *testing.T) {
	c := inspect.Contender{State: inspect.Waiting, Contender: lease.Contender{Kind: lease.KindMutex, Node: "lock-0000000001", Session: 31}}
	require.Equal(t, "lock-0000000001 (mutex, waiting): session 0x1f", describe(inspect.Queue{Recipe: inspect.Lock}, c))
}

// listed returns what "ls --json" prints.
func listed(t *testing.T, server *zktest.Server, path string) listing {
	t.Helper()
	code, stdout, stderr := invoke(t, nil, "ls", "--json", path, "--servers", server.Addr())
	require.Equal(t, 0, code, stderr)
	var l listing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	return l
}

// states returns the positions, kinds and states of a listing.
func states(l listing) []string {
	var all []string
	for _, c := range l.Queue {
		all = append(all, fmt.Sprint(c.Position, " ", c.Kind, " ", c.State))
	}
	return all
}

// A path with more children than one answer may have is not reported as unreachable.
func TestListingThatIsTooLarge(t *testing.T) {
	server := zktest.NewServer(t)
	client, err := framework.Connect(t.Context(), framework.Config{Servers: []string{server.Addr()}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/x"))
	for range 17 {
		_, err := client.Create(t.Context(), testLock+"/"+strings.Repeat("x", 1_030_000), nil, framework.PersistentSequential)
		require.NoError(t, err)
	}
	code, stdout, stderr := invoke(t, nil, "ls", testLock, "--servers", server.Addr())
	require.Equal(t, exitUnavailable, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "answer too large: 17510")
	require.Contains(t, stderr, "the limit is 16777216")
	require.Less(t, len(stderr), 1000)
}
