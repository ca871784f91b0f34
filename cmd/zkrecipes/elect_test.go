//go:build unix

package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// candidate starts an "elect" on testLock.
func candidate(t *testing.T, server *zktest.Server, part string, flags ...string) *started {
	t.Helper()
	return start(t, server, slices.Concat([]string{"elect", "--json", "--path", testLock}, flags, command(part))...)
}

// leads waits until a candidate's command runs, and returns the event of its election.
func leads(t *testing.T, p *started) event {
	t.Helper()
	e := p.event("acquired")
	require.Equal(t, lease.KindLeader, e.Kind)
	require.Equal(t, "ready", p.line())
	return e
}

func awaitQueueLength(t *testing.T, server *zktest.Server, n int) {
	t.Helper()
	until(t, strconv.Itoa(n)+" are in the queue", func() bool { return len(server.Children(testLock)) == n })
}

func TestOneLeaderAtATime(t *testing.T) {
	server := zktest.NewServer(t)
	first := candidate(t, server, "polite", "--id", "alpha")
	term := leads(t, first)
	second := candidate(t, server, "polite")
	waiting := second.event("waiting")
	require.Equal(t, "alpha", waiting.Holder.Who)
	awaitQueueLength(t, server, 2)
	require.Empty(t, second.lines, "the second must not run")
	require.Equal(t, []string{"1 leader held", "2 leader waiting"}, states(listed(t, server, testLock)))

	first.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", first.line())
	require.Equal(t, 3, first.end(), "a signal makes it resign")
	require.Equal(t, 3, *first.event("released").ExitCode)
	require.Greater(t, leads(t, second).Token, term.Token)
	second.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", second.line())
	require.Equal(t, 3, second.end())
	require.Empty(t, server.Children(testLock))
	require.Empty(t, server.Sessions())
}

func TestCommandThatEndsResigns(t *testing.T) {
	server := zktest.NewServer(t)
	for _, code := range []int{0, 1, 76} {
		p := start(t, server, slices.Concat([]string{"elect", "--json", "--path", testLock}, command("exit", strconv.Itoa(code)))...)
		require.Equal(t, code, p.end())
		require.Empty(t, server.Children(testLock))
	}
}

func TestEnvironmentOfALeader(t *testing.T) {
	server := zktest.NewServer(t)
	p := candidate(t, server, "environment")
	path, token, session := p.line(), p.line(), p.line()
	got := p.event("acquired")
	require.Equal(t, testLock, path)
	require.Equal(t, got.Token.String(), token)
	require.Equal(t, got.Session, session)
	require.Equal(t, 0, p.end())
}

// "run" would end here.
func TestLostTermIsFollowedByAnother(t *testing.T) {
	server := zktest.NewServer(t)
	p := candidate(t, server, "polite")
	lost := leads(t, p)
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, "got terminated", p.line())
	require.Contains(t, p.event("lost").Reason, "expired")
	stopped := p.event("stopped")
	require.Equal(t, "exit code 3", stopped.Command)
	require.Nil(t, stopped.ExitCode, "it goes on")
	p.event("campaigning")
	won := leads(t, p)
	require.Greater(t, won.Token, lost.Token)
	require.NotEqual(t, lost.Session, won.Session)
	p.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, 3, p.end())
	require.Empty(t, server.Children(testLock))
}

func TestLostTermGoesToTheNextParticipant(t *testing.T) {
	server := zktest.NewServer(t)
	first := candidate(t, server, "polite")
	leads(t, first)
	second := candidate(t, server, "polite")
	awaitQueueLength(t, server, 2)
	deleteHead(t, server)
	require.Equal(t, "got terminated", first.line())
	first.event("campaigning")
	leads(t, second)
	awaitQueueLength(t, server, 2)
	require.Empty(t, first.lines, "the first must not run beside the second")
	first.signal(syscall.SIGTERM)
	require.Equal(t, 128+int(syscall.SIGTERM), first.end(), "the wait for another term")
	second.signal(syscall.SIGTERM)
	require.Equal(t, 3, second.end())
}

// deleteHead takes the leadership away by hand.
func deleteHead(t *testing.T, server *zktest.Server) {
	t.Helper()
	client := connectClient(t, server)
	first := listed(t, server, testLock).Queue[0].Node
	require.NoError(t, client.Delete(t.Context(), testLock+"/"+first, -1))
}

// As with a lock, the command is dead before the servers can let another lead.
func TestSilentServerStopsTheLeaderBeforeTheSessionCanExpire(t *testing.T) {
	t.Parallel()
	server := shortLived(t)
	p := candidate(t, server, "stubborn", "--session-timeout", mutedSession.String())
	lost := leads(t, p)
	server.Pause()
	deadline := server.Sessions()[0].Deadline
	stopped := p.event("stopped")
	require.True(t, stopped.Time.Before(deadline), "the session could have expired before the command was dead")
	require.Contains(t, stopped.Command, "killed by signal 9")
	server.Resume()
	require.Greater(t, leads(t, p).Token, lost.Token, "and when they answer again it leads again")
}

// An elect that got a signal, and then loses its term, does not campaign again.
func TestLeaderThatGotASignalDoesNotCampaignAgain(t *testing.T) {
	server := zktest.NewServer(t)
	p := candidate(t, server, "unhurried", "--grace", "300ms")
	leads(t, p)
	p.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", p.line())
	deleteHead(t, server)
	require.Equal(t, exitLost, p.end())
	require.Equal(t, exitLost, *p.event("stopped").ExitCode)
}

// After a request for revocation it resigns, and campaigns again at the end of the
// queue.
func TestRevokedLeaderCampaignsAgain(t *testing.T) {
	server := zktest.NewServer(t)
	first := candidate(t, server, "polite", "--id", "alpha")
	leads(t, first)
	second := candidate(t, server, "polite", "--id", "beta")
	awaitQueueLength(t, server, 2)
	code, stdout := revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(leader, held): alpha")
	first.event("revoked")
	require.Equal(t, "got terminated", first.line())
	require.Nil(t, first.event("released").ExitCode)
	first.event("campaigning")
	leads(t, second)
	awaitQueueLength(t, server, 2)
	code, _ = revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Equal(t, "got terminated", second.line())
	leads(t, first)
	first.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", first.line())
	require.Equal(t, 3, first.end())
}

func TestLeadershipGoesRound(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	flags := []string{"--max-hold", "5s", "--grace", "1s"}
	first := candidate(t, server, "polite", flags...)
	leads(t, first)
	second := candidate(t, server, "polite")
	require.Contains(t, first.event("lost").Reason, "maximum hold time")
	leads(t, second)
	first.event("campaigning")
}

func TestSignalEndsTheCampaign(t *testing.T) {
	server := zktest.NewServer(t)
	leads(t, candidate(t, server, "polite"))
	p := candidate(t, server, "polite")
	awaitQueueLength(t, server, 2)
	p.signal(syscall.SIGINT)
	require.Equal(t, 128+int(syscall.SIGINT), p.end())
	require.Len(t, server.Children(testLock), 1)
}

// The messages for users.
func TestTextOfAnElection(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, slices.Concat([]string{"elect", "--path", testLock}, command("polite"))...)
	require.Equal(t, "ready", p.line())
	deleteHead(t, server)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, "ready", p.line())
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
	said := p.said(5)
	for i, want := range []string{
		`leading ` + testLock + `, token \d+$`,
		`leadership ` + testLock + `: lease lost: .*deleted by another client; stopping the command: TERM now, KILL at`,
		`the command has ended: exit code 3$`,
		`campaigning again for ` + testLock + `$`,
		`leading ` + testLock + `, token \d+$`,
	} {
		require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} `+want, said[i])
	}
}

func TestElectionsThatAreRefused(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	elect := func(env []string, command ...string) (code int, stderr string) {
		code, _, stderr = invoke(t, env, slices.Concat([]string{"elect", "--path", testLock, "--"}, command)...)
		return code, stderr
	}
	code, _ := elect(env, "no-such-command-anywhere")
	require.Equal(t, exitNotFound, code)
	code, _ = elect(append(env, envAuth+"=digest:me:hunter2"), os.Args[0], asCommand, "exit", "5")
	require.Equal(t, 5, code)
	code, stderr := elect(env, os.Args[0], asCommand, "exit", "5")
	require.Equal(t, exitNoPerm, code, "other credentials own the election")
	require.Contains(t, stderr, "not permitted")
	require.NotContains(t, stderr, "hunter2")
}

// A releasableLease is a fakeLease that can be released.
type releasableLease struct {
	*fakeLease
	released bool
}

func (h *releasableLease) Tokens() []lease.Token { return []lease.Token{7} }

func (h *releasableLease) Release() error {
	h.released = true
	return h.Err()
}

func (h *releasableLease) ReleaseAsync() error { return h.Release() }

// After a term that is lost before its command starts, there is another, as after one
// that is lost later.
func TestTermThatIsLostBeforeTheCommandStarts(t *testing.T) {
	lost := &releasableLease{fakeLease: newFakeLease()}
	lost.cancel(lease.ErrLost)
	j := &job{
		program: &program{}, jobFlags: &jobFlags{quiet: true}, signals: make(chan os.Signal, 1),
		client: connectClient(t, zktest.NewServer(t)),
		report: newReporter(io.Discard, testLock, false, true),
		recipe: recipe{
			acquire: func(context.Context, time.Duration) (heldLease, error) {
				if lost.released {
					return nil, errFake
				}
				return lost, nil
			},
		},
	}
	defer j.report.close()
	code, again, err := j.runOnce((&electFlags{}).begin(), true)
	require.NoError(t, err)
	require.True(t, again)
	require.Zero(t, code)
	require.True(t, lost.released)
	_, again, err = j.runOnce((&electFlags{}).begin(), true)
	require.ErrorIs(t, err, errFake)
	require.False(t, again)
}
