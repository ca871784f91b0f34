package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// openTerminal returns the two sides of a new pseudo terminal: that of the user, and
// that of programs.
func openTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { user.Close() })
	raw, err := user.SyscallConn()
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
	return user, program
}

// A session is what a user types at a terminal, and what is printed there.
type session struct {
	t     *testing.T
	user  *os.File
	lines chan string
	first *exec.Cmd // the program that has the terminal
}

// startAtTerminal starts a program that has a terminal of its own.
func startAtTerminal(t *testing.T, server *zktest.Server, args ...string) *session {
	t.Helper()
	user, program := openTerminal(t)
	s := &session{t: t, user: user, lines: make(chan string, 100), first: exec.Command(os.Args[0], args...)}
	s.first.Env = append(os.Environ(), envProgram+"=1", envServers+"="+server.Addr(), patientSession, "GORACE=atexit_sleep_ms=0")
	s.first.Stdin, s.first.Stdout, s.first.Stderr = program, program, program
	s.first.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, startUnignored(s.first))
	program.Close()
	t.Cleanup(func() { _ = s.first.Process.Kill() })
	go func() {
		defer close(s.lines)
		for in := bufio.NewScanner(user); in.Scan(); {
			s.lines <- strings.TrimSpace(in.Text())
		}
	}()
	return s
}

// expect waits for a line that contains the text, skips what the terminal echoes, and
// returns what follows the text.
func (s *session) expect(want string) string {
	s.t.Helper()
	for deadline := time.After(eventTimeout); ; {
		select {
		case line, ok := <-s.lines:
			require.True(s.t, ok, "no line %q", want)
			if _, rest, found := strings.Cut(line, want); found { // behind what was typed
				return rest
			}
		case <-deadline:
			require.Fail(s.t, "no line", "%q", want)
		}
	}
}

func (s *session) types(keys string) {
	_, err := s.user.WriteString(keys)
	require.NoError(s.t, err)
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

// ended waits until no process has the terminal any more.
func (s *session) ended() {
	for range s.lines {
	}
}

// The command can read from the terminal although it is in a process group of its own;
// Ctrl-C reaches it; and Ctrl-Z does not stop it for ever if no shell could continue
// it.
func TestTerminalIsLentToTheCommand(t *testing.T) {
	server := zktest.NewServer(t)
	s := startAtTerminal(t, server, flagsFor(command("reader"), "--lock", testLock, "--quiet")...)
	s.expect("ready")
	s.types("one\n")
	s.expect("read one")
	s.types(ctrlZ)
	s.types("two\n")
	s.expect("read two")
	s.types(ctrlC)
	require.ErrorContains(t, s.first.Wait(), "exit status 130")
	s.ended()
	require.Empty(t, server.Children(testLock))
}

func init() { playShell = jobControl }

// jobControl does what a shell does: it runs a program in the foreground, prints when
// that has stopped, continues it at a line of input, and prints how it has ended.
func jobControl(args []string) int {
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTSTP, syscall.SIGINT)
	terminal := int(os.Stdin.Fd())
	foreground := func(group int) {
		id := int32(group)
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, uintptr(terminal), syscall.TIOCSPGRP, uintptr(unsafe.Pointer(&id)))
	}
	caught := make(chan os.Signal, 1) // what is caught has its usual effect in the program
	signal.Notify(caught, syscall.SIGTTOU, syscall.SIGTSTP, syscall.SIGINT, syscall.SIGTTIN)
	job, err := syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: terminal},
	})
	if err != nil {
		return 1
	}
	signal.Ignore(syscall.SIGTTOU, syscall.SIGTSTP, syscall.SIGINT, syscall.SIGTTIN)
	in := bufio.NewScanner(os.Stdin)
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(job, &status, syscall.WUNTRACED, nil); err != nil {
			continue
		}
		foreground(syscall.Getpgrp())
		if !status.Stopped() {
			fmt.Println("job exits with", status.ExitStatus())
			return 0
		}
		fmt.Println("job stopped", job)
		if !in.Scan() {
			return 1
		}
		foreground(job)
		_ = syscall.Kill(-job, syscall.SIGCONT)
	}
}

// When the command is stopped, all its processes are stopped before zkrecipes, because
// a stopped zkrecipes watches none: also those that ignore Ctrl-Z, and if only the
// command was stopped. "fg" continues all, or kills all if the lock is lost.
func TestCtrlZStopsAllProcesses(t *testing.T) {
	for name, stop := range map[string]func(s *session, command int){
		"Ctrl-Z": func(s *session, _ int) { s.types(ctrlZ) },
		"the command alone is stopped": func(s *session, command int) {
			require.NoError(s.t, syscall.Kill(command, syscall.SIGSTOP))
		},
	} {
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, lost %v", name, lost), func(t *testing.T) {
				t.Parallel()
				server := zktest.NewServer(t)
				run := flagsFor(command("family"), "--lock", testLock, "--quiet")
				s := startAtTerminal(t, server, append([]string{asShell, os.Args[0]}, run...)...)
				var parent int
				for range 4 { // in any order
					if about := s.expect("family: "); about != "leaf" {
						_, err := fmt.Sscan(about, &parent)
						require.NoError(t, err)
					}
				}
				stop(s, parent)
				var job int
				_, err := fmt.Sscan(s.expect("job stopped "), &job)
				require.NoError(t, err)
				p := &started{t: t, cmd: &exec.Cmd{Process: &os.Process{Pid: job}}}
				require.Len(t, commandsOf(t, p), 4)
				// All have been sent the signal by now; the kernel takes its time to
				// obey.
				until(t, "all are stopped", func() bool {
					return !slices.ContainsFunc(commandsOf(t, p), func(member procStat) bool { return member.state != 'T' })
				})
				if lost {
					require.True(t, server.ExpireSession(server.Sessions()[0].ID))
					s.types("fg\n")
					require.Equal(t, " 76", s.expect("job exits with"))
				} else {
					s.types("fg\n")
					until(t, "all go on", func() bool {
						return !slices.ContainsFunc(commandsOf(t, p), func(member procStat) bool { return member.state == 'T' })
					})
					require.Len(t, server.Children(testLock), 1)
					require.NoError(t, syscall.Kill(guardianOf(t, p), syscall.SIGKILL))
					require.Equal(t, " 137", s.expect("job exits with"))
				}
				require.NoError(t, s.first.Wait())
				s.ended()
			})
		}
	}
}
