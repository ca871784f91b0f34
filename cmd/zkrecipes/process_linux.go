package main

import (
	"os"
	"strconv"
	"syscall"
)

// commandAttributes puts the command into a process group of its own, and lets the
// kernel kill it when its guardian is killed.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// guardianAttributes keeps the guardian out of our process group, whose signals are not
// for it. Our death continues a stopped guardian, so that it can kill the command. In a
// namespace of its own it is killed, which kills the command.
func guardianAttributes(namespace bool) *syscall.SysProcAttr {
	if namespace {
		return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGCONT}
}

// ownProgram returns the file that this process runs, even if another file has its name
// by now.
func ownProgram() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// continuable reports whether a shell with job control could continue this program once
// it is stopped: its first ancestor in another process group must belong to the same
// session. The kernel obeys Ctrl-Z under the same condition.
func continuable() bool {
	self, err := readStat("self")
	for p := self; err == nil; {
		p, err = readStat(strconv.Itoa(p.parent))
		switch {
		case p.session != self.session || p.session == 0:
			return false
		case p.group != self.group:
			return true
		}
	}
	return false
}
