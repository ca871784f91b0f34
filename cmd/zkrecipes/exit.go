package main

import (
	"errors"
	"flag"
	"fmt"
	"syscall"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
)

// Exit codes. Those from 64 to 77 lie in the range of sysexits.h, which commands rarely
// use; those from 126 are what shells use. The command's own code is passed on as it
// is.
const (
	exitNoContender = 1  // the answer is no: "revoke" found no such client, or was not confirmed; "ls --quiet" no client at all
	exitUsage       = 64 // wrong flags or arguments
	exitUnavailable = 69 // no server could be used
	exitConflict    = 75 // not acquired, or not handed over, in time; --conflict-exit-code changes it
	exitLost        = 76 // the lock was lost while the command ran
	exitNoPerm      = 77 // credentials refused, not permitted, or not protecting the path
	exitCannotRun   = 126
	exitNotFound    = 127
	exitSignal      = 128 // plus the signal's number
)

// A usageError is a mistake on the command line.
type usageError struct{ text string }

// Error says what the mistake is.
func (e *usageError) Error() string { return e.text }

func usageErrorf(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// A signalError means that a signal interrupted a wait.
type signalError struct{ signal syscall.Signal }

// Error names the signal.
func (e *signalError) Error() string {
	return fmt.Sprintf("interrupted by signal %d (%v) while waiting", int(e.signal), e.signal)
}

// A commandError means that the command cannot be started.
type commandError struct {
	name string
	code int // exitCannotRun or exitNotFound
	err  error
}

// Error says which command, and why.
func (e *commandError) Error() string { return fmt.Sprintf("cannot run %q: %v", e.name, e.err) }

// Unwrap returns the reason.
func (e *commandError) Unwrap() error { return e.err }

// Causes of failures, in JSON.
const (
	causeUsage       = "usage"
	causeHeld        = "held"        // by another client
	causeClosed      = "closed"      // by a lock-delay
	causeUnreachable = "unreachable" // no server answers
	causeDenied      = "denied"
	causeSignal      = "signal"
	causeCommand     = "command" // cannot be started
	causeLost        = "lost"    // before the command was started
	causeNoContender = "nobody"  // for "revoke" to ask
	causeOther       = "other"
)

// exitCode returns the exit code for an error. conflict is the one for "another client
// holds the lock".
func exitCode(err error, conflict int) int {
	_, code := classify(err, conflict)
	return code
}

// classify returns the cause and the exit code for an error.
func classify(err error, conflict int) (cause string, code int) {
	var (
		usage   *usageError
		signal  *signalError
		command *commandError
		open    *openPathError
	)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return "", 0
	case errors.Is(err, errNoContender), errors.Is(err, errNotTaken), errors.Is(err, errFree):
		return causeNoContender, exitNoContender
	case errors.As(err, &usage):
		return causeUsage, exitUsage
	case errors.As(err, &signal):
		return causeSignal, exitSignal + int(signal.signal)
	case errors.As(err, &command):
		return causeCommand, command.code
	case certificateRefused(err), errors.Is(err, framework.ErrAuthFailed): // also while it waits for another session
		return causeDenied, exitNoPerm
	case noAnswer(err):
		return causeUnreachable, exitUnavailable
	case isClosed(err):
		return causeClosed, conflict
	case errors.Is(err, lease.ErrTimeout), errors.Is(err, errNotNext),
		errors.Is(err, leader.ErrNotPassed), errors.Is(err, lease.ErrCuratorBehind):
		return causeHeld, conflict
	case errors.Is(err, lease.ErrLost):
		return causeLost, exitLost
	case errors.As(err, &open), errors.Is(err, framework.ErrNoAuth):
		return causeDenied, exitNoPerm
	case errors.Is(err, framework.ErrInvalidArgument), errors.Is(err, framework.ErrInvalidPath),
		errors.Is(err, once.ErrForgotten), errors.Is(err, once.ErrTooManyRecords),
		errors.Is(err, semaphore.ErrSizeMismatch), errors.Is(err, semaphore.ErrNoSize), errors.Is(err, striped.ErrSizeMismatch), errors.Is(err, lease.ErrOtherRecipe),
		errors.Is(err, lease.ErrForeignData), errors.Is(err, lease.ErrLockDelayMismatch):
		return causeUsage, exitUsage
	}
	return causeOther, exitUnavailable
}

// reportFailure reports why the command did not run, and returns the exit code.
func (j *job) reportFailure(err error, conflict int) (code int) {
	e := event{Event: "failed", Reason: j.withOrigins(err), ExitCode: &code}
	e.Cause, code = classify(err, conflict)
	if timeout := (*lease.TimeoutError)(nil); errors.As(err, &timeout) {
		e.Ahead, e.Holder = max(timeout.Ahead, 0), newHolderJSON(timeout.Holder)
		if e.Ahead > 0 || e.Cause == causeClosed {
			e.Contended = []string{j.given(timeout.Path)}
		}
	}
	if e.Cause == causeClosed {
		e.LockDelay, e.Holder = j.lockDelay.value.Seconds(), nil
	}
	if closed := (*closedError)(nil); errors.As(err, &closed) {
		e.Holder = newHolderJSON(closed.ended[0].Holder)
	}
	text := j.notBegun() + ": " + e.Reason
	switch e.Cause {
	case causeUsage, causeCommand, causeLost: // the reason says so itself
		text = e.Reason
	}
	j.report.warn(e, "%s", text)
	return code
}
