package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
)

// findCommand returns the file to execute. It is called before the lock is taken, so
// that a mistyped name fails at once.
func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	if reason := (*exec.Error)(nil); errors.As(err, &reason) {
		err = reason.Err // the name is in our text already
	}
	code := exitCannotRun
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		code = exitNotFound
	}
	return "", &commandError{name: name, code: code, err: err}
}

// An ending is how a command ended.
type ending struct {
	code   int            // the exit code, if signal is 0
	signal syscall.Signal // the signal that killed it
}

// exitCode returns the exit code as a shell reports it.
func (e ending) exitCode() int {
	if e.signal != 0 {
		return exitSignal + int(e.signal)
	}
	return e.code
}

// String describes how the command ended.
func (e ending) String() string {
	if e.signal != 0 {
		return fmt.Sprintf("killed by signal %d (%v)", int(e.signal), e.signal)
	}
	return fmt.Sprintf("exit code %d", e.code)
}

// errGuardianEnded means that the guardian can no longer kill the command.
var errGuardianEnded = errors.New("its guardian process was killed")

// A processEvent is what happens to a command and to the processes that it has started.
type processEvent struct {
	stopped   syscall.Signal // the command was stopped, as by Ctrl-Z
	ended     bool           // the command has ended; end says how
	end       ending
	unguarded bool // the guardian has ended: what the command has started must be killed
	gone      bool // all processes of the command have ended
}

// A processName is a process as people know it: by number and name.
type processName struct {
	PID     int    `json:"pid"`
	Name    string `json:"name"`
	stopped bool
}
