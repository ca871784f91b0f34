package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

var commandDir string

// built is the command, built once.
var built = sync.OnceValues(func() (path string, err error) {
	if commandDir, err = os.MkdirTemp("", "zkrecipes-command"); err != nil {
		return "", err
	}
	path = filepath.Join(commandDir, "zkrecipes")
	build := exec.Command("go", "build", "-o", path, "../cmd/zkrecipes")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// A running is one run of the command.
type running struct {
	command *exec.Cmd
	lines   *bufio.Scanner // of the child's standard output
	stdin   io.WriteCloser
	stderr  bytes.Buffer
}

func startCommand(t *testing.T, server string, args ...string) *running {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	r := &running{command: exec.CommandContext(within(t, 2*limit), path, args...)}
	r.command.Env = append(os.Environ(), "ZKRECIPES_SERVERS="+server)
	r.command.Stderr = &r.stderr
	out, err := r.command.StdoutPipe()
	require.NoError(t, err)
	r.stdin, err = r.command.StdinPipe()
	require.NoError(t, err)
	r.lines = bufio.NewScanner(out)
	require.NoError(t, r.command.Start())
	return r
}

// line returns the next line that the child writes.
func (r *running) line(t *testing.T) string {
	t.Helper()
	require.True(t, r.lines.Scan(), "no more output; stderr: %s", &r.stderr)
	return r.lines.Text()
}

// exit returns the exit code.
func (r *running) exit(t *testing.T) int {
	t.Helper()
	for r.lines.Scan() { // the pipe must be read to its end first
	}
	err := r.command.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return r.command.ProcessState.ExitCode()
}

// gone waits until a process does not exist any more, or only as a zombie.
func gone(t *testing.T, pid int) {
	t.Helper()
	ctx := within(t, limit)
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("process %d lives", pid)
		case <-time.After(10 * time.Millisecond): // there is no event for the end of another process's child
		}
	}
}

// child is a shell command that prints its process id and token, then waits until its
// input ends.
const child = `echo $$ $ZKRECIPES_LOCK_TOKEN; cat >/dev/null`

func TestRunExcludesAnotherRun(t *testing.T) {
	_, server := single(t)
	const path = "/locks/run"
	first := startCommand(t, server, "run", "--lock", path, "--label", "first", "--", "sh", "-c", child+"; exit 7")
	first.line(t)
	second := startCommand(t, server, "run", "--lock", path, "--timeout", "5s", "--", "echo", "never")
	assert.Equal(t, 75, second.exit(t), "%s", &second.stderr)
	assert.Contains(t, second.stderr.String(), "first", "the message names the holder")

	third := startCommand(t, server, "run", "--lock", path, "--timeout", "1m", "--", "sh", "-c", child)
	require.NoError(t, first.stdin.Close())
	assert.Equal(t, 7, first.exit(t), "the child's own code; stderr: %s", &first.stderr)
	third.line(t)
	require.NoError(t, third.stdin.Close())
	assert.Equal(t, 0, third.exit(t), "%s", &third.stderr)
	requireEmpty(t, server, path, soon)
}

func TestLsShowsTheQueue(t *testing.T) {
	_, server := single(t)
	const path = "/locks/queue"
	held, err := newMutex(t, connect(t, server), path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	waiter := startCommand(t, server, "run", "--lock", path, "--label", "nightly", "--", "true")
	m := newMutex(t, connect(t, server), path)
	for ctx := within(t, limit); ; {
		contenders, err := m.Contenders(ctx)
		require.NoError(t, err)
		if len(contenders) == 2 {
			break
		}
	}
	ls := startCommand(t, server, "ls", path)
	var out strings.Builder
	for ls.lines.Scan() {
		out.WriteString(ls.lines.Text() + "\n")
	}
	assert.Equal(t, 0, ls.exit(t), "%s", &ls.stderr)
	assert.Contains(t, out.String(), held.Token().String())
	assert.Contains(t, out.String(), "nightly")
	require.NoError(t, held.Release())
	assert.Equal(t, 0, waiter.exit(t), "%s", &waiter.stderr)
}

// kill -9 of the holder: its child dies with it, and the lock is free when the session
// has timed out. (Processes that the child has started live on: only the kernel could
// find them.)
func TestKilledHolderFreesTheLock(t *testing.T) {
	_, server := single(t)
	const path = "/locks/killed"
	holder := startCommand(t, server, "run", "--lock", path, "--session-timeout", "4s", "--", "sh", "-c", `echo $$; exec cat`)
	var pid int
	_, err := fmt.Sscan(holder.line(t), &pid)
	require.NoError(t, err)
	connections, err := ensemble.Cons(within(t, limit), server)
	require.NoError(t, err)
	connections = slices.DeleteFunc(connections, func(c ensemble.Connection) bool { return c.Session == 0 })
	require.NotEmpty(t, connections)
	for _, c := range connections {
		require.Equal(t, "4000", c.Fields["to"], "the session timeout that the server grants the holder")
	}
	require.NoError(t, holder.command.Process.Kill())
	holder.exit(t)
	gone(t, pid)
	held, err := newMutex(t, connect(t, server), path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	require.NoError(t, held.Release())
	requireEmpty(t, server, path, soon)
}

// SIGSTOP of the holder for longer than its session: another client gets the lock, and
// after SIGCONT the holder terminates its child and exits with 76.
func TestStoppedHolderExitsWithLost(t *testing.T) {
	_, server := single(t)
	const path = "/locks/stopped"
	holder := startCommand(t, server, "run", "--lock", path, "--session-timeout", "4s", "--", "sh", "-c", child)
	var pid, token int
	_, err := fmt.Sscan(holder.line(t), &pid, &token)
	require.NoError(t, err)
	require.NoError(t, holder.command.Process.Signal(syscall.SIGSTOP))
	held, err := newMutex(t, connect(t, server), path).Acquire(within(t, limit), lease.Forever)
	require.NoError(t, err)
	assert.Greater(t, held.Token(), lease.Token(token))
	require.NoError(t, holder.command.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, 76, holder.exit(t), "%s", &holder.stderr)
	gone(t, pid)
	require.NoError(t, held.Err())
	require.NoError(t, held.Release())
	requireEmpty(t, server, path, soon)
}

// The connection of the holder is silent for good: the child is dead before the server
// can give the lock to another client.
func TestChildOfLostLockIsDeadBeforeTheNextIsGranted(t *testing.T) {
	servers, server := single(t)
	const path = "/locks/silent"
	holder := startCommand(t, server, "run", "--lock", path, "--session-timeout", "4s", "--", "sh", "-c",
		`trap '' TERM; echo $$; while :; do sleep 0.1; done`)
	pid, err := strconv.Atoi(holder.line(t))
	require.NoError(t, err)
	require.NoError(t, servers.Node(0).Pause())
	assert.Equal(t, 76, holder.exit(t), "%s", &holder.stderr)
	gone(t, pid)
	require.NoError(t, servers.Node(0).Resume())
	requireEmpty(t, server, path, limit)
}

// SIGSTOP of a process that watches its own lease: it never sees the lease as valid
// after the next one has been granted.
func TestNoOverlapAfterTheHolderWasStopped(t *testing.T) {
	_, server := single(t)
	const path = "/locks/overlap"
	text, err := json.Marshal(plan{Servers: []string{server}, Path: path, Linger: true})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	holder := exec.CommandContext(ctx, os.Args[0])
	holder.Env = append(os.Environ(), contenderPlan+"="+string(text))
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	grants := json.NewDecoder(out)
	var begun, ended grant
	require.NoError(t, grants.Decode(&begun))
	require.NoError(t, holder.Process.Signal(syscall.SIGSTOP))
	held, err := newMutex(t, connect(t, server), path).Acquire(within(t, limit), lease.Forever)
	from := time.Now().UnixNano()
	require.NoError(t, err)
	require.NoError(t, holder.Process.Signal(syscall.SIGCONT))
	require.NoError(t, grants.Decode(&ended))
	require.NoError(t, holder.Wait())
	assert.Less(t, ended.Until, from)
	assert.Greater(t, int64(held.Token()), ended.Token)
	require.NoError(t, held.Release())
	requireNone(t, server, "zk_ephemerals_count")
}
