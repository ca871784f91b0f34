//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestLitter(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr() + "/app"}
	c := connectClient(t, server)
	make := func(path, data string) {
		_, err := c.Create(t.Context(), path, []byte(data), framework.Persistent)
		require.NoError(t, err)
	}
	code, stdout, stderr := invoke(t, env, "litter")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "nothing is left behind below /; nodes that were looked at: 0\n", stdout)

	make("/app", "")
	make("/app/used", "")
	javaNode(t, c, "/app/used/lock-")
	node := "/app/used/" + server.Children("/app/used")[0]
	require.NoError(t, c.Delete(t.Context(), node, framework.AnyVersion))
	code, stdout, stderr = invoke(t, env, "litter", "/")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `^KIND +AGE +USED +PATH\nempty\? +- +- +/used\nempty: nobody uses it; .*\n\?: the servers may still remove it;.*\n$`, stdout)

	make("/app/o ne", "")
	make("/app/o ne/lock-0000000000", "me")
	require.True(t, server.SetSequence("/app/o ne", 2_000_000_000))
	code, stdout, stderr = invoke(t, env, "litter")
	require.Equal(t, exitLitter, code, stderr)
	lines := strings.Split(stdout, "\n")
	require.Regexp(t, `^numbers +- +93% +/o\\x20ne$`, lines[1])
	require.Regexp(t, `^not-ephemeral +\d+s +- +/o\\x20ne/lock-0000000000$`, lines[2])
	require.Regexp(t, `^empty\? +\d+s +- +/used$`, lines[3])
	for _, line := range lines {
		require.LessOrEqual(t, len(line), 80, "%s", line)
	}

	code, stdout, stderr = invoke(t, env, "litter", "--json")
	require.Equal(t, exitLitter, code, stderr)
	var l litterListing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Equal(t, 3, l.Nodes)
	require.Equal(t, litter{Path: "/o ne", Kind: inspect.LitterNumbers, Certain: true, Used: 2_000_000_000, Max: 2147483647}, l.Litter[0])
	require.NotNil(t, l.Litter[1].Since)
	require.False(t, l.Litter[2].Certain)

	code, stdout, _ = invoke(t, env, "litter", "--json", "/none")
	require.Equal(t, 0, code)
	require.JSONEq(t, `{"below": "/none", "nodes": 0, "litter": [], "unreadable": []}`, stdout)
}

func TestLitterThatMayNotBeRead(t *testing.T) {
	server := zktest.NewServer(t)
	secret, ok := parseCredential("digest:me:secret")
	require.True(t, ok)
	c := connectClient(t, server, secret)
	require.NoError(t, c.CreateParents(t.Context(), "/app/x"))
	_, err := c.Create(t.Context(), "/app/closed", nil, framework.Persistent, framework.WithACL(framework.CreatorACL(framework.PermAll)))
	require.NoError(t, err)
	require.Equal(t, "nothing is left behind below /; nodes that were looked at: 1\nnot permitted to read, and left out (1): /closed\n", printed(t, server, "litter"))
}

func TestMistakesInLitter(t *testing.T) {
	for _, args := range []string{"/a /b", "a", "--limit 3"} {
		code, _, stderr := invoke(t, nil, append([]string{"litter", "--servers", "x:1"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, stderr)
	}
	code, _, _ := invoke(t, nil, "litter", "--servers", "127.0.0.1:1", "--timeout", "1s")
	require.Equal(t, exitUnavailable, code)
}

// Each kind comes with what to do about it, within 80 columns.
func TestAdviceOnLitter(t *testing.T) {
	kinds := []inspect.LitterKind{
		inspect.LitterEmpty, inspect.LitterNeverUsed, inspect.LitterNotEphemeral, inspect.LitterBadName,
		inspect.LitterEnded, inspect.LitterRecords, inspect.LitterNumbers,
	}
	for _, kind := range kinds {
		l := litterListing{Litter: []litter{{Path: "/a", Kind: kind, Certain: true, Used: 3}}}
		text := l.text(asTable)
		require.Contains(t, text, "\n"+string(kind)+": ")
		require.NotContains(t, text, "?")
		require.Contains(t, helpLitter, "\n  "+string(kind)+" ")
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, len(line), 81, line)
		}
	}
}
