//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"os"
	"syscall"
)

// commandAttributes puts the command into a process group of its own. These systems do
// not all have a death signal: if the guardian is killed zkrecipes kills the command.
func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func guardianAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ownProgram returns the file that this process runs.
func ownProgram() (string, error) { return os.Executable() }

func becomeGuardian(bool) error { return nil }

var errNoNamespace = errors.New("--pid-namespace is for Linux only")

// checkNamespace tells why there can be no PID namespace.
func checkNamespace(environ) error { return errNoNamespace }

// nobodyElse reports whether a guardian that has no children left has nothing left:
// orphans of its group are children of others.
func nothingLeft(t *tree) bool { return t.groupGone() }

// procTrouble tells of nothing: what can be known of processes is known.
func procTrouble() error { return nil }

// Orphans are not ours here.

func adoptOrphans() error { return nil }

func reapOrphans() {}

func reapNow() {}

func foreignNow() map[processID]bool { return nil }

func startOwn(start func() (pid int, err error)) (int, error) { return start() }

func waitedFor(int) {}

func findCommandIn(_ int, command processID) processID { return command }

// continuable reports whether a shell with job control could continue this program once
// it is stopped. Only the parent can be asked about here.
func continuable() bool {
	group, err := syscall.Getpgid(syscall.Getppid())
	return err == nil && group != syscall.Getpgrp()
}
