//go:build unix

package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Said once, although the reason says it as well.
func TestTextOfALostSession(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server)
	p := start(t, server, slices.Concat([]string{"run", "--lock", testLock}, command("exit", "0"))...)
	inLine(t, server, 2)
	require.True(t, server.ExpireSession(server.Sessions()[1].ID), "the younger one waits")
	said := p.said(4)
	for i, want := range []string{
		`waiting for ` + testLock + `: 1 ahead, held by .`,
		`\d\d:\d\d:\d\d\.\d{3} connection lost: .`,
		`\d\d:\d\d:\d\d\.\d{3} session lost: expired by the server$`,
		`\d\d:\d\d:\d\d\.\d{3} connected again$`,
	} {
		require.Regexp(t, `^zkrecipes: `+want, said[i])
	}
}

func TestTextOfALostConnection(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, slices.Concat([]string{"run", "--lock", testLock}, command("polite"))...)
	require.Equal(t, "ready", p.line())
	server.DropConnections("")
	said := p.said(2)
	require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} connection lost: .`, said[0])
	require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} connected again$`, said[1])
}

func TestBecause(t *testing.T) {
	for why, want := range map[string]string{
		"session lost":                 "session lost",
		"session lost: expired":        "session lost: expired",
		"session lost its way":         "session lost: session lost its way",
		"no reason known":              "session lost: no reason known",
		"x: session lost: replaced":    "session lost: x: session lost: replaced",
		"session lostness: as it were": "session lost: session lostness: as it were",
	} {
		require.Equal(t, want, because("session lost", why))
	}
}
