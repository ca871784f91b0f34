package ensemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// stopLimit is how long a server may take to stop before it is killed.
const stopLimit = time.Minute

// A process is a Node that is a Java process of this host.
type process struct {
	addr   string
	secure string
	log    string   // file that takes what the server writes
	java   []string // the command and its arguments

	mu  sync.Mutex // held for moments only; never while a child ends
	run *child     // nil before Start, and after Stop or Kill
}

// A child is one run of a process.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended
	err  error         // how; to be read after done
}

func (p *process) Addr() string       { return p.addr }
func (p *process) SecureAddr() string { return p.secure }
func (p *process) Log() string        { return tail(p.log) }
func (p *process) Isolate() error     { return fmt.Errorf("isolate: %w", ErrNotSupported) }
func (p *process) Heal() error        { return fmt.Errorf("heal: %w", ErrNotSupported) }
func (p *process) Resume() error      { return p.signal(syscall.SIGCONT) }

func (p *process) Pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	p.mu.Lock()
	pid := p.run.cmd.Process.Pid
	p.mu.Unlock()
	return awaitStopped(pid)
}

func (p *process) Logged(text string) ([]string, error) {
	log, err := os.ReadFile(filepath.Clean(p.log))
	return containing(string(log), text), err
}

func (p *process) Start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil && !p.run.ended() {
		return nil
	}
	run, err := launch(p.java, p.log)
	if err != nil {
		return err
	}
	p.run = run
	return nil
}

func (p *process) Kill() error {
	run := p.take()
	if run == nil {
		return nil
	}
	return run.kill()
}

func (p *process) Stop() error {
	run := p.take()
	if run == nil {
		return nil
	}
	if err := run.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop: %w", err)
	}
	select {
	case <-run.done:
		return nil
	case <-time.After(stopLimit):
		return errors.Join(fmt.Errorf("server still ran %v after SIGTERM", stopLimit), run.kill())
	}
}

// take returns the present run and clears it: from here on its end is expected.
func (p *process) take() *child {
	p.mu.Lock()
	defer p.mu.Unlock()
	run := p.run
	p.run = nil
	return run
}

func (p *process) signal(s syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return fmt.Errorf("%v: the server does not run", s)
	}
	if err := p.run.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("%v: %w", s, err)
	}
	return nil
}

func (p *process) alive() error {
	p.mu.Lock()
	run := p.run
	p.mu.Unlock()
	if run == nil || !run.ended() {
		return nil
	}
	return fmt.Errorf("ended by itself: %w; the end of its log:\n%s", run.err, tail(p.log))
}

// launch starts a command that writes to the end of the file log. One goroutine per
// child waits for its end; it keeps to one thread, because the system kills the child
// when the thread that started it ends.
func launch(command []string, log string) (*child, error) {
	out, err := os.OpenFile(filepath.Clean(log), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec // the command is the test's own
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = dieWithParent()

	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		_ = out.Close()
		started <- err
		if err != nil {
			return
		}
		c.err = cmd.Wait()
		if c.err == nil {
			c.err = errors.New("exit status 0")
		}
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	return c, nil
}

func (c *child) kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill: %w", err)
	}
	<-c.done
	return nil
}

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
