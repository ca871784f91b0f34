//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"os"
	"syscall"
)

// commandAttributes puts the command into a process group of its own. Not all of these
// systems have a death signal: if the guardian is killed, zkrecipes kills the command.
func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func guardianAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ownProgram returns the file that this process runs.
func ownProgram() (string, error) { return os.Executable() }

func becomeGuardian(bool) error { return nil }

var errNoNamespace = errors.New("--pid-namespace is for Linux only")

// checkNamespace returns why there can be no PID namespace.
func checkNamespace(environ) error { return errNoNamespace }

// nothingLeft reports whether all processes have ended for a guardian without children.
// Orphans of the group are not its children.
func nothingLeft(t *tree) bool { return t.groupGone() }

// checkProc returns nil: these systems have no /proc to check.
func checkProc() error { return nil }

// These systems cannot make orphans our children.

func adoptOrphans() error { return nil }

func reapOrphans() {}

func reapNow() {}

func foreignNow() map[processID]bool { return nil }

func startOwn(start func() (pid int, err error)) (int, error) { return start() }

func waitedFor(int) {}

func findCommandIn(_ int, command processID) processID { return command }

// continuable reports whether a shell with job control could continue this program once
// it is stopped. Only the parent can be examined here.
func continuable() bool {
	group, err := syscall.Getpgid(syscall.Getppid())
	return err == nil && group != syscall.Getpgrp()
}
