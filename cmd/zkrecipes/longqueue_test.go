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
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The clients of a long queue: those that read hold, and writers wait.
const longHolding, longWaiting = 30, 1_000

// longQueue makes such a queue.
func longQueue(t *testing.T) (server *zktest.Server, client *framework.Client) {
	t.Helper()
	server = zktest.NewServer(t)
	client = connectClient(t, server)
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/x"))
	for i := range longHolding + longWaiting {
		kind := "__READ__"
		if i >= longHolding {
			kind = "__WRIT__"
		}
		_, err := client.Create(t.Context(), fmt.Sprintf("%s/%s%010d", testLock, kind, i), nil, framework.Ephemeral)
		require.NoError(t, err)
	}
	return server, client
}

// What is not shown is not read: the requests are as many as for a short queue, but for
// the size of the one listing.
func TestRequestsForALongQueue(t *testing.T) {
	server, _ := longQueue(t)
	for command, reads := range map[string]int{
		"ls --quiet":          0,
		"ls --limit 5":        2 * 5,
		"ls --limit 5 --json": 2 * 5,
		"ls --limit 40":       longHolding + 40,
		"show":                2 * 2 * shownAtOnce, // each a second time, for a request to release
		"ls":                  longHolding + longWaiting,
	} {
		server.ResetCounts()
		verb, flags, _ := strings.Cut(command, " ")
		code, _, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, append([]string{verb, testLock}, strings.Fields(flags)...)...)
		require.Equal(t, 0, code, stderr)
		require.Equal(t, reads, server.Count(zktest.OpGetData), command)
		require.Equal(t, 1, server.Count(zktest.OpGetChildren2), command)
		require.Equal(t, 1, server.Count(zktest.OpSync), command)
	}
}

// So it is for each look of a watch.
func TestRequestsOfAWatch(t *testing.T) {
	t.Parallel()
	server, client := longQueue(t)
	server.ResetCounts()
	p := start(t, server, "ls", testLock, "--watch", "--limit", "3", "--interval", "10ms", "--json")
	for i := range 3 {
		var l watchLine
		require.NoError(t, json.Unmarshal([]byte(p.line()), &l))
		require.Len(t, l.Listing.Queue, 3)
		require.Equal(t, longHolding+longWaiting-i-3, l.Listing.LeftOut)
		require.NoError(t, client.Delete(t.Context(), fmt.Sprintf("%s/__READ__%010d", testLock, i), framework.AnyVersion))
	}
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
	looks := server.Count(zktest.OpGetChildren2)
	require.GreaterOrEqual(t, looks, 3)
	require.LessOrEqual(t, server.Count(zktest.OpSync), looks+1)
	require.LessOrEqual(t, server.Count(zktest.OpGetData), (3+3)*looks+3, "one more for each that has left")
}

// Whatever is left out, what is shown has its place in the queue, and the numbers are
// those of all.
func TestLongQueueIsNumbered(t *testing.T) {
	server, _ := longQueue(t)
	text, s := shown(t, server, testLock)
	require.Contains(t, text, testLock+": held by 30, 1000 waiting\n")
	require.Contains(t, text, "\nand 20 more that hold (--all)\n")
	require.Contains(t, text, "\nand 990 more (--all)\n")
	require.Len(t, s.Holders, shownAtOnce)
	require.Len(t, s.Waiting, shownAtOnce)
	require.Equal(t, []int{longHolding - shownAtOnce, longWaiting - shownAtOnce}, []int{s.HoldersLeftOut, s.WaitingLeftOut})
	require.Equal(t, shownAtOnce, s.Holders[shownAtOnce-1].Position)
	require.Equal(t, longHolding+1, s.Waiting[0].Position)

	env := []string{envServers + "=" + server.Addr()}
	_, all, _ := invoke(t, env, "ls", testLock, "--json")
	var whole, first listing
	require.NoError(t, json.Unmarshal([]byte(all), &whole))
	require.Zero(t, whole.LeftOut)
	for _, n := range []int{1, 29, 30, 31, 100, longHolding + longWaiting, 5_000} {
		_, some, _ := invoke(t, env, "ls", testLock, "--json", "--limit", fmt.Sprint(n))
		require.NoError(t, json.Unmarshal([]byte(some), &first))
		least := min(n, len(whole.Queue))
		require.Equal(t, len(whole.Queue)-least, first.LeftOut)
		for i := range first.Queue {
			first.Queue[i].Age = whole.Queue[i].Age
		}
		require.Equal(t, whole.Queue[:least], first.Queue)
	}
}

// The first ones of several queues, of which each has its own positions.
func TestFirstOfSeveralQueues(t *testing.T) {
	s := &inspect.Survey{Queues: []inspect.Queue{
		{Recipe: inspect.Stripe, Stripe: 1, Contenders: []inspect.Contender{{State: inspect.Held}, {State: inspect.Waiting}}},
		{Recipe: inspect.Stripe, Stripe: 2, Contenders: []inspect.Contender{{State: inspect.Held}, {State: inspect.Waiting}}},
		{Recipe: inspect.Stripe, Stripe: 3, LeftOut: map[inspect.State]int{inspect.Held: 1, inspect.Waiting: 4}},
	}}
	l := newListing(testLock, s)
	l.cut(2)
	require.Len(t, l.Queue, 2)
	require.Equal(t, 2, l.Queue[1].Position)
	require.Equal(t, 7, l.LeftOut)
	require.Equal(t, 2, l.holders)
	l.cut(0)
	require.Equal(t, []int{0, 9, 3}, []int{len(l.Queue), l.LeftOut, l.holders})
	require.Equal(t, stateInUse, l.state())
}
