//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// guardianName is the guardian's name in lists of processes; the program reads from it
// that it is the guardian. It differs from ours, so that killing "zkrecipes" by name,
// or the command by its arguments, does not kill both.
const guardianName = "zkr-guardian"

// A guardian is a small process of this same program between zkrecipes and its command:
//
//	zkrecipes --- guardian --- command --- what the command starts
//
// It starts the command, reports to zkrecipes what happens to it, and adopts processes
// whose parents have ended (orphans_linux.go). So the kernel notifies it when all have
// ended. It reads a pipe whose other end only zkrecipes has: the pipe ends with
// zkrecipes, for whatever reason, and then the guardian kills all processes.
//
// If the guardian is killed instead, the kernel kills the command, and zkrecipes adopts
// the other processes and kills them.
type guardian struct {
	notices *json.Encoder
	tree    *tree
}

// An order is what the guardian is to start, as one line of JSON.
type order struct {
	File      []byte // bytes, because they need not be UTF-8
	Args      [][]byte
	Namespace bool // the guardian is the first process of a PID namespace
}

// A notice is what the guardian reports, one line of JSON each. The first, an empty
// one, says that the guardian runs, the second whether the command was started.
type notice struct {
	PID     int            `json:",omitempty"` // the command was started
	Started uint64         `json:",omitempty"`
	Failed  syscall.Errno  `json:",omitempty"` // it was not; Why says more, if it is not empty
	Why     string         `json:",omitempty"`
	Stopped syscall.Signal `json:",omitempty"` // the command was stopped
	Ended   bool           `json:",omitempty"` // the command has ended; Code and Signal say how
	Code    int            `json:",omitempty"`
	Signal  syscall.Signal `json:",omitempty"`
	Gone    bool           `json:",omitempty"` // all processes of the command have ended
}

// guard runs the guardian and returns its exit code. The two arguments are the numbers
// of its pipes.
func guard(args []string) int {
	runtime.LockOSThread() // the command gets the death signal when this thread ends
	control, notices, err := guardianPipes(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v: only zkrecipes can start it\n", guardianName, err)
		return exitUsage
	}
	// No signal may end it before the last process of the command. Signals that are
	// caught here have their usual effect in the command; ignored ones stay ignored.
	caught := make(chan os.Signal, 1)
	watchSignals(caught)
	signal.Notify(caught, syscall.SIGTTIN, syscall.SIGTTOU)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(caught, syscall.SIGTSTP)
	}
	g := &guardian{notices: json.NewEncoder(notices)}
	g.notify(notice{})
	var todo order
	if err := json.NewDecoder(io.LimitReader(control, maxOrder)).Decode(&todo); err != nil {
		return exitUsage // zkrecipes has ended
	}
	if err := becomeGuardian(todo.Namespace); err != nil {
		g.notify(notice{Failed: syscall.EPERM, Why: err.Error()})
		return exitCannotRun
	}
	if len(todo.Args) == 0 { // only to check that it works
		g.notify(notice{})
		return 0
	}
	pid, ok := g.start(todo)
	if !ok {
		return exitCannotRun
	}
	go g.killAllAfter(control)
	g.wait(pid)
	return 0
}

// start starts the command, and reports whether it did.
func (g *guardian) start(todo order) (pid int, ok bool) {
	argv := make([]string, len(todo.Args))
	for i, arg := range todo.Args {
		argv[i] = string(arg)
	}
	pid, err := syscall.ForkExec(string(todo.File), argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: commandAttributes(),
	})
	if err != nil {
		failed := notice{Failed: syscall.EINVAL, Why: err.Error()}
		if errors.As(err, &failed.Failed) {
			failed.Why = ""
		}
		g.notify(failed)
		return 0, false
	}
	command := identify(pid)
	g.tree = newTree(os.Getpid(), command)
	g.notify(notice{PID: pid, Started: command.started})
	return pid, true
}

// maxOrder bounds an order, which is as long as a command line. Systems allow less.
const maxOrder = 64 << 20

func guardianPipes(args []string) (control, notices *os.File, err error) {
	files := make([]*os.File, 2)
	for i := range files {
		if len(args) != len(files) {
			return nil, nil, errors.New("wrong arguments")
		}
		fd, err := strconv.Atoi(args[i])
		if err != nil {
			return nil, nil, err
		}
		var stat syscall.Stat_t
		if err := syscall.Fstat(fd, &stat); err != nil || stat.Mode&syscall.S_IFMT != syscall.S_IFIFO {
			return nil, nil, fmt.Errorf("file %d is not a pipe", fd)
		}
		syscall.CloseOnExec(fd) // not for the command
		files[i] = os.NewFile(uintptr(fd), "pipe")
	}
	return files[0], files[1], nil
}

// notify sends a notice. It fails if zkrecipes has ended, which killAllAfter notices.
func (g *guardian) notify(n notice) { _ = g.notices.Encode(n) }

// killAllAfter waits for the end of zkrecipes, and then kills all processes until this
// process ends too.
func (g *guardian) killAllAfter(control io.Reader) {
	_, _ = io.Copy(io.Discard, control)
	for ; ; <-time.After(treePoll) {
		_ = g.tree.freeze(syscall.SIGKILL)
	}
}

// wait reports what happens to the command, and returns when all its processes have
// ended.
func (g *guardian) wait(command int) {
	var end *notice // not sent yet
	ended := false
	for {
		options := syscall.WUNTRACED
		if end != nil {
			options |= syscall.WNOHANG
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // no children are left
			g.awaitRemaining(end)
			return
		case pid == 0: // not now: there is more than the command
			g.notify(*end)
			end = nil
		case status.Stopped():
			if pid == command || ended {
				g.notify(notice{Stopped: status.StopSignal()})
			}
		case pid == command && !ended: // later another process may have that number
			ended, end = true, &notice{Ended: true, Code: status.ExitStatus()}
			if status.Signaled() {
				end.Code, end.Signal = 0, status.Signal()
			}
		}
	}
}

// awaitRemaining reports the end of all processes when those have ended too that are
// not our children. end is a notice that was not sent yet.
func (g *guardian) awaitRemaining(end *notice) {
	last := notice{Gone: true}
	if end != nil {
		last.Ended, last.Code, last.Signal = true, end.Code, end.Signal
	}
	for ; !nothingLeft(g.tree); <-time.After(treePoll) {
		if last.Ended {
			g.notify(*end)
			last = notice{Gone: true}
		}
	}
	g.notify(last)
}
