package servers

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Server is one running server.
type Server struct {
	Addr  string // for clients
	pid   int
	close func() error

	family bool // each connection has a process of its own
}

// At returns a server that others start and stop.
func At(addr string) *Server {
	return &Server{Addr: addr, pid: os.Getpid(), close: func() error { return nil }}
}

// Close ends the server and removes its data.
func (s *Server) Close() error { return s.close() }

// CPU returns the processor time that the server has taken.
func (s *Server) CPU() time.Duration {
	sum := CPU(s.pid)
	if s.family && sum > 0 {
		for _, pid := range children(s.pid) {
			sum += CPU(pid)
		}
	}
	return sum
}

// Alive tells whether the server still runs.
func (s *Server) Alive() bool { return s.CPU() > 0 }

// CPU returns the processor time that a process has taken, 0 if it has ended.
func CPU(pid int) time.Duration {
	var t unix.Timespec
	const wholeProcess = 2 // CPUCLOCK_SCHED
	if err := unix.ClockGettime(int32(^pid)<<3|wholeProcess, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// Launch starts a command that dies with this process. Its goroutine keeps to one
// thread, because the system kills the command when the thread that started it ends.
func Launch(command *exec.Cmd) (ended <-chan struct{}, err error) {
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	started, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait()
		}
		close(done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	return done, nil
}

// find returns a program, or says how to get it.
func find(name, packages string) (string, error) {
	for _, candidate := range []string{name, "/usr/bin/" + name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: .ci/install-peers installs it, or on Debian and Ubuntu "+
		"apt-get install --no-install-recommends %s; -systems chooses what can do without", name, packages)
}

// run starts a server with a folder of its own, and waits until it is ready.
func run(command *exec.Cmd, addr, dir string, ready func() error) (*Server, error) {
	log, err := os.Create(dir + "/server.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command.Stdout, command.Stderr, command.Dir = log, log, dir
	ended, err := Launch(command)
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: addr, pid: command.Process.Pid}
	s.close = func() error {
		_ = command.Process.Signal(command.SysProcAttr.Pdeathsig)
		<-ended
		return os.RemoveAll(dir)
	}
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err = ready(); err == nil {
			return s, nil
		}
		if time.Since(start) > 30*time.Second {
			text, _ := os.ReadFile(log.Name())
			_ = s.close()
			return nil, fmt.Errorf("%s does not serve: %w\n%s", command.Path, err, text)
		}
	}
}
