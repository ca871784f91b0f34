//go:build unix

package main

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The one that is named leads next, and those that were ahead of it after that.
func TestRevokeInFavourOfASuccessor(t *testing.T) {
	server := zktest.NewServer(t)
	alpha := candidate(t, server, "polite", "--id", "alpha")
	leads(t, alpha)
	beta := candidate(t, server, "polite", "--id", "beta")
	awaitQueueLength(t, server, 2)
	gamma := candidate(t, server, "polite", "--id", "gamma")
	awaitQueueLength(t, server, 3)

	code, stdout := revoke(t, server, "--successor", "gamma", testLock)
	require.Equal(t, 0, code)
	require.Regexp(t, `^revocation requested: _c_[-0-9a-f]+-latch-0000000000 \(leader, held\): alpha
leads next: _c_[-0-9a-f]+-latch-0000000002 \(leader, waiting\): gamma
$`, stdout)
	alpha.event("revoked")
	require.Equal(t, "got terminated", alpha.line())
	alpha.event("campaigning")
	leads(t, gamma)
	awaitQueueLength(t, server, 3)
	require.Empty(t, beta.lines, "it must not have run")
	require.ElementsMatch(t, []string{"alpha", "beta"}, queued(t, server)[1:])

	code, stdout = revoke(t, server, testLock, "--successor=beta")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(leader, waiting): beta")
	require.Equal(t, "got terminated", gamma.line())
	leads(t, beta)
	beta.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", beta.line())
	require.Equal(t, 3, beta.end())
}

// queued returns the ids of the candidates, in order.
func queued(t *testing.T, server *zktest.Server) (ids []string) {
	t.Helper()
	for _, c := range listed(t, server, testLock).Queue {
		ids = append(ids, c.Who)
	}
	return ids
}

// queueUp makes the first one lead, and the others wait behind it, each in a session of
// its own. A term that any of them gets is released when its revocation is requested.
func queueUp(t *testing.T, server *zktest.Server, ids ...string) {
	t.Helper()
	queueUpAs(t, server, framework.Credential{}, ids...)
}

func queueUpAs(t *testing.T, server *zktest.Server, auth framework.Credential, ids ...string) {
	t.Helper()
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
	for i, id := range ids {
		client := connectClient(t, server, slices.DeleteFunc([]framework.Credential{auth}, func(c framework.Credential) bool { return c.Scheme == "" })...)
		election, err := leader.New(client, testLock, leader.WithID(id))
		require.NoError(t, err)
		all.Go(func() {
			term, err := election.Acquire(ctx, lease.Forever)
			if err != nil {
				return
			}
			defer term.Release()
			select {
			case <-term.RevocationRequested():
			case <-term.Done():
			case <-ctx.Done():
			}
		})
		awaitQueueLength(t, server, i+1)
	}
}

// inJSON runs "revoke --json", and returns the exit code and what it prints.
func inJSON(t *testing.T, server *zktest.Server, args ...string) (code int, done revocation) {
	t.Helper()
	code, stdout := revoke(t, server, append([]string{"--json", testLock}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(stdout), &done))
	require.Equal(t, testLock, done.Lock)
	require.NotNil(t, done.Requested, "an array, also if it is empty")
	return code, done
}

func TestSuccessorInJSON(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha", "beta", "gamma")
	before := listed(t, server, testLock).Queue
	code, done := inJSON(t, server, "--successor", "gamma")
	require.Equal(t, 0, code)
	require.Len(t, done.Requested, 1)
	require.Equal(t, before[0].Node, done.Requested[0].Node)
	require.Equal(t, []string{"1 leader held"}, states(listing{Queue: done.Requested}))
	require.Equal(t, before[2].Node, done.Successor.Node)
	require.Equal(t, "gamma", done.Successor.Who)
	require.Equal(t, []string{"2 leader waiting"}, states(listing{Queue: []queueEntry{*done.Successor}}))

	code, done = inJSON(t, server, "--successor", "nobody")
	require.Equal(t, exitNoContender, code)
	require.Empty(t, done.Requested)
	require.Nil(t, done.Successor)
	awaitQueueLength(t, server, 2) // alpha has resigned
	code, done = inJSON(t, server)
	require.Equal(t, 0, code)
	require.Nil(t, done.Successor, "nobody was named")
}

// Then there is nothing to do.
func TestSuccessorThatLeadsAlready(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha", "beta")
	code, stdout := revoke(t, server, testLock, "--successor", "alpha")
	require.Equal(t, 0, code)
	require.Regexp(t, `^leads already: _c_[-0-9a-f]+-latch-0000000000 \(leader, held\): alpha\n$`, stdout)
	code, done := inJSON(t, server, "--successor", "alpha")
	require.Equal(t, 0, code)
	require.Empty(t, done.Requested)
	require.Equal(t, []string{"1 leader held"}, states(listing{Queue: []queueEntry{*done.Successor}}))
	require.Equal(t, "alpha", done.Successor.Who)
	require.Equal(t, []string{"alpha", "beta"}, queued(t, server))
	require.Zero(t, server.Count(zktest.OpSetData))
}

// expireAtRequest ends the sessions of contenders when the revocation of the leader is
// requested.
func expireAtRequest(t *testing.T, server *zktest.Server, of ...queueEntry) {
	t.Helper()
	var sessions []int64
	for _, c := range of {
		node, ok := server.Node(testLock + "/" + c.Node)
		require.True(t, ok)
		sessions = append(sessions, node.EphemeralOwner)
	}
	server.SetFaults(func(c zktest.Call) zktest.Action {
		if c.Op == zktest.OpSetData && c.Phase == zktest.PhaseBeforeApply {
			for _, id := range sessions {
				server.ExpireSession(id)
			}
		}
		return zktest.Pass
	})
}

// The leader resigns when the successor is next already. So that leads without a
// request.
func TestLeaderThatResignsBeforeTheRequest(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha", "beta", "gamma")
	expireAtRequest(t, server, listed(t, server, testLock).Queue[0])
	code, stdout := revoke(t, server, testLock, "--successor", "gamma")
	require.Equal(t, 0, code)
	require.Regexp(t, `^leads already: _c_[-0-9a-f]+-latch-0000000002 \(leader, held\): gamma\n$`, stdout)
}

func TestSuccessorThatLeavesWithTheLeader(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha", "gamma")
	expireAtRequest(t, server, listed(t, server, testLock).Queue...)
	server.On(zktest.OpCreate, testLock+"/").Always().Optional().Fail(zktest.NoAuth) // neither comes back
	code, done := inJSON(t, server, "--successor", "gamma")
	require.Equal(t, exitNoContender, code)
	require.Empty(t, done.Requested)
	require.Nil(t, done.Successor)
}

// Nobody is made the next leader by a hand-over to one that has left since.
func TestSuccessorThatLeavesBeforeTheRequest(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha", "beta")
	last, ok := server.Node(testLock + "/" + listed(t, server, testLock).Queue[1].Node)
	require.True(t, ok)
	candidates := server.Sessions()
	var listings atomic.Int64 // of MakeNext, and then those of a survey
	server.SetFaults(func(c zktest.Call) zktest.Action {
		own := !slices.ContainsFunc(candidates, func(s zktest.SessionInfo) bool { return s.ID == c.Session })
		if own && c.Op == zktest.OpGetChildren2 && c.Phase == zktest.PhaseBeforeApply && listings.Add(1) == 2 {
			server.ExpireSession(last.EphemeralOwner)
		}
		return zktest.Pass
	})
	code, done := inJSON(t, server, "--successor", "beta")
	require.Equal(t, exitNoContender, code)
	require.Empty(t, done.Requested)
	require.Nil(t, done.Successor)
	require.Zero(t, server.Count(zktest.OpSetData))
}

// Of a leader and a candidate with one id, the candidate is meant.
func TestSuccessorWithTheIDOfTheLeader(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha", "beta", "alpha")
	before := listed(t, server, testLock).Queue
	code, done := inJSON(t, server, "--successor", "alpha")
	require.Equal(t, 0, code)
	require.Equal(t, before[0].Node, done.Requested[0].Node)
	require.Equal(t, before[2].Node, done.Successor.Node)
}
