//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Without process groups a command and the processes that it started cannot be ended
// together, so a lock would protect nothing here. "ls" works.

var errNoGroups = errors.New("not supported on this system: it has no unix process groups")

func watchSignals(c chan<- os.Signal) { signal.Notify(c, os.Interrupt) }

func watchStops(chan<- os.Signal) {}

func unwatchStops() {}

func endsPrograms(sig os.Signal) bool { return sig == os.Interrupt }

func endsWait(sig os.Signal) bool { return sig == os.Interrupt }

type process struct{}

func startProcess(_ context.Context, _ string, argv []string, _ environ, _ [3]*os.File, _ bool) (*process, error) {
	return nil, checkSystem(argv[0])
}

func checkProc() error { return nil }

// checkSystem returns why no command can be run under a lock here.
func checkSystem(name string) error {
	return &commandError{name: name, code: exitCannotRun, err: errNoGroups}
}

func checkNamespace(environ) error { return errNoGroups }

func (*process) Events() <-chan processEvent { return nil }

func (*process) Signal(part, syscall.Signal) error { return errNoGroups }

func (*process) Kill() error { return errNoGroups }

func (*process) Running() []processName { return nil }

// lendTerminal returns nil: there is nothing to lend.
func lendTerminal(*process, chan<- os.Signal) terminalLender { return nil }

func inForeground(*os.File) bool { return false }

// These signals do not exist here.
const (
	signalContinue = syscall.Signal(-1)
	signalStop     = syscall.Signal(-2)
	signalRead     = syscall.Signal(-3)
)

func reapOrphans() {}

const guardianName = "zkr-guardian"

func guard([]string) int { return exitUsage }
