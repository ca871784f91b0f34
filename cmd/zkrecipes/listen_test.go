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
	"github.com/zkrecipes/zkrecipes/zktest"
)

// heard returns the next line of "elect --listen --json", without its time.
func heard(t *testing.T, p *started) (c leaderChange) {
	t.Helper()
	line := p.line()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &fields))
	require.Len(t, fields, 5, line)
	at, err := time.Parse("2006-01-02T15:04:05.000Z", fields["time"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, eventTimeout)
	require.NoError(t, json.Unmarshal([]byte(line), &c))
	require.Equal(t, testLock, c.Election)
	return c
}

// It prints the leader that is there, and those that follow, and changes nothing.
func TestListenPrintsTheLeaderAndItsSuccessors(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, "elect", "--listen", testLock, "--json")
	text := start(t, server, "elect", "--path", testLock, "--listen")
	require.Equal(t, "no leader", heard(t, p).Event)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z no leader$`, text.line())
	require.Equal(t, []string{"zookeeper"}, server.Children("/"), "nothing is created")

	alpha := candidate(t, server, "polite", "--id", "alpha")
	term := leads(t, alpha)
	led := heard(t, p)
	require.Equal(t, "leader", led.Event)
	require.Equal(t, "alpha", led.Leader.ID)
	require.Equal(t, term.Token, led.Leader.Token)
	require.Equal(t, term.Session, led.Leader.Session)
	require.Regexp(t, `Z leader alpha, token `+term.Token.String()+`$`, text.line())

	beta := candidate(t, server, "polite", "--id", "be\x1b ta")
	awaitQueueLength(t, server, 2)
	alpha.signal(syscall.SIGTERM)
	require.Equal(t, "be\x1b ta", heard(t, p).Leader.ID)
	require.Contains(t, text.line(), `Z leader be\x1b ta, token `)
	beta.event("acquired")
	beta.signal(syscall.SIGTERM)
	require.Equal(t, "no leader", heard(t, p).Event)
	text.line()

	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
	text.signal(syscall.SIGINT)
	require.Equal(t, 0, text.end())
	require.Empty(t, text.said(0))
}

// A break is said, and behind it the leader is printed again, although it is the same.
// So it is after the loss of the session.
func TestListenSaysWhatMayBeStale(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, "elect", "--listen", testLock, "--json")
	require.Equal(t, "no leader", heard(t, p).Event)
	listening := server.Sessions()[0].ID
	alpha := candidate(t, server, "polite", "--id", "alpha")
	leads(t, alpha)
	require.Equal(t, "alpha", heard(t, p).Leader.ID)
	for _, breaks := range []func(){
		func() { server.DropConnections("") },
		func() { server.ExpireSession(listening) },
	} {
		breaks()
		suspended := heard(t, p)
		require.Equal(t, "suspended", suspended.Event)
		require.NotEmpty(t, suspended.Reason)
		require.Equal(t, "connected", heard(t, p).Event)
		require.Equal(t, "alpha", heard(t, p).Leader.ID)
	}
	require.Contains(t, leaderChange{Event: "suspended", Reason: "x"}.String(), "connection broken: x; the leader may change unseen")
	require.Equal(t, "connected again", leaderChange{Event: "connected"}.String())
}

// Below a chroot that does not exist nothing is created, and a path that may not be
// read is an error.
func TestListenIsReadOnly(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, "elect", "--listen", testLock, "--json", "--servers", server.Addr()+"/app")
	require.Equal(t, "no leader", heard(t, p).Event)
	require.Equal(t, []string{"zookeeper"}, server.Children("/"))
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
	client := connectClient(t, server, framework.Credential{Scheme: "digest", Secret: []byte("u:p")})
	_, err := client.Create(t.Context(), "/private", nil, framework.Persistent, framework.WithACL(framework.CreatorACL(framework.PermAll)))
	require.NoError(t, err)
	code, _, stderr := invoke(t, nil, "elect", "--listen", "/private", "--servers", server.Addr())
	require.Equal(t, exitNoPerm, code, stderr)
}

func TestUsageErrorsOfListen(t *testing.T) {
	for args, says := range map[string]string{
		"elect --listen":                     "elect: no election: give PATH, as in: zkrecipes elect --listen",
		"elect --listen e":                   "does not begin with a slash",
		"elect --listen /e /f":               `only one path at a time: what is "/f"?`,
		"elect --listen --path /e -- true":   "--listen takes no part, and runs no command",
		"elect --listen /e":                  "no servers",
		"elect --listen /e --nope":           "there is no flag --nope",
		"elect --listen --json /e --json /f": "--json is given twice",
	} {
		code, _, stderr := invoke(t, nil, strings.Fields(args)...)
		require.Equal(t, exitUsage, code, args)
		require.Contains(t, stderr, says)
	}
	code, _, stderr := invoke(t, []string{envServers + "=127.0.0.1:1"}, "elect", "--listen", "/e", "--timeout", "100ms")
	require.Equal(t, exitUnavailable, code, stderr)
}
