//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// cyclesOf returns what "ls --cycles --json" prints.
func cyclesOf(t *testing.T, server *zktest.Server, args ...string) cycleListing {
	t.Helper()
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, append([]string{"ls", "--cycles", "--json"}, args...)...)
	require.Equal(t, 0, code, stderr)
	var l cycleListing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	return l
}

// Two commands, each below a zkrecipes that holds what the other one waits for.
func TestCycleOfNestedRuns(t *testing.T) {
	server := zktest.NewServer(t)
	const other = "/locks/other"
	begin := func(outer, inner string) *started {
		below := command("zkrecipes", nested("run --label "+inner[1:]+" --lock "+inner)...)
		p := start(t, server, flagsFor(below, "--label", "outer", "--lock", outer)...)
		require.Equal(t, "ready", p.line())
		return p
	}
	first, second := begin(testLock, other), begin(other, testLock)
	for _, p := range []*started{first, second} {
		_, err := p.stdin.Write([]byte("!"))
		require.NoError(t, err)
	}
	until(t, "both wait", func() bool { return len(server.Children(testLock)) == 2 && len(server.Children(other)) == 2 })

	l := cyclesOf(t, server)
	require.Equal(t, "/", l.Below)
	require.Equal(t, 2, l.Locks)
	require.Len(t, l.Cycles, 1)
	require.True(t, l.Cycles[0].Certain, "the outer ones wait for the end of the inner ones")
	links := l.Cycles[0].Links
	require.Len(t, links, 2)
	for i, each := range links {
		require.Equal(t, "outer", each.Held.Who)
		require.Equal(t, each.WaitsFor[1:], each.Waiting.Who)
		require.Equal(t, each.WaitsFor, *links[1-i].Holds)
		require.NotEqual(t, each.Held.Session, each.Waiting.Session)
	}
	first.signal(syscall.SIGTERM)
	first.end()
	second.end()
	require.Empty(t, cyclesOf(t, server).Cycles)
}

// foreign makes the node of another client in the queue of a lock.
func foreign(t *testing.T, c *framework.Client, path, data string) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path+"/x"))
	_, err := c.Create(t.Context(), path+"/x-lock-", []byte(data), framework.EphemeralSequential)
	require.NoError(t, err)
}

// Text of other clients is quoted, and Java clients say nothing.
func TestListingOfCycles(t *testing.T) {
	server := zktest.NewServer(t)
	a, b := connectClient(t, server), connectClient(t, server)
	foreign(t, a, "/app/one two", "")
	foreign(t, b, "/app/x", `{"who":"a\u001b[2Jb","host":"h","pid":7}`)
	foreign(t, a, "/app/x", "")
	env := []string{envServers + "=" + server.Addr() + "/app"}
	for args, want := range map[string]string{"": "/: 2", "/": "/: 2", "/x": "/x: 1"} {
		code, stdout, stderr := invoke(t, env, append([]string{"ls", "--cycles"}, strings.Fields(args)...)...)
		require.Equal(t, 0, code, stderr)
		require.Equal(t, "no cycles; locks in use below "+want+"\n", stdout)
	}
	foreign(t, b, "/app/one two", `{"who":"a\u001b[2Jb","host":"h","pid":7}`)
	code, stdout, stderr := invoke(t, env, "ls", "/", "--cycles")
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 4)
	require.Regexp(t, `^possible deadlock since 20.*Z \(\d+s\): 2 wait for each other, if the same process `, lines[0])
	require.Equal(t, `  a\x1b[2Jb (h, pid 7) holds /x and waits for /one\x20two`, lines[1])
	require.Equal(t, "  session "+hexSession(a.Session().ID())+` holds /one\x20two and waits for /x`, lines[2])
	require.Contains(t, lines[3], `"zkrecipes revoke PATH"`)

	l := cyclesOf(t, server, "/app")
	require.False(t, l.Cycles[0].Certain)
	require.Equal(t, "/app/x", *l.Cycles[0].Links[0].Holds)
	require.Equal(t, "/app/one two", l.Cycles[0].Links[0].WaitsFor)
	require.Equal(t, `a`+"\x1b"+`[2Jb`, l.Cycles[0].Links[0].Waiting.Who)
	require.Empty(t, l.Unreadable)
}

func TestJSONWithoutCycles(t *testing.T) {
	server := zktest.NewServer(t)
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr() + "/no/such"}, "ls", "--cycles", "--json")
	require.Equal(t, 0, code, stderr)
	require.JSONEq(t, `{"below": "/", "locks": 0, "cycles": [], "unreadable": []}`, stdout)
	_, made := server.Node("/no")
	require.False(t, made)
}

func TestUnreadablePathsAreNamed(t *testing.T) {
	server := zktest.NewServer(t)
	secret, ok := parseCredential("digest:me:secret")
	require.True(t, ok)
	c := connectClient(t, server, secret)
	require.NoError(t, c.CreateParents(t.Context(), "/app/a/x"))
	_, err := c.Create(t.Context(), "/app/a/closed", nil, framework.Persistent, framework.WithACL(framework.CreatorACL(framework.PermAll)))
	require.NoError(t, err)
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr() + "/app"}, "ls", "--cycles", "/a")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "no cycles; locks in use below /a: 0\nnot permitted to read, and left out (1): /a/closed\n", stdout)
	require.Equal(t, []string{"/app/a/closed"}, cyclesOf(t, server, "/").Unreadable)
}

// What waits ahead and holds nothing, and who waits for itself.
func TestTextOfCycles(t *testing.T) {
	c := inspect.Contender{State: inspect.Waiting, Contender: lease.Contender{Session: 31, Enqueued: time.Now()}}
	held := c
	held.State = inspect.Held
	one := inspect.Cycle{Certain: true, Since: time.Now(), Links: []inspect.Link{{Holds: "/c/a", Held: held, WaitsFor: "/c/a", Waiting: c}}}
	three := inspect.Cycle{Certain: true, Since: time.Now(), Links: []inspect.Link{
		{Holds: "/c/a", Held: held, WaitsFor: "/c/b", Waiting: c}, {Holds: "/c/b", Held: c, WaitsFor: "/c/b", Waiting: c},
		{Holds: "/c/b", Held: held, WaitsFor: "/c/a", Waiting: c},
	}}
	l := newCycleListing("/", "/c", &inspect.CycleSurvey{Cycles: []inspect.Cycle{one, three}})
	lines := strings.Split(l.text(), "\n")
	require.Contains(t, lines[0], "(0s): one waits for itself")
	require.Equal(t, "  session 0x1f holds /a and waits for /a", lines[1])
	require.Contains(t, lines[2], "(0s): 3 wait for each other")
	require.Equal(t, "  session 0x1f waits for /b as well, ahead of the one before", lines[4])
	require.Nil(t, l.Cycles[1].Links[1].Holds)
	require.Nil(t, l.Cycles[1].Links[1].Held)
}
