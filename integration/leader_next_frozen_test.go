package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// candidateServer is the environment variable, the address of a server, that makes this
// binary a candidate.
const candidateServer = "ZKRECIPES_TEST_CANDIDATE"

// frozenSession is the session timeout of such a candidate.
const frozenSession = sessionTimeout

func init() { programs[candidateServer] = candidateProgram }

// candidateProgram campaigns, writes "leads" when it does, and resigns.
func candidateProgram(server string) int {
	err := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		defer cancel()
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
		client, err := framework.Connect(ctx, framework.Config{Servers: []string{server}, SessionTimeout: frozenSession, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }()
		election, err := leader.New(client, electionPath, leader.WithID("frozen"))
		if err != nil {
			return err
		}
		term, err := election.Acquire(ctx, lease.Forever)
		if err != nil {
			return err
		}
		fmt.Println("leads")
		return term.Release()
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A frozenQueue has a leader, a candidate whose process is frozen, and another one.
type frozenQueue struct {
	observer *framework.Client
	first    *leader.Election
	term     *lease.Lease // its
	process  *exec.Cmd
	output   *bufio.Scanner
	named    <-chan *lease.Lease // gets the term of the last
}

func freeze(t *testing.T) *frozenQueue {
	t.Helper()
	_, server := single(t)
	q := &frozenQueue{observer: connect(t, server), first: newElection(t, connect(t, server), "first")}
	last := newElection(t, connect(t, server), "last")
	var err error
	q.term, err = q.first.Acquire(within(t, limit), 0)
	require.NoError(t, err)
	q.process, q.output = startCandidate(t, server)
	awaitCandidates(t, q.observer, 2)
	q.named = campaign(t, last)
	awaitCandidates(t, q.observer, 3)
	require.NoError(t, q.process.Process.Signal(syscall.SIGSTOP))
	return q
}

// A process between the leader and the named candidate is frozen, so it does not step
// back: MakeNext ends with its context, and says which one it is. When the session of
// the process has ended, MakeNext succeeds. The process resumes, and joins again behind
// the others.
func TestMakeNextWaitsForAFrozenProcess(t *testing.T) {
	q := freeze(t)
	frozen := time.Now()
	over := errors.New("no time left")
	ctx, cancel := context.WithTimeoutCause(context.Background(), frozenSession/4, over)
	defer cancel()
	_, err := q.first.MakeNext(ctx, "last")
	require.ErrorIs(t, err, over)
	require.ErrorContains(t, err, "frozen", "it is named")
	require.Equal(t, []string{"first", "frozen", "last"}, candidates(t, q.first))

	present, err := q.first.MakeNext(within(t, limit), "last")
	require.NoError(t, err)
	require.Equal(t, q.term.Path(), present.Path)
	assert.Less(t, time.Since(frozen), 2*frozenSession, "its session and two ticks")
	require.NoError(t, q.term.Err())
	require.Equal(t, []string{"first", "last"}, candidates(t, q.first))

	require.NoError(t, q.process.Process.Signal(syscall.SIGCONT))
	awaitCandidates(t, q.observer, 3)
	require.Equal(t, []string{"first", "last", "frozen"}, candidates(t, q.first))
	require.NoError(t, q.term.Release())
	require.NoError(t, (<-q.named).Release())
	require.True(t, q.output.Scan())
	require.Equal(t, "leads", q.output.Text())
	require.NoError(t, q.process.Wait())
	requireEmptySeenBy(t, q.observer, electionPath, soon)
}

// A frozen process resumes before its session ends: it steps back, though it was asked
// by a MakeNext that has given up since.
func TestFrozenProcessStepsBackLater(t *testing.T) {
	q := freeze(t)
	_, err := q.first.MakeNext(within(t, frozenSession/8), "last")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, q.process.Process.Signal(syscall.SIGCONT))
	awaitOrder(t, q.observer, q.first, "first", "last", "frozen")
	require.NoError(t, q.term.Release())
	require.NoError(t, (<-q.named).Release())
	require.True(t, q.output.Scan())
	require.NoError(t, q.process.Wait())
}

// awaitOrder waits until these are the candidates, in that order.
func awaitOrder(t *testing.T, observer *framework.Client, e *leader.Election, ids ...string) {
	t.Helper()
	ctx := within(t, limit)
	for {
		_, _, w, err := observer.ChildrenWatch(ctx, electionPath)
		require.NoError(t, err)
		if slices.Equal(ids, candidates(t, e)) {
			return
		}
		select {
		case <-w.Events():
		case <-ctx.Done():
			require.Equal(t, ids, candidates(t, e))
		}
	}
}

// startCandidate starts a candidate. It is killed when the test ends.
func startCandidate(t *testing.T, server string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this very binary
	command.Env = append(os.Environ(), candidateServer+"="+server)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe() // open as long as this process lives
	require.NoError(t, err)
	t.Cleanup(func() { _ = input.Close() })
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	return command, bufio.NewScanner(output)
}
