package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// openTerminal returns the two sides of a new pseudo terminal: what a person
// sits at, and what programs use.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { person.Close() })
	raw, err := person.SyscallConn()
	require.NoError(t, err)
	var number, unlock uint32
	require.NoError(t, raw.Control(func(fd uintptr) {
		for request, value := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
			_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(value)))
			require.Zero(t, errno)
		}
	}))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return person, program
}

// The command can read from the terminal although it is in a process group of
// its own; Ctrl-C reaches it; and Ctrl-Z, where no shell could continue it, does
// not stop it for ever.
func TestTerminalIsLentToTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	person, program := openTerminal(t)
	args := flagsFor(command("reader"), "--lock", testLock, "--quiet")
	wrapper := exec.Command(os.Args[0], args...)
	wrapper.Env = append(os.Environ(), envProgram+"=1", envServers+"="+server.Addr(), "GORACE=atexit_sleep_ms=0")
	wrapper.Stdin, wrapper.Stdout, wrapper.Stderr = program, program, program
	wrapper.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, startUnignored(wrapper))
	program.Close()
	defer time.AfterFunc(patience, func() { _ = wrapper.Process.Kill() }).Stop()

	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(person); in.Scan(); {
			lines <- strings.TrimSpace(in.Text())
		}
	}()
	expect := func(want string) {
		t.Helper()
		for deadline := time.After(patience); ; {
			select {
			case line, ok := <-lines:
				require.True(t, ok, "no line %q", want)
				if line == want { // among what the terminal echoes
					return
				}
			case <-deadline:
				require.Fail(t, "no line", "%q", want)
			}
		}
	}
	typed := func(keys string) {
		_, err := person.WriteString(keys)
		require.NoError(t, err)
	}
	expect("ready")
	typed("one\n")
	expect("read one")
	typed("\x1a") // Ctrl-Z
	typed("two\n")
	expect("read two")
	typed("\x03") // Ctrl-C
	err := wrapper.Wait()
	require.ErrorContains(t, err, "exit status 130")
	for range lines { // until nobody has the terminal any more
	}
	require.Empty(t, server.Children(testLock))
}
