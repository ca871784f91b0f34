//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// playCommand is what the test binary does under a lock.
func playCommand(part string, args []string) int {
	signals := make(chan os.Signal, 16)
	switch part {
	case "exit": // with that code
		code, _ := strconv.Atoi(args[0])
		return code
	case "environment": // print our variables, and further ones
		for _, name := range append([]string{envLockPath, envLockToken, envLockSession}, args...) {
			fmt.Println(os.Getenv(name))
		}
	case "zkrecipes": // when a byte has come; it gets the arguments
		fmt.Println("ready")
		_, _ = os.Stdin.Read(make([]byte, 1))
		fmt.Println(syscall.Exec(os.Args[0], append([]string{os.Args[0]}, args...), os.Environ()))
		return 1
	case "killed": // by a signal
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "polite": // say which signals come, and end with 3 at TERM
		signal.Notify(signals)
		fmt.Println("ready")
		for sig := range signals {
			switch sig {
			case syscall.SIGURG: // the Go runtime's own
			case syscall.SIGTERM:
				fmt.Println("got", sig)
				return 3
			default:
				fmt.Println("got", sig)
			}
		}
	case "obedient": // end with 0 at TERM; say that USR1 came
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1)
		fmt.Println("ready")
		for <-signals != syscall.SIGTERM {
			fmt.Println("got USR1")
		}
	case "unhurried": // say that TERM came, and go on until the input ends
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("ready")
		go func() {
			for sig := range signals {
				fmt.Println("got", sig)
			}
		}()
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "stubborn": // live until killed
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		select {}
	case "parent": // of a stubborn one; itself ends at TERM
		child := exec.Command(os.Args[0], asCommand, "stubborn")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return 1
		}
		select {}
	case "tree": // of processes in other groups and sessions; itself ends at TERM and INT
		return playTree()
	case "family": // of processes that ignore Ctrl-Z, one of them in another group
		_ = os.Setenv(envLeaf, "family: ")
		if !startPart(nil, "leaf", "TSTP") || !startPart(nil, "leaf") || !startPart(&syscall.SysProcAttr{Setsid: true}, "leaf") {
			return 1
		}
		fmt.Println("family:", os.Getpid())
		select {}
	case "starter": // of others; then it ends
		return playStarter(args)
	case "leaf": // live until killed; ignore the signals that are named
		for _, name := range args {
			signal.Ignore(map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "TSTP": syscall.SIGTSTP}[name])
		}
		fmt.Println(os.Getenv(envLeaf) + "leaf")
		select {}
	case "starter and waiter":
		if playStarter(args) == 0 {
			select {}
		}
	case "forker": // fork without end
		playForker()
	case "file": // print what the file with that number contains
		fd, _ := strconv.Atoi(args[0])
		text, err := io.ReadAll(os.NewFile(uintptr(fd), "passed on"))
		fmt.Println(string(text), err)
	case "touch":
		if err := os.WriteFile(args[0], nil, 0o600); err != nil {
			return 1
		}
	case "arguments":
		fmt.Printf("%q\n", args)
	case "reader": // until its input ends
		fmt.Println("ready")
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			fmt.Println("read", in.Text())
		}
	}
	return 0
}

// startPart starts another command on the same standard output.
func startPart(attr *syscall.SysProcAttr, part string, args ...string) bool {
	child := exec.Command(os.Args[0], append([]string{asCommand, part}, args...)...)
	child.Stdout, child.SysProcAttr = os.Stdout, attr
	return child.Start() == nil
}

// envLeaf is what a leaf prints before its line.
const envLeaf = "ZKRECIPES_TEST_LEAF"

// leaves is how many of its processes each "tree" has; all say so.
const leaves = 6

// playTree starts processes that leave the command's process group, or its parent, or
// both, and some that do not end at a signal.
func playTree() int {
	ok := startPart(nil, "leaf") &&
		startPart(&syscall.SysProcAttr{Setpgid: true}, "leaf") && // as timeout(1) does
		startPart(&syscall.SysProcAttr{Setsid: true}, "leaf", "TERM", "INT") &&
		startPart(nil, "starter", "leaf") && // which has no parent then
		startPart(&syscall.SysProcAttr{Setsid: true}, "starter", "leaf") && // a daemon
		startPart(&syscall.SysProcAttr{Setsid: true}, "starter", "leaf", "TERM", "INT")
	if !ok {
		return 1
	}
	select {}
}

// playStarter starts another process, and does not wait for it.
func playStarter(args []string) int {
	if !startPart(nil, args[0], args[1:]...) {
		return 1
	}
	return 0
}

func TestFindCommand(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("no program"), 0o600))
	for _, test := range []struct {
		name string
		code int
	}{
		{os.Args[0], 0},
		{"no-such-command-anywhere", exitNotFound},
		{filepath.Join(dir, "missing"), exitNotFound},
		{plain, exitCannotRun},
		{dir, exitCannotRun},
	} {
		_, err := findCommand(test.name)
		require.Equal(t, test.code, exitCode(err, exitConflict), test.name)
		if test.code != 0 {
			require.ErrorContains(t, err, strconv.Quote(test.name))
		}
	}
}

func TestCommandIsLookedUpBeforeConnecting(t *testing.T) {
	// No server listens there: a run that connected first would end with 69.
	env := []string{envServers + "=127.0.0.1:1"}
	code, _, stderr := invoke(t, env, "run", "--lock", "/l", "--timeout", "1h", "--", "no-such-command-anywhere")
	require.Equal(t, exitNotFound, code)
	require.Contains(t, stderr, `cannot run "no-such-command-anywhere"`)
}

func TestEnding(t *testing.T) {
	require.Equal(t, 7, ending{code: 7}.exitCode())
	require.Equal(t, "exit code 7", ending{code: 7}.String())
	require.Equal(t, 143, ending{signal: syscall.SIGTERM}.exitCode())
	require.Contains(t, ending{signal: syscall.SIGTERM}.String(), "killed by signal 15")
}

// A blockedWriter is a terminal after Ctrl-S.
type blockedWriter struct{ release chan struct{} }

func (w blockedWriter) Write(p []byte) (int, error) {
	<-w.release
	return len(p), nil
}

func TestReportsNeverBlock(t *testing.T) {
	t.Parallel()
	w := blockedWriter{make(chan struct{})}
	r := newReporter(w, "/l", false, false)
	for range 2 * reportBacklog {
		r.warn(event{Event: "lost"}, "lost")
	}
	r.close() // gives up after a while
	close(w.release)
	<-r.done
}
