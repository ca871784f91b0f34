//go:build unix

package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// hostile is a label that would clear a screen, fake lines in many ways, reverse the
// direction of writing and hide in a log.
const hostile = "x\n2026-11-21 19:00:00 INFO paid\r\x1b[2J\x07\x7f\u0085\u009b31m\u2028\u2029\u202e\u2066\u200f\u061c\u200b\u00ad\ufeff\u3000\U000e0041y"

// requireHarmless fails if a text contains anything that a terminal would act on, or
// that would make a reader see other lines.
func requireHarmless(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text), "%q", text)
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
		require.Fail(t, "not harmless", "%q at %d of %q", text[i], i, text)
	}
}

// hostileName is a name that ZooKeeper accepts for a node.
const hostileName = "x \u202e\u2028\u200b\u00a0\ufeff,\u061c y"

// populate creates a lock, an election and other children at testLock, all by a hostile
// client.
func populate(t *testing.T) *zktest.Server {
	t.Helper()
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/x"))
	holder, err := json.Marshal(map[string]any{"who": hostile, "host": hostile + "z", "pid": 7})
	require.NoError(t, err)
	for node, data := range map[string][]byte{
		hostileName + "lock-0000000001":  holder,
		"lock-0000000002":                nil,
		hostileName + "latch-0000000001": []byte(hostile + "\xff\x9b"),
		hostileName:                      nil,
	} {
		_, err := client.Create(t.Context(), testLock+"/"+node, data, framework.Ephemeral)
		require.NoError(t, err)
	}
	return server
}

// requireLines fails if an output is not exactly n harmless lines.
func requireLines(t *testing.T, n int, output string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	require.Len(t, lines, n, output)
	for _, line := range lines {
		requireHarmless(t, line)
	}
}

func TestTextOfOtherClientsIsEscaped(t *testing.T) {
	server := populate(t)
	env := []string{envServers + "=" + server.Addr()}
	code, stdout, stderr := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	requireLines(t, 5, stdout)
	lines := strings.Split(stdout, "\n")
	for _, line := range lines[:4] {
		require.Len(t, strings.Fields(line), 8, line)
	}
	_, wide, _ := invoke(t, env, "ls", testLock, "--output", "wide")
	requireLines(t, 5, wide)
	for _, line := range strings.Split(wide, "\n")[:4] {
		require.Len(t, strings.Fields(line), 10, line)
	}
	require.Contains(t, lines[1], quote.Cell(hostile))
	require.Contains(t, lines[3], quote.Cell(hostile+"\xff\x9b"))
	require.Contains(t, lines[4], "election (1): "+quote.Cell(hostileName))

	code, stdout, _ = invoke(t, env, "ls", testLock, "--json")
	require.Equal(t, 0, code)
	requireHarmless(t, strings.ReplaceAll(stdout, "\n", ""))
	var l listing
	require.NoError(t, json.Unmarshal([]byte(stdout), &l))
	require.Equal(t, []string{hostileName}, l.Others)
	require.Equal(t, hostile, l.Queue[0].Who, "a program gets the text as it was written")
	require.Equal(t, hostile+"z", l.Queue[0].Host)
	require.Equal(t, hostileName+"lock-0000000001", l.Queue[0].Node)

	code, stdout, _ = invoke(t, env, "revoke", testLock, "--all")
	require.Equal(t, 0, code)
	requireLines(t, 3, stdout)
	require.Contains(t, stdout, "revocation requested: "+quote.Cell(hostileName)+"lock-0000000001 (mutex, held): "+quote.Line(hostile))
	code, stdout, _ = invoke(t, env, "revoke", testLock, "--json")
	require.Equal(t, 0, code)
	requireHarmless(t, strings.ReplaceAll(stdout, "\n", ""))
	var requested revocation
	require.NoError(t, json.Unmarshal([]byte(stdout), &requested))
	require.Equal(t, l.Queue[0].Node, requested.Requested[0].Node)
}

// Messages name the holder, while waiting and after a timeout.
func TestHoldersInMessagesAreEscaped(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"run", "elect"} {
		server := populate(t) // no run on a path of an election, nor the reverse
		env := []string{envServers + "=" + server.Addr()}
		for _, format := range []string{"", "--json"} {
			flag := map[string]string{"run": "--lock", "elect": "--path"}[verb]
			args := slices.DeleteFunc([]string{verb, format, flag, testLock}, func(arg string) bool { return arg == "" })
			if verb == "run" {
				code, _, stderr := invoke(t, env, append(append(args, "--try"), command("exit", "0")...)...)
				require.Equal(t, exitConflict, code)
				requireLines(t, 1, stderr)
				code, _, stderr = invoke(t, env, append(append(args, "--timeout", "3s"), command("exit", "0")...)...)
				require.Equal(t, exitConflict, code)
				requireLines(t, 2, stderr)
			}
			p := start(t, server, append(args, command("exit", "0")...)...)
			requireLines(t, 1, p.said(1)[0])
			if format == "" {
				require.Contains(t, p.said(1)[0], "held by "+quote.Line(hostile))
			} else {
				require.True(t, strings.HasPrefix(p.event("waiting").Holder.Who, hostile))
			}
		}
	}
}

// Arguments may come from a file name, or from the web.
func TestArgumentsInMessagesAreEscaped(t *testing.T) {
	env := []string{envServers + "=127.0.0.1:1"}
	run := []string{"run", "--lock", "/l"}
	for _, args := range [][]string{
		{hostile},
		{"help", hostile},
		{"version", hostile},
		{"testserver", hostile},
		{"testserver", "--host", hostile},
		{"ls", hostile},
		{"ls", "/" + hostile},
		{"ls", "/l", hostile},
		{"ls", "/l", "--" + hostile},
		{"ls", "/l", "--servers", hostile},
		{"ls", "/l", "--session-timeout", hostile},
		{"ls", "/l", "--auth-file", hostile},
		{"revoke", "/" + hostile},
		{"run", "--lock", hostile, "--", "true"},
		{"run", "--lock", "/" + hostile, "--", "true"},
		append(run, "--permits", hostile, "--", "true"),
		{"run", "--once", hostile, "--key", "k", "--", "true"},
		{"run", "--once", "/j", "--key", hostile, "--", hostile},
		{"run", "--once", "/j", "--tick", hostile, "--", "true"},
		append(run, "--servers", "127.0.0.1:1/"+hostile, "--", "true"),
		append(run, "--", hostile),
		append(run, "--json", "--", hostile),
		append(run, "--json", "--servers", hostile, "--", os.Args[0]),
		{"elect", "--path", "/e", "--id", "\xff" + hostile, "--", "true"},
	} {
		code, stdout, stderr := invoke(t, env, args...)
		require.NotZero(t, code, "%q", args)
		require.Empty(t, stdout, "%q", args)
		requireLines(t, 1, stderr)
	}
	server := zktest.NewServer(t)
	code, _, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, "revoke", "/l", "--node", hostile)
	require.Equal(t, exitNoContender, code)
	requireLines(t, 1, stderr)
	code, stdout, _ := invoke(t, []string{envServers + "=" + server.Addr()}, "ls", "/"+hostileName)
	require.Equal(t, 0, code)
	requireLines(t, 1, stdout)
}
