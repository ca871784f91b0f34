//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// watchSignals passes on the signals that end a wait or go to the command.
//
// What was ignored when zkrecipes was started stays ignored, as under nohup. A
// broken pipe, such as a log reader that has gone, must not kill zkrecipes and
// the command with it, so its signal is caught; it cannot be ignored, because
// the command would inherit that.
func watchSignals(c chan<- os.Signal) {
	for _, sig := range []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGPIPE,
	} {
		if !signal.Ignored(sig) {
			signal.Notify(c, sig)
		}
	}
}

// watchStops passes on the signals of job control. They keep their usual effect
// until there is a command to pass them to.
func watchStops(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP, syscall.SIGCONT) }

// unwatchStops gives them that effect again.
func unwatchStops() { signal.Reset(syscall.SIGTSTP, syscall.SIGCONT) }

// endsPrograms reports whether a signal is the usual way to end a program. Many
// take HUP as the word to read their configuration again.
func endsPrograms(sig os.Signal) bool {
	return sig == syscall.SIGINT || sig == syscall.SIGTERM || sig == syscall.SIGQUIT
}

// endsWait reports whether a signal ends the wait for a lock.
func endsWait(sig os.Signal) bool {
	switch sig {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		return true
	}
	return false
}

// A process is a command in a process group of its own, which has its id.
type process struct {
	pid    int
	events chan processEvent
}

// startProcess starts a command on the standard streams of this program. Its
// first event is about a stop or its end; the end is the last.
func startProcess(path string, argv []string, env environ, streams [3]*os.File) (*process, error) {
	p := &process{events: make(chan processEvent, 1)}
	started := make(chan error)
	go func() {
		// The command gets the death signal when this thread ends: keep it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		files := make([]uintptr, len(streams))
		for i, f := range streams {
			files[i] = f.Fd()
		}
		// The command must be stopped when it wants the terminal, also where that is
		// ignored, as it is under tmux: what is caught has its usual effect in a new
		// program. We ourselves must be able to write and to take the terminal back.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTTIN, syscall.SIGTTOU)
		pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: env, Files: files, Sys: commandAttributes()})
		signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
		p.pid = pid
		started <- err
		if err == nil {
			p.wait()
		}
	}()
	if err := <-started; err != nil {
		code := exitCannotRun
		if errors.Is(err, fs.ErrNotExist) {
			code = exitNotFound
		}
		return nil, &commandError{name: argv[0], code: code, err: err}
	}
	return p, nil
}

// wait sends the events of the command, until it has ended. Package os would not
// tell of stops.
func (p *process) wait() {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(p.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // cannot be: it is our child, and nobody else waits for it
			p.events <- processEvent{end: ending{code: exitCannotRun}}
			return
		case status.Stopped():
			p.events <- processEvent{stopped: status.StopSignal()}
		case status.Signaled():
			p.events <- processEvent{end: ending{signal: status.Signal()}}
			return
		case status.Exited():
			p.events <- processEvent{end: ending{code: status.ExitStatus()}}
			return
		}
	}
}

// Events returns the channel of what happens to the command.
func (p *process) Events() <-chan processEvent { return p.events }

// Signal sends a signal to all processes of the command's group. A group that is
// gone is no error.
func (p *process) Signal(sig syscall.Signal) error {
	err := syscall.Kill(-p.pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// Alive reports whether any process of the group exists.
func (p *process) Alive() bool { return !errors.Is(syscall.Kill(-p.pid, 0), syscall.ESRCH) }
