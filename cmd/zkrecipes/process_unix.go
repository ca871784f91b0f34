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

// watchSignals passes on the signals that end a wait or go to the command.
//
// HUP and INT, if ignored when zkrecipes was started, as under nohup, stay ignored. A
// broken pipe, such as a log reader that has gone, must not kill zkrecipes and the
// command with it, so its signal is caught; it cannot be ignored, because the command
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

// watchStops passes on the signals of job control. They keep their usual effect until
// there is a command to pass them to.
func watchStops(c chan<- os.Signal) { signal.Notify(c, syscall.SIGTSTP, syscall.SIGCONT) }

// unwatchStops gives them that effect again.
func unwatchStops() { signal.Reset(syscall.SIGTSTP, syscall.SIGCONT) }

// endsPrograms reports whether a signal is the usual way to end a program. Many take
// HUP as the word to read their configuration again.
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

// A process is a command with all that it has started, under the eyes of a guardian.
type process struct {
	*tree
	guardian      int           // its number
	guardianEnded chan struct{} // closed when the guardian has ended
	control       *os.File      // the guardian's word that we are there: it ends with us
	notices       *os.File
	foreign       map[processID]bool // children of ours that have nothing to do with it
	events        chan processEvent
}

// checkSystem tells why no command can be run under a lock here. It can.
func checkSystem(string) error { return nil }

// startProcess starts a command on the standard streams of this program. The last event
// says that the command and all that it has started have ended. If ctx, which is that
// of the lease, ends before the command is known to run, it is not started, or killed.
func startProcess(ctx context.Context, path string, argv []string, env environ, streams [3]*os.File, namespace bool) (*process, error) {
	p := &process{guardianEnded: make(chan struct{}), events: make(chan processEvent, 1)}
	if err := p.startGuardian(env, streams, namespace); err != nil {
		return nil, &commandError{name: argv[0], code: exitCannotRun, err: fmt.Errorf("its guardian: %w", err)}
	}
	todo := order{File: []byte(path), Namespace: namespace, Args: make([][]byte, len(argv))}
	for i, arg := range argv {
		todo.Args[i] = []byte(arg)
	}
	answers := json.NewDecoder(p.notices)
	first, err := p.ask(ctx, answers, todo)
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

// ask gives the guardian its order and returns its answer. A guardian takes a while to
// start, so the lease is looked at again when it has, and as long as it does not answer
// the end of the lease is for it what our own end would be.
func (p *process) ask(ctx context.Context, answers *json.Decoder, todo order) (answer notice, err error) {
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

// leftBehind reports whether a guardian that has ended without a word has started
// something, which is ours then.
func (p *process) takeOver() bool {
	p.control.Close()
	<-p.guardianEnded
	p.tree = newTree(os.Getpid(), processID{})
	p.moveTo(os.Getpid(), p.foreign)
	return !p.allGone()
}

// notStarted returns the error that the guardian has told of, or that it tells no more,
// or why the lease is over.
func (p *process) notStarted(ctx context.Context, name string, answers notice) error {
	p.control.Close() // what was started all the same is killed
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
	notices, tell, err := os.Pipe()
	if err != nil {
		control.Close()
		return err
	}
	defer tell.Close()
	p.control, p.notices, p.foreign = control, notices, foreignNow()
	argv := []string{guardianName, strconv.Itoa(int(read.Fd())), strconv.Itoa(int(tell.Fd()))}
	attr := &syscall.ProcAttr{Env: env, Files: passedOn(streams, read.Fd(), tell.Fd()), Sys: guardianAttributes(namespace)}
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
// thread: the kernel ties the signal that tells of our death to the thread that has
// started it.
func (p *process) watch(started chan<- error, start func() (int, error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.guardianEnded)
	// The command must be stopped when it wants the terminal, also where that is
	// ignored, as it is under tmux: what is caught has its usual effect in a new
	// program. We ourselves must be able to write and to take the terminal back.
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
		case err == nil && status.Stopped(): // by somebody; it could not tell of the end
			_ = syscall.Kill(pid, syscall.SIGCONT)
		default:
			waitedFor(pid)
			return
		}
	}
}

// passedOn lists the files of the guardian: the standard streams, two pipes under the
// numbers that they have here, and whatever we were given to be passed on to the
// command.
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

// follow turns what the guardian tells into events.
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

// Signal sends a signal to a part of the tree. Nobody left to get it is no error.
func (p *process) Signal(to part, sig syscall.Signal) error { return p.signal(to, sig) }

// Stop stops all that there is, and returns when all have stopped, or an error if they
// have not in time.
func (p *process) Stop(limit time.Duration) error { return p.halt(limit) }

// Kill kills all that there is.
func (p *process) Kill() error { return p.freeze(syscall.SIGKILL) }

// Running tells what still runs.
func (p *process) Running() []processName { return p.names() }
