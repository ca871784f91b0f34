package integration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
)

// delayedPlanEnv is the environment variable that makes this binary a process whose
// workers acquire locks with a lock-delay.
const delayedPlanEnv = "ZKRECIPES_TEST_DELAYED"

func init() { programs[delayedPlanEnv] = delayedProgram }

// A delayedPlan is what such a process does, until its standard input ends. It writes
// each stayEvent on a line.
type delayedPlan struct {
	Servers        []string
	Delay, Session time.Duration
	Workers        int
	Seed           uint64
}

func delayedProgram(text string) int {
	if err := runDelayed(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runDelayed(text string) error {
	var p delayedPlan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	client, err := framework.Connect(ctx, framework.Config{Servers: p.Servers, SessionTimeout: p.Session, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	locks, err := delayedLocks(client, p.Delay)
	if err != nil {
		return err
	}
	over := make(chan struct{})
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	var out sync.Mutex
	encoder := json.NewEncoder(os.Stdout)
	report := func(e stayEvent) {
		out.Lock()
		defer out.Unlock()
		_ = encoder.Encode(e)
	}
	failed := make(chan error, p.Workers)
	for n := range p.Workers {
		w := &delayedWorker{
			locks:  func() ([]delayedLock, *framework.Client) { return locks, client },
			report: report, rng: rand.New(rand.NewPCG(p.Seed, uint64(n))),
		}
		go func() { failed <- w.work(ctx, over) }()
	}
	for range p.Workers {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// A delayedProcess is one of them. It ends when the test binary does.
type delayedProcess struct {
	cmd    *exec.Cmd
	input  io.Closer
	killed bool
	done   chan struct{} // closed when it has ended, and all that it wrote is known
	err    error         // how; to be read after done
}

// startDelayed starts one, whose events go to all.
func startDelayed(t *testing.T, p delayedPlan, all *stays) *delayedProcess {
	t.Helper()
	plan, err := json.Marshal(p)
	require.NoError(t, err)
	d := &delayedProcess{cmd: exec.CommandContext(t.Context(), os.Args[0]), done: make(chan struct{})} //nolint:gosec // this very binary
	d.cmd.Env = append(os.Environ(), delayedPlanEnv+"="+string(plan))
	var complaints bytes.Buffer
	d.cmd.Stderr = &complaints
	d.input, err = d.cmd.StdinPipe()
	require.NoError(t, err)
	output, err := d.cmd.StdoutPipe()
	require.NoError(t, err)
	// The system kills it when the thread that started it ends, also if it is paused.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := d.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		defer close(d.done)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			var e stayEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err == nil { // else it was killed in the middle of a line
				all.add(e)
			}
		}
		if err := d.cmd.Wait(); err != nil {
			d.err = fmt.Errorf("%w: %s", err, complaints.String())
		}
	}()
	require.NoError(t, <-started)
	return d
}

// kill kills it as by kill -9.
func (d *delayedProcess) kill(t *testing.T) {
	t.Helper()
	d.killed = true
	require.NoError(t, d.cmd.Process.Kill())
	<-d.done
}

// pause freezes it for a time.
func (d *delayedProcess) pause(span time.Duration) (resumed <-chan struct{}) {
	_ = d.cmd.Process.Signal(syscall.SIGSTOP)
	ended := make(chan struct{})
	time.AfterFunc(span, func() {
		_ = d.cmd.Process.Signal(syscall.SIGCONT) // in vain if it was killed meanwhile
		close(ended)
	})
	return ended
}

// finish lets it come to its end.
func (d *delayedProcess) finish(t *testing.T) {
	t.Helper()
	_ = d.input.Close()
	<-d.done
	assert.NoError(t, d.err)
}
