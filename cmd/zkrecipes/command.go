package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
)

// findCommand returns the file to execute. It is called before the lock is taken: a
// mistyped name should not wait for it.
func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	if reason := (*exec.Error)(nil); errors.As(err, &reason) {
		err = reason.Err // the name is in our own text
	}
	code := exitCannotRun
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = exitNotFound
	}
	return "", &commandError{name: name, code: code, err: err}
}

// An ending is how a command ended.
type ending struct {
	code   int            // if signal is 0
	signal syscall.Signal // that killed it
}

// exitCode is what a shell would make of it.
func (e ending) exitCode() int {
	if e.signal != 0 {
		return exitSignal + int(e.signal)
	}
	return e.code
}

// String describes it.
func (e ending) String() string {
	if e.signal != 0 {
		return fmt.Sprintf("killed by signal %d (%v)", int(e.signal), e.signal)
	}
	return fmt.Sprintf("exit code %d", e.code)
}

// errGuardianEnded means that a command is no longer looked after as it has to be.
var errGuardianEnded = errors.New("its guardian was killed")

// A processEvent is what happens to a command and to what it has started.
type processEvent struct {
	stopped   syscall.Signal // it was stopped, as by Ctrl-Z
	ended     bool           // it has ended, as end says
	end       ending
	unguarded bool // nobody looks after what it has started any more: that has to be killed
	gone      bool // all of it has ended
}

// A processName is a process as people know it.
type processName struct {
	PID     int    `json:"pid"`
	Name    string `json:"name"`
	stopped bool
}
