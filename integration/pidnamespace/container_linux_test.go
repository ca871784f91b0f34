package pidnamespace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.uber.org/goleak"
)

// asFirst makes the test binary prepare a container and become its first process.
const asFirst = "as-first-process"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asFirst {
		fmt.Fprintln(os.Stderr, becomeFirst(os.Args[2:]))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if commandDir != "" {
			_ = os.RemoveAll(commandDir)
		}
		os.Exit(code)
	}))
}

// becomeFirst mounts the namespace's own /proc and becomes a program.
func becomeFirst(args []string) error {
	if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}

var commandDir string

// built is the command, built once.
var built = sync.OnceValues(func() (path string, err error) {
	if commandDir, err = os.MkdirTemp("", "zkrecipes-command"); err != nil {
		return "", err
	}
	// Users other than root run it, too.
	if err := os.Chmod(commandDir, 0o755); err != nil { // #nosec G302 -- it holds a program
		return "", err
	}
	path = filepath.Join(commandDir, "zkrecipes")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/zkrecipes").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

const testLock = "/locks/test"

// limit is how long an expected event may take.
const limit = time.Minute

// A run is one run of the command.
type run struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *bufio.Scanner // of standard output, which ends when all processes have ended that could write to it
	stderr bytes.Buffer
}

// start starts "zkrecipes run" with a shell script as its command; change changes the
// exec.Cmd.
func start(t *testing.T, server *zktest.Server, change func(*exec.Cmd), script string, flags ...string) *run {
	t.Helper()
	require.Zero(t, os.Getuid(), "namespaces are made by root: run this with go test -exec sudo")
	path, err := built()
	require.NoError(t, err)
	args := append([]string{path, "run", "--json", "--lock", testLock}, flags...)
	r := &run{t: t, cmd: exec.Command(path, append(args[1:], "--", "sh", "-c", script)...)}
	r.cmd.Env = append(os.Environ(), "ZKRECIPES_SERVERS="+server.Addr())
	r.cmd.Stderr = &r.stderr
	change(r.cmd)
	r.stdin, err = r.cmd.StdinPipe()
	require.NoError(t, err)
	out, w, err := os.Pipe()
	require.NoError(t, err)
	r.cmd.Stdout = w
	require.NoError(t, r.cmd.Start())
	require.NoError(t, w.Close())
	r.lines = bufio.NewScanner(out)
	timer := time.AfterFunc(limit, func() { _ = r.cmd.Process.Kill(); _ = out.Close() })
	t.Cleanup(func() {
		timer.Stop()
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		out.Close()
		if t.Failed() {
			t.Logf("zkrecipes wrote:\n%s", &r.stderr)
		}
	})
	return r
}

// inContainer makes the command the first process of a container.
func inContainer(cmd *exec.Cmd) {
	cmd.Args = append([]string{os.Args[0], asFirst}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = os.Args[0]
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
}

func asItIs(*exec.Cmd) {}

// line returns the next line of standard output.
func (r *run) line() string {
	r.t.Helper()
	require.True(r.t, r.lines.Scan(), "no more output")
	return r.lines.Text()
}

// gone waits until no process can write to standard output any more.
func (r *run) gone() {
	r.t.Helper()
	for r.lines.Scan() {
	}
	require.NoError(r.t, r.lines.Err(), "a process lives")
}

// exit returns the exit code, and checks that no process of the command is left.
func (r *run) exit() int {
	r.t.Helper()
	r.gone()
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// A relative is a process as our /proc shows it, with our process ids.
type relative struct {
	pid, parent int
	name, state string
}

// processes lists all processes.
func processes(t *testing.T) (all []relative) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		before, after, _ := strings.Cut(string(text), ") ")
		number, name, _ := strings.Cut(before, " (")
		fields := strings.Fields(after)
		p := relative{name: name, state: fields[0]}
		p.pid, err = strconv.Atoi(number)
		require.NoError(t, err)
		p.parent, err = strconv.Atoi(fields[1])
		require.NoError(t, err)
		all = append(all, p)
	}
	return all
}

// childrenOf lists the children of a process.
func childrenOf(t *testing.T, pid int) (children []relative) {
	t.Helper()
	for _, p := range processes(t) {
		if p.parent == pid {
			children = append(children, p)
		}
	}
	return children
}

// guardian returns the process id of the guardian.
func (r *run) guardian() int {
	r.t.Helper()
	for _, child := range childrenOf(r.t, r.cmd.Process.Pid) {
		if child.name == "zkr-guardian" {
			return child.pid
		}
	}
	require.Fail(r.t, "no guardian")
	return 0
}

// until polls for something that sends no event.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(limit); !true(); {
		select {
		case <-tick.C:
		case <-deadline:
			require.Fail(t, "timed out", "until %s", what)
		}
	}
}
