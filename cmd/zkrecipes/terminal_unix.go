//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
	"unsafe"
)

const (
	signalContinue = syscall.SIGCONT
	signalStop     = syscall.SIGTSTP
	signalRead     = syscall.SIGTTIN
)

// terminal is the controlling terminal. It belongs to one process group at a time, at
// first to that of zkrecipes and the rest of its pipeline. The kernel stops a command
// that uses it; then zkrecipes lends it to the command.
//
// To the shell, zkrecipes and the command must look like one process: when Ctrl-Z stops
// the command, zkrecipes stops; when the shell continues zkrecipes, it continues the
// command, unless the lock was lost meanwhile.
type terminal struct {
	fd    int
	own   int // our process group
	group *process
	lent  bool // the command's process group has wanted it

	signals chan<- os.Signal // gets the signals of job control
}

// lendTerminal returns nil if there is no controlling terminal.
func lendTerminal(group *process, signals chan<- os.Signal) terminalLender {
	fd, err := syscall.Open("/dev/tty", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	return &terminal{fd: fd, own: syscall.Getpgrp(), group: group, signals: signals}
}

// commandStopped gives the command the terminal if it was stopped for that, or else
// stops zkrecipes with it. Before that it stops all processes of the command: some may
// not obey Ctrl-Z, and a stopped zkrecipes does not watch them. If some cannot be
// stopped, or take longer than limit, it continues the others and returns an error.
func (t *terminal) commandStopped(by syscall.Signal, limit time.Duration) error {
	if wants := by == syscall.SIGTTIN || by == syscall.SIGTTOU; wants && t.foreground() == t.own {
		t.lent = true
		t.setForeground(t.group.group())
		return t.group.Signal(commandGroup, syscall.SIGCONT)
	}
	if !continuable() { // no shell could continue us, so Ctrl-Z has no effect
		return t.group.Signal(everything, syscall.SIGCONT)
	}
	if err := t.group.Stop(limit); err != nil {
		_ = t.group.Signal(everything, syscall.SIGCONT)
		return err
	}
	t.takeBack()
	// Ctrl-Z stops a whole pipeline. We have caught its signal, and Go cannot undo
	// that: the other processes get it, and we get one that cannot be caught.
	signal.Ignore(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
	watchStops(t.signals)
	return nil
}

// resume continues the command after zkrecipes was continued. The command gets the
// terminal back if it had it and the shell has put us into the foreground.
func (t *terminal) resume() {
	if t.lent && t.foreground() == t.own {
		t.setForeground(t.group.group())
	}
	_ = t.group.Signal(everything, syscall.SIGCONT)
}

// reclaim takes the terminal back when the command's process group has ended: otherwise
// the terminal's signals would go nowhere.
func (t *terminal) reclaim() {
	if t.lent && t.group.groupGone() {
		t.takeBack()
		t.lent = false
	}
}

// close takes the terminal back and continues processes that were stopped for using it.
func (t *terminal) close() {
	if t.takeBack() {
		_ = syscall.Kill(0, syscall.SIGCONT)
	}
	_ = syscall.Close(t.fd)
}

func (t *terminal) takeBack() bool {
	lent := t.lent && t.foreground() == t.group.group()
	if lent {
		t.setForeground(t.own)
	}
	return lent
}

// foreground returns the process group that the terminal belongs to, -1 if that is not
// known.
func (t *terminal) foreground() int {
	var group int32
	if t.control(syscall.TIOCGPGRP, &group) != 0 {
		return -1
	}
	return int(group)
}

// inForeground reports whether a file is our controlling terminal, and that belongs to
// our process group.
func inForeground(file *os.File) (yes bool) {
	conn, err := file.SyscallConn()
	if err == nil {
		_ = conn.Control(func(fd uintptr) { yes = (&terminal{fd: int(fd)}).foreground() == syscall.Getpgrp() })
	}
	return yes
}

// setForeground ignores errors: it fails only if the group or the terminal is gone.
func (t *terminal) setForeground(group int) {
	id := int32(group)
	_ = t.control(syscall.TIOCSPGRP, &id)
}

func (t *terminal) control(request uintptr, group *int32) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(t.fd), request, uintptr(unsafe.Pointer(group)))
	return errno
}
