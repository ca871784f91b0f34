//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Without process groups a command and what it started cannot be ended together,
// and so a lock would protect nothing here. "ls" works.

var errNoGroups = errors.New("not supported on this system: it has no unix process groups")

func watchSignals(c chan<- os.Signal) { signal.Notify(c, os.Interrupt) }

func watchStops(chan<- os.Signal) {}

func unwatchStops() {}

func endsPrograms(sig os.Signal) bool { return sig == os.Interrupt }

func endsWait(sig os.Signal) bool { return sig == os.Interrupt }

type process struct{}

func startProcess(_ string, argv []string, _ environ, _ [3]*os.File) (*process, error) {
	return nil, &commandError{name: argv[0], code: exitCannotRun, err: errNoGroups}
}

func (*process) Events() <-chan processEvent { return nil }

func (*process) Signal(syscall.Signal) error { return errNoGroups }

func (*process) Alive() bool { return false }

// lendTerminal returns nil: there is nothing to lend.
func lendTerminal(*process, chan<- os.Signal) terminalLender { return nil }

const signalContinue = syscall.Signal(-1) // there is none
