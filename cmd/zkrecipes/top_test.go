//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// locksOf returns the paths of a listing.
func locksOf(locks []lockInUse) (paths []string) {
	for _, l := range locks {
		paths = append(paths, l.Lock)
	}
	return paths
}

func TestTop(t *testing.T) {
	server := zktest.NewServer(t)
	c := connectClient(t, server)
	for lock, n := range map[string]int{"/app/free": 1, "/app/x": 2, "/app/y": 4} {
		for range n {
			javaNode(t, c, lock+"/lock-")
		}
	}
	text := printed(t, server, "top")
	require.Contains(t, text, "locks in use below /: 3, contended: 2, clients that wait: 4\nPATH ")
	lines := strings.Split(text, "\n")
	require.Regexp(t, `^PATH +KIND +HOLD +WAIT +WAITED +AGE +WHO$`, lines[1])
	require.Regexp(t, `^/y +mutex +1 +3 +\d+s +\d+s +0x`, lines[2])
	require.Regexp(t, `^/x +mutex +1 +1 +\d+s +\d+s +0x`, lines[3])
	require.Regexp(t, `^/free +mutex +1 +0 +- +\d+s +0x`, lines[4])

	var l topListing
	require.NoError(t, json.Unmarshal([]byte(printed(t, server, "top", "/", "--limit", "2", "--json")), &l))
	require.Equal(t, []string{"/y", "/x"}, locksOf(l.Locks))
	require.Equal(t, topListing{Below: "/", Sort: "waiting", InUse: 3, Contended: 2, Waiting: 4, Locks: l.Locks, Unreadable: []string{}}, l)
	require.NoError(t, json.Unmarshal([]byte(printed(t, server, "top", "--limit", "0", "-o", "json")), &l))
	require.Len(t, l.Locks, 3)
	require.Equal(t, "locks in use below /none: 0, contended: 0, clients that wait: 0\n", printed(t, server, "top", "/none"))
}

func TestOrderOfTop(t *testing.T) {
	found := func() *recursiveListing {
		return &recursiveListing{Locks: []lockInUse{
			{Lock: "a", Held: 5}, {Lock: "b", Held: 9}, {Lock: "c", Waiting: 2, Waited: 3, Held: 7},
			{Lock: "d", Waiting: 2, Waited: 4, Held: 6}, {Lock: "e", Waiting: 1, Waited: 9, Held: 7}, {Lock: "f"},
		}}
	}
	order := func(by string) string {
		return strings.Join(locksOf(newTopListing(&topFlags{sort: by, limit: option[int]{value: 10}}, found()).Locks), "")
	}
	require.Equal(t, "dcebaf", order(sortWaiting))
	require.Equal(t, "bcedaf", order(sortHeld))
}

func TestMistakesInTop(t *testing.T) {
	for _, args := range []string{"--limit -1", "--limit x", "--sort size", "--sort", "/a /b", "a"} {
		code, _, stderr := invoke(t, nil, append([]string{"top", "--servers", "x:1"}, strings.Fields(args)...)...)
		require.Equal(t, exitUsage, code, "%s: %s", args, stderr)
	}
}
