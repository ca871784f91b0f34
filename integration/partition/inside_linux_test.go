package partition

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// insideEnv is the environment variable that tells this binary that it runs in its own
// namespaces, and its folder for data.
const insideEnv = "ZKRECIPES_TEST_INSIDE"

// notStruck marks the output of a run whose fault came too late to show anything,
// because the machine was busy.
const notStruck = "the fault did not strike"

// attempts is how often a run is repeated if its fault did not strike.
const attempts = 5

// inside runs a test a number of times in new network, mount and process namespaces: in
// another process of this binary, which runs only that test. The system kills all
// processes in the namespaces with their first one, and that one with this process.
func inside(t *testing.T, runs int, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(insideEnv) != "" {
		test(t)
		return
	}
	t.Parallel()
	requireTools(t)
	for run := range runs {
		for attempt := 1; ; attempt++ {
			output, err := runInside(t)
			if err == nil {
				break
			}
			if attempt == attempts || !strings.Contains(output, notStruck) {
				t.Errorf("run %d of %d: %v", run+1, runs, err)
				break
			}
		}
	}
}

// runInside runs the present test in new namespaces and returns what it wrote.
func runInside(t *testing.T) (output string, err error) {
	t.Helper()
	arguments := []string{"-test.v", "-test.run=^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"}
	if deadline, ok := t.Deadline(); ok { // before our own, so that it can report what it waits for
		arguments = append(arguments, "-test.timeout="+(time.Until(deadline)-10*time.Second).String())
	}
	var text bytes.Buffer
	cmd := exec.CommandContext(t.Context(), os.Args[0], arguments...) //nolint:gosec // this very binary
	cmd.Env = append(os.Environ(), insideEnv+"=1", "TMPDIR="+dataDir)
	cmd.Stdout = io.MultiWriter(&text, t.Output())
	cmd.Stderr = cmd.Stdout
	if err := runWithin(cmd); err != nil {
		return text.String(), err
	}
	if !strings.Contains(text.String(), "--- PASS: "+t.Name()) {
		return text.String(), fmt.Errorf("%s did not run", t.Name())
	}
	return text.String(), nil
}

// runWithin runs a command in new namespaces. The system kills it when the thread that
// started it ends, so only one thread is used.
func runWithin(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	return cmd.Run()
}

// dataDir is in memory, and ends with the mount namespace.
const dataDir = "/run/zkrecipes"

// moveIn gives this process its own mounts: a /proc of its PID namespace, and an empty
// /run, where ip keeps namespaces and iptables its lock.
func moveIn() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount /run: %w", err)
	}
	return os.Mkdir(dataDir, 0o700)
}

// requireTools fails the test if a tool is missing, and says how to install it.
func requireTools(t *testing.T) {
	t.Helper()
	require.Zero(t, os.Geteuid(), "only root may make network namespaces: make partitions, or go test -exec 'sudo -E' ./partition")
	for _, tool := range []string{"ip", "iptables"} {
		_, err := exec.LookPath(tool)
		require.NoError(t, err, "install it with .ci/install-netns, or on Debian and Ubuntu with "+
			"apt-get install --no-install-recommends iproute2 iptables")
	}
}

// command runs a tool. Its error contains the tool's output.
func command(ctx context.Context, line ...string) error {
	out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput() //nolint:gosec // ip and iptables
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, out)
	}
	return nil
}

// number returns the value of an environment variable.
func number[T any](t *testing.T, name string, otherwise T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := parse(text)
	require.NoError(t, err, name)
	return n
}

// runs is how often each test with one fault runs.
func runs(t *testing.T) int {
	t.Helper()
	return number(t, "ZKRECIPES_PARTITION_RUNS", 1, strconv.Atoi)
}
