//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import "syscall"

// commandAttributes puts the command into a process group of its own. These
// systems do not all have a death signal: a command outlives a zkrecipes that
// was killed with SIGKILL.
func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// continuable reports whether a shell with job control could continue this
// program once it is stopped. Only the parent can be asked about here.
func continuable() bool {
	group, err := syscall.Getpgid(syscall.Getppid())
	return err == nil && group != syscall.Getpgrp()
}
