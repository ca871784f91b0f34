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

// guardianName is the name of the guardian in lists of processes, and by which it knows
// what it is. It differs from our own so that who kills "zkrecipes" by name, or the
// command by its arguments, does not kill both.
const guardianName = "zkr-guardian"

// A guardian is a small process of this same program between zkrecipes and its command:
//
//	zkrecipes --- guardian --- command --- whatever it starts
//
// It starts the command, tells zkrecipes what becomes of it, and adopts those whose
// parents have ended (orphans_linux.go). So it knows without asking when nothing is
// left. It holds the reading end of a pipe whose other end only zkrecipes has: when
// zkrecipes is gone, for whatever reason, that says so, and the guardian kills all
// there is.
//
// If the guardian is killed instead the kernel kills the command, zkrecipes adopts the
// rest, and kills it.
type guardian struct {
	notices *json.Encoder
	tree    *tree
}

// An order is what zkrecipes asks of the guardian, as one line of JSON.
type order struct {
	File      []byte // bytes, for they need not be UTF-8
	Args      [][]byte
	Namespace bool // the guardian is the first process of a PID namespace
}

// A notice is what the guardian tells, as one line of JSON each. The first, an empty
// one, says that it is there, the second whether the command was started.
type notice struct {
	PID     int            `json:",omitempty"` // it was
	Started uint64         `json:",omitempty"`
	Failed  syscall.Errno  `json:",omitempty"` // it was not; if Why is not empty, for that reason
	Why     string         `json:",omitempty"`
	Stopped syscall.Signal `json:",omitempty"` // it was stopped
	Ended   bool           `json:",omitempty"` // it has ended, as Code and Signal say
	Code    int            `json:",omitempty"`
	Signal  syscall.Signal `json:",omitempty"`
	Gone    bool           `json:",omitempty"` // and so has all that it has started
}

// guard is the guardian from its start to its end; it returns the exit code. The two
// arguments are the numbers of its pipes.
func guard(args []string) int {
	runtime.LockOSThread() // the command gets the death signal when this thread ends
	control, notices, err := guardianPipes(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v: it is started by zkrecipes only\n", guardianName, err)
		return exitUsage
	}
	// It is to be there until the last, whoever is told to end. Caught signals have
	// their usual effect in the command again, ignored ones stay ignored.
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
	if len(todo.Args) == 0 { // that was all to be found out
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

// start starts the command, and tells whether it did.
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

// maxOrder bounds an order, which has the size of a command line. The systems allow
// less.
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

// tell fails when zkrecipes has ended, and then another hears of that.
func (g *guardian) notify(n notice) { _ = g.notices.Encode(n) }

// killAllAfter waits for the end of zkrecipes, and leaves nothing behind. It returns
// with the process.
func (g *guardian) killAllAfter(control io.Reader) {
	_, _ = io.Copy(io.Discard, control)
	for ; ; <-time.After(treePoll) {
		_ = g.tree.freeze(syscall.SIGKILL)
	}
}

// wait tells what becomes of the command, and returns when nothing of it is left.
func (g *guardian) wait(command int) {
	var end *notice // that was not told yet
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
		case err != nil: // there is nobody to wait for
			g.awaitRemaining(end)
			return
		case pid == 0: // not now: there is more than the command
			g.notify(*end)
			end = nil
		case status.Stopped():
			if pid == command || ended {
				g.notify(notice{Stopped: status.StopSignal()})
			}
		case pid == command && !ended: // later another may have that number
			ended, end = true, &notice{Ended: true, Code: status.ExitStatus()}
			if status.Signaled() {
				end.Code, end.Signal = 0, status.Signal()
			}
		}
	}
}

// awaitRest tells that all has ended when that is so of those too that are not our
// children. end is what was not told yet.
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
