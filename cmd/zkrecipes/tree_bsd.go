//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"syscall"
	"time"
)

// A tree is a command with the processes that it has started, as far as these systems
// show them: its process group. Processes that leave the group are not seen.
type tree struct{ id int }

func newTree(_ int, command processID) *tree { return &tree{id: command.pid} }

// identify returns only the number: nothing else distinguishes processes here.
func identify(pid int) processID { return processID{pid: pid} }

// group returns the process group that the command was started in, 0 if there is none.
func (t *tree) group() int { return t.id }

// moveTo changes nothing: a group does not depend on who started it.
func (t *tree) moveTo(int, map[processID]bool) {}

// groupGone reports whether the command's process group has ended.
func (t *tree) groupGone() bool {
	return t.id == 0 || errors.Is(syscall.Kill(-t.id, 0), syscall.ESRCH)
}

// allGone reports whether all processes of a command have ended whose guardian has
// ended.
func (t *tree) allGone() bool { return t.groupGone() }

// names names what is known to run.
func (t *tree) names() []processName {
	if t.groupGone() {
		return nil
	}
	return []processName{{PID: t.id, Name: "process group"}}
}

// signal sends a signal to a part of the tree.
func (t *tree) signal(to part, sig syscall.Signal) error {
	if to == outsideGroup || t.id == 0 {
		return nil
	}
	return killGroup(t.id, sig)
}

// halt stops all.
func (t *tree) halt(time.Duration) error { return t.freeze(syscall.SIGSTOP) }

// freeze sends SIGSTOP or SIGKILL to all.
func (t *tree) freeze(sig syscall.Signal) error { return t.signal(everything, sig) }
