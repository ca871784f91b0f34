//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// watchSignals catches the signals that end a wait or go to the command.
//
// HUP and INT, if ignored when zkrecipes was started, as HUP is under nohup, stay
// ignored. A broken pipe, such as a log reader that has ended, must not kill zkrecipes
// and with it the command, so its signal is caught; if it were ignored, the command
// would inherit that.
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

// watchStops catches the signals of job control. Before a command runs they keep their
// usual effect.
func watchStops(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP, syscall.SIGCONT) }

// unwatchStops restores that effect.
func unwatchStops() { signal.Reset(syscall.SIGTSTP, syscall.SIGCONT) }

// endsPrograms reports whether a signal is the usual way to end a program. HUP is not:
// it makes many programs read their configuration again.
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

// A process is a command with all processes that it has started, and its guardian.
type process struct {
	*tree
	guardian      int           // the guardian's number
	guardianEnded chan struct{} // closed when the guardian has ended
	control       *os.File      // carries the order; its end notifies the guardian that we have ended
	notices       *os.File
	foreign       map[processID]bool // children of ours that are no part of it
	events        chan processEvent
}

// checkSystem returns why no command can be run under a lock here: nil, it can.
func checkSystem(string) error { return nil }

// startProcess starts a command on the standard streams of this program. The last event
// says that all processes of the command have ended. If ctx, the lease's, ends before
// the command is known to run, the command is not started, or killed.
func startProcess(ctx context.Context, path string, argv []string, env environ, streams [3]*os.File, namespace bool) (*process, error) {
	p := &process{guardianEnded: make(chan struct{}), events: make(chan processEvent, 1)}
	if err := p.startGuardian(env, streams, namespace); err != nil {
		return nil, &commandError{name: argv[0], code: exitCannotRun, err: fmt.Errorf("starting its guardian process: %w", err)}
	}
	todo := order{File: []byte(path), Namespace: namespace, Args: make([][]byte, len(argv))}
	for i, arg := range argv {
		todo.Args[i] = []byte(arg)
	}
	answers := json.NewDecoder(p.notices)
	first, err := p.sendOrder(ctx, answers, todo)
	if err != nil && p.takeOver() {
		go p.follow(answers)
		return p, nil
	}
	if err != nil || first.PID == 0 {
		return nil, p.notStarted(ctx, argv[0], first)
	}
	command := processID{pid: first.PID, started: first.Started}
	if namespace {
		command = findCommandIn(p.guardian, command)
	}
	p.tree = newTree(p.guardian, command)
	go p.follow(answers)
	return p, nil
}

// sendOrder gives the guardian its order and returns the answer. A guardian takes a
// while to start, so the lease is checked again then; and until the guardian answers,
// the end of the lease closes the pipe, as our own end would.
func (p *process) sendOrder(ctx context.Context, answers *json.Decoder, todo order) (answer notice, err error) {
	stop := context.AfterFunc(ctx, func() { p.control.Close() })
	defer stop()
	if err := answers.Decode(&answer); err != nil {
		return answer, err
	}
	if err := context.Cause(ctx); err != nil {
		return answer, err
	}
	if err := json.NewEncoder(p.control).Encode(todo); err != nil {
		return answer, err
	}
	err = answers.Decode(&answer)
	if err == nil && !stop() {
		err = context.Cause(ctx)
	}
	return answer, err
}

// takeOver reports whether a guardian that has ended without an answer has started
// something, and makes that ours.
func (p *process) takeOver() bool {
	p.control.Close()
	<-p.guardianEnded
	p.tree = newTree(os.Getpid(), processID{})
	p.moveTo(os.Getpid(), p.foreign)
	return !p.allGone()
}

// notStarted returns why the lease is over, or the guardian's error, or that the
// guardian has ended.
func (p *process) notStarted(ctx context.Context, name string, answers notice) error {
	p.control.Close() // kills what was started nevertheless
	<-p.guardianEnded
	p.notices.Close()
	if over := context.Cause(ctx); over != nil {
		return fmt.Errorf("the command was not started, or killed as it started: %w", over)
	}
	reason := &commandError{name: name, code: exitCannotRun, err: errGuardianEnded}
	switch {
	case answers.Why != "":
		reason.err = errors.New(answers.Why)
	case answers.Failed != 0:
		reason.err = answers.Failed
	}
	if errors.Is(reason.err, fs.ErrNotExist) {
		reason.code = exitNotFound
	}
	return reason
}

// startGuardian starts the guardian.
func (p *process) startGuardian(env environ, streams [3]*os.File, namespace bool) error {
	program, err := ownProgram()
	if err != nil {
		return err
	}
	if err := adoptOrphans(); err != nil {
		return err
	}
	read, control, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	notices, notify, err := os.Pipe()
	if err != nil {
		control.Close()
		return err
	}
	defer notify.Close()
	p.control, p.notices, p.foreign = control, notices, foreignNow()
	argv := []string{guardianName, strconv.Itoa(int(read.Fd())), strconv.Itoa(int(notify.Fd()))}
	attr := &syscall.ProcAttr{Env: env, Files: passedOn(streams, read.Fd(), notify.Fd()), Sys: guardianAttributes(namespace)}
	started := make(chan error)
	go p.watch(started, func() (int, error) { return syscall.ForkExec(program, argv, attr) })
	if err := <-started; err != nil {
		control.Close()
		notices.Close()
		return err
	}
	return nil
}

// watch starts the guardian, keeps it running, and waits for its end, all on one
// thread: the kernel sends the signal of our death when the thread ends that started
// the guardian.
func (p *process) watch(started chan<- error, start func() (int, error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.guardianEnded)
	// The command must be stopped when it wants the terminal, also where these signals
	// are ignored, as under tmux: a caught signal has its usual effect in a new
	// program. We ourselves must be able to write, and to take the terminal back.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTTIN, syscall.SIGTTOU)
	pid, err := startOwn(start)
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	p.guardian = pid
	started <- err
	if err != nil {
		return
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err == nil && status.Stopped(): // it could not report the end
			_ = syscall.Kill(pid, syscall.SIGCONT)
		default:
			waitedFor(pid)
			return
		}
	}
}

// passedOn lists the files of the guardian: the standard streams, two pipes under the
// numbers that they have here, and the files that we inherited for the command.
func passedOn(streams [3]*os.File, pipes ...uintptr) []uintptr {
	files := make([]uintptr, max(pipes[0], pipes[1])+1)
	for fd := range files {
		files[fd] = uintptr(fd)
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		if errno != 0 || flags&syscall.FD_CLOEXEC != 0 {
			files[fd] = ^uintptr(0) // closed there
		}
	}
	for i, stream := range streams {
		files[i] = stream.Fd()
	}
	for _, pipe := range pipes {
		files[pipe] = pipe
	}
	return files
}

// follow turns the guardian's notices into events.
func (p *process) follow(answers *json.Decoder) {
	last := processEvent{ended: true, end: ending{signal: syscall.SIGKILL}} // by the kernel, if the guardian is killed
	for !last.gone {
		var n notice
		if err := answers.Decode(&n); err != nil {
			break // it has ended
		}
		ev := processEvent{stopped: n.Stopped, ended: n.Ended, gone: n.Gone, end: ending{code: n.Code, signal: n.Signal}}
		switch {
		case n.Gone:
			last = ev
		case n.Ended:
			last = processEvent{}
			fallthrough
		default:
			p.events <- ev
		}
	}
	<-p.guardianEnded
	p.control.Close()
	p.notices.Close()
	if !last.gone {
		p.moveTo(os.Getpid(), p.foreign)
		p.events <- processEvent{unguarded: true}
		for !p.allGone() {
			<-time.After(treePoll)
		}
		last.gone = true
	}
	p.events <- last
}

// Events returns the channel of what happens to the command.
func (p *process) Events() <-chan processEvent { return p.events }

// Signal sends a signal to a part of the tree. It is no error if that part has ended.
func (p *process) Signal(to part, sig syscall.Signal) error { return p.signal(to, sig) }

// Stop stops all processes and returns when they have stopped, or an error if they have
// not in time.
func (p *process) Stop(limit time.Duration) error { return p.halt(limit) }

// Kill kills all processes.
func (p *process) Kill() error { return p.freeze(syscall.SIGKILL) }

// Running names the processes that still run.
func (p *process) Running() []processName { return p.names() }
