//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// refusedHandOver runs "revoke --successor gamma" on testLock, which fails.
func refusedHandOver(t *testing.T, server *zktest.Server, flags ...string) (code int, stderr string) {
	t.Helper()
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, append([]string{"revoke", "--successor", "gamma", testLock}, flags...)...)
	require.NotZero(t, code)
	require.Empty(t, stdout)
	return code, stderr
}

func TestSuccessorThatIsNoCandidate(t *testing.T) {
	server := zktest.NewServer(t)
	says := "zkrecipes: revoke: " + testLock + `: no revocation was requested: no candidate there has the id "gamma"` + "\n"
	code, stderr := refusedHandOver(t, server)
	require.Equal(t, exitNoContender, code)
	require.Equal(t, says, stderr)
	_, ok := server.Node(testLock)
	require.False(t, ok, "it creates nothing")
	queueUp(t, server, "alpha", "beta")
	code, stderr = refusedHandOver(t, server)
	require.Equal(t, exitNoContender, code)
	require.Equal(t, says, stderr)
	require.Equal(t, []string{"alpha", "beta"}, queued(t, server))
}

// A candidate of Apache Curator cannot be asked to step back.
func TestSuccessorBehindALatchOfCurator(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha")
	waitingNode(t, server, "_c_01234567-89ab-4def-8123-456789abcdef-latch-", "java1")
	last := waitingNode(t, server, "_c_01234567-89ab-8def-8123-456789abcdef-latch-", "gamma")
	before := listed(t, server, testLock).Queue
	code, stderr := refusedHandOver(t, server)
	require.Equal(t, exitConflict, code)
	require.Contains(t, stderr, "neither steps back")
	require.Contains(t, stderr, "java1")
	require.Equal(t, before[2].Node, last)
	require.Equal(t, []string{"alpha", "java1", "gamma"}, queued(t, server))
}

// Nor would it notice that the leader has resigned on a request.
func TestRevokeAheadOfALatchOfCurator(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha")
	latch := waitingNode(t, server, "_c_01234567-89ab-4def-8123-456789abcdef-latch-", "java1")
	code, stdout, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, "revoke", testLock)
	require.Equal(t, exitConflict, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "would never lead then: "+latch)
	require.Zero(t, server.Count(zktest.OpSetData))
}

// The same for one that was named: it is the next one without a request, too.
func TestLatchOfCuratorAsTheSuccessor(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha")
	waitingNode(t, server, "_c_01234567-89ab-4def-8123-456789abcdef-latch-", "java1")
	env := []string{envServers + "=" + server.Addr()}
	code, stdout, stderr := invoke(t, env, "revoke", "--successor", "java1", testLock)
	require.Equal(t, exitConflict, code)
	require.Regexp(t, `^leads next: .* \(leader, waiting\): java1\n$`, stdout)
	require.Contains(t, stderr, "would never lead then")
	require.Zero(t, server.Count(zktest.OpSetData))
}

// A candidate that is asked to step back itself does not count, and the text says why.
func TestSuccessorThatStepsBackItself(t *testing.T) {
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha")
	waitingNode(t, server, "_c_01234567-89ab-8def-8123-456789abcdef-latch-", "gamma\n__STEP_BACK__")
	code, stderr := refusedHandOver(t, server)
	require.Equal(t, exitConflict, code)
	require.Equal(t, "zkrecipes: revoke: "+testLock+": no revocation was requested, because a candidate has not stepped back yet: "+
		"gamma itself, in favour of another successor\n", stderr)
}

// waitingNode makes the node of a candidate that does nothing, and returns its name.
func waitingNode(t *testing.T, server *zktest.Server, name, id string) (node string) {
	t.Helper()
	made, err := connectClient(t, server).Create(t.Context(), testLock+"/"+name, []byte(id), framework.EphemeralSequential)
	require.NoError(t, err)
	return made.Path[len(testLock)+1:]
}

// A candidate that does not run, or is cut off, is named when the time is over.
func TestCandidateAheadThatDoesNotStepBack(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha")
	waitingNode(t, server, "_c_01234567-89ab-8def-8123-456789abcde0-latch-", "stuck")
	waitingNode(t, server, "_c_01234567-89ab-8def-8123-456789abcde1-latch-", "gamma")
	code, stderr := refusedHandOver(t, server, "--timeout", "3s")
	require.Equal(t, exitConflict, code)
	require.Equal(t, "zkrecipes: revoke: "+testLock+": no revocation was requested, because a candidate has not stepped back yet: "+
		"1 ahead of gamma, the first is stuck\n", stderr)
	require.Equal(t, []string{"alpha", "stuck", "gamma"}, queued(t, server))
	require.Zero(t, server.Count(zktest.OpSetData), "the leader goes on")
}

// A server that does not answer says nothing about candidates.
func TestServersThatDoNotAnswerDuringAHandOver(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	queueUp(t, server, "alpha")
	waitingNode(t, server, "_c_01234567-89ab-8def-8123-456789abcde0-latch-", "stuck")
	waitingNode(t, server, "_c_01234567-89ab-8def-8123-456789abcde1-latch-", "gamma")
	asked := server.On(zktest.OpMulti, "").After().Delay(0)
	paused := make(chan struct{})
	go func() {
		defer close(paused)
		<-asked.Fired()
		server.Pause()
	}()
	code, _ := refusedHandOver(t, server, "--timeout", "3s")
	<-paused
	require.Equal(t, exitUnavailable, code)
	server.Resume()
}

func TestSuccessorOnThePathOfAnotherRecipe(t *testing.T) {
	for what, flags := range map[string][]string{
		"a lock":              {"--lock", testLock},
		"a semaphore":         {"--lock", testLock, "--permits", "2"},
		"a lock with stripes": {"--lock", testLock, "--stripes", "2"},
		"a job":               {"--once", testLock, "--key", "k"},
	} {
		server := zktest.NewServer(t)
		p := start(t, server, flagsFor(command("polite"), flags...)...)
		require.Equal(t, "ready", p.line())
		code, stderr := refusedHandOver(t, server)
		require.Equal(t, exitUsage, code)
		require.Equal(t, "zkrecipes: revoke: "+testLock+": --successor is for an election: this is the path of "+what+"\n", stderr)
	}
}

func TestHandOverNeedsPermission(t *testing.T) {
	server := zktest.NewServer(t)
	queueUpAs(t, server, framework.Credential{Scheme: "digest", Secret: []byte("me:hunter2")}, "alpha", "beta", "gamma")
	code, stderr := refusedHandOver(t, server)
	require.Equal(t, exitNoPerm, code)
	require.Contains(t, stderr, "not permitted")
	require.Equal(t, []string{"alpha", "beta", "gamma"}, queued(t, server))
	env := []string{envServers + "=" + server.Addr(), envAuth + "=digest:me:hunter2"}
	code, _, stderr = invoke(t, env, "revoke", testLock, "--successor", "gamma")
	require.Equal(t, 0, code, stderr)
}

func TestTextOfAHostileCandidateIsEscaped(t *testing.T) {
	server := populate(t)
	env := []string{envServers + "=" + server.Addr()}
	code, stdout, stderr := invoke(t, env, "revoke", testLock, "--successor", hostile+"\xff\x9b")
	require.Equal(t, 0, code, stderr)
	requireLines(t, 1, stdout)
	require.Contains(t, stdout, "leads already: ")
	code, _, stderr = invoke(t, env, "revoke", testLock, "--successor", hostile)
	require.Equal(t, exitNoContender, code)
	requireLines(t, 1, stderr)
}
