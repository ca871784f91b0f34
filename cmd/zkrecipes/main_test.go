//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// The test binary has three roles, so that no tool of the machine is needed: the tests;
// zkrecipes itself, if envProgram is set; and the commands that it runs, if the first
// argument is asCommand.
const (
	envProgram = "ZKRECIPES_TEST_PROGRAM"
	asCommand  = "as-command"
	asShell    = "as-shell"
	asOrphaned = "orphaned" // starts others, and becomes zkrecipes
)

// patientTry is how long "--try" of a process waits for an answer, so that a machine
// which stands still for some seconds does not end it. The limit that users have is
// tested in virtual time. It is not so long that the time to connect would not be
// shared among servers any more.
const patientTry = 5 * time.Second

// playShell is set where terminals can be tested, playForker where forks can be made.
var (
	playShell  func(args []string) int
	playForker func()
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == asShell:
		os.Exit(playShell(os.Args[2:]))
	case len(os.Args) > 2 && os.Args[1] == asCommand:
		os.Exit(playCommand(os.Args[2], os.Args[3:]))
	case len(os.Args) > 1 && os.Args[1] == asOrphaned:
		os.Exit(becomeOrphaned(os.Args[2:]))
	case os.Getenv(envProgram) != "" || os.Args[0] == guardianName:
		tryLimit = patientTry
		os.Exit(runProcess())
	}
	manyAtATime()
	goleak.VerifyTestMain(m)
}

// manyAtATime lets parallel tests run side by side even with few processors: mostly
// they wait for real time to pass.
func manyAtATime() {
	flag.Parse()
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", strconv.Itoa(max(8, runtime.GOMAXPROCS(0))))
	}
}

// becomeOrphaned makes children before this process becomes zkrecipes: one that runs,
// and one that has ended.
func becomeOrphaned(args []string) int {
	if !startPart(nil, "leaf") || !startPart(nil, "exit", "0") {
		return 1
	}
	_ = syscall.Exec(os.Args[0], append([]string{os.Args[0]}, args...), os.Environ())
	return 1
}

// command returns the arguments of a run that make the test binary play a command.
func command(part string, args ...string) []string {
	return append([]string{"--", os.Args[0], asCommand, part}, args...)
}

// eventTimeout is how long an event may take that is certain to come.
const eventTimeout = 2 * time.Minute

// patientSession has processes use long sessions, unless a flag says otherwise: in one
// of 15 s, the default, a machine that stands still for 3 s can cost the lock. It is
// the longest timeout that the servers of tests grant.
const patientSession = "ZKRECIPES_SESSION_TIMEOUT=40s"

// A started program is zkrecipes as a process of its own.
type started struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan string // of the command's standard output; closed when no process can write to it any more
	events chan event  // from standard error; closed likewise
	exit   chan int

	mu     sync.Mutex
	stderr []string
}

// start runs zkrecipes with the given arguments against a server.
func start(t *testing.T, server *zktest.Server, args ...string) *started {
	t.Helper()
	p := &started{t: t, lines: make(chan string, 1000), events: make(chan event, 1000), exit: make(chan int, 1)}
	p.cmd = exec.Command(os.Args[0], args...)
	p.cmd.Env = append(os.Environ(), envProgram+"=1", envServers+"="+server.Addr(), patientSession,
		"GORACE=atexit_sleep_ms=0") // else each process takes a second to end under -race
	var err error
	p.stdin, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	// Not StdoutPipe: Wait would close it before it is read to the end.
	stdout, childOut, err := os.Pipe()
	require.NoError(t, err)
	stderr, childErr, err := os.Pipe()
	require.NoError(t, err)
	p.cmd.Stdout, p.cmd.Stderr = childOut, childErr
	require.NoError(t, startUnignored(p.cmd))
	childOut.Close()
	childErr.Close()
	var readers sync.WaitGroup
	readers.Go(func() { p.readLines(stdout) })
	readers.Go(func() { p.readEvents(stderr) })
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		_ = p.cmd.Wait()
		p.exit <- p.cmd.ProcessState.ExitCode()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		p.stdin.Close()
		<-waited
		readers.Wait()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			t.Logf("zkrecipes %v said:\n%s", args, strings.Join(p.stderr, "\n"))
		}
	})
	return p
}

// startUnignored starts a program in which signals have their usual effect, even if the
// tests were started with some ignored, as by shells in the background: a signal that
// is caught here is not inherited as ignored.
func startUnignored(cmd *exec.Cmd) error {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP)
	defer signal.Stop(caught)
	return cmd.Start()
}

func (p *started) readLines(r io.ReadCloser) {
	defer r.Close()
	defer close(p.lines)
	for in := bufio.NewScanner(r); in.Scan(); {
		p.lines <- in.Text()
	}
}

func (p *started) readEvents(r io.ReadCloser) {
	defer r.Close()
	defer close(p.events)
	for in := bufio.NewScanner(r); in.Scan(); {
		p.mu.Lock()
		p.stderr = append(p.stderr, in.Text())
		p.mu.Unlock()
		var e event
		if json.Unmarshal(in.Bytes(), &e) == nil {
			checkEvent(p.t, in.Bytes())
			p.events <- e
		} else {
			checkNoRepeatedPhrase(p.t, in.Text())
		}
	}
}

// said waits until n lines are on standard error, and returns them.
func (p *started) said(n int) (lines []string) {
	until(p.t, "all is read", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		lines = slices.Clone(p.stderr)
		return len(lines) == n
	})
	return lines
}

// line waits for the next line that the command prints.
func (p *started) line() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		require.True(p.t, ok, "the command printed no more")
		return line
	case <-time.After(eventTimeout):
		require.Fail(p.t, "the command prints nothing")
	}
	return ""
}

// event waits for an event of a kind and skips others.
func (p *started) event(kind string) event {
	p.t.Helper()
	deadline := time.After(eventTimeout)
	for {
		select {
		case e, ok := <-p.events:
			require.True(p.t, ok, "no event %q", kind)
			if e.Event == kind {
				return e
			}
		case <-deadline:
			require.Fail(p.t, "no event", "%q", kind)
		}
	}
}

// end waits for the exit code, and makes sure that all processes of the command had
// ended by then: none can write to standard output any more.
func (p *started) end() int {
	p.t.Helper()
	select {
	case code := <-p.exit:
		for deadline := time.After(eventTimeout); ; {
			select {
			case _, more := <-p.lines:
				if !more {
					return code
				}
			case <-deadline:
				require.Fail(p.t, "zkrecipes has ended, but not the command")
			}
		}
	case <-time.After(eventTimeout):
		require.Fail(p.t, "zkrecipes does not end")
	}
	return -1
}

// signal sends zkrecipes a signal.
func (p *started) signal(sig os.Signal) { require.NoError(p.t, p.cmd.Process.Signal(sig)) }

// invoke calls run in this process.
func invoke(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		return f
	}
	in, out, errs := open("in"), open("out"), open("err")
	code = run(args, in, out, errs, env)
	text := func(f *os.File) string {
		require.NoError(t, f.Close())
		b, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		return string(b)
	}
	in.Close()
	return code, text(out), text(errs)
}

// until waits for something that no event reports.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(eventTimeout); !true(); {
		select {
		case <-tick.C:
		case <-deadline:
			require.Fail(t, "waited in vain", "until %s", what)
		}
	}
}

// flagsFor puts flags before a command.
func flagsFor(command []string, flags ...string) []string {
	return slices.Concat([]string{"run", "--json"}, flags, command)
}

var errFake = errors.New("for a test")
