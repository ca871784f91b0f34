package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

const prSetChildSubreaper = 36 // of prctl(2)

// adoptOrphans makes this process the parent of all its descendants whose parents end,
// so that none can leave it.
func adoptOrphans() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", errno)
	}
	return nil
}

// ownChildren are the children that a goroutine waits for by their number.
var ownChildren = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// startOwn starts a child that reapOrphans leaves alone.
func startOwn(start func() (pid int, err error)) (int, error) {
	ownChildren.Lock()
	defer ownChildren.Unlock()
	pid, err := start()
	if err == nil {
		ownChildren.pids[pid] = true
	}
	return pid, err
}

// waitedFor removes a child that startOwn has started, when it has ended.
func waitedFor(pid int) {
	ownChildren.Lock()
	defer ownChildren.Unlock()
	delete(ownChildren.pids, pid)
}

// reapOrphans reaps children that this process has not started: adopted ones, and those
// of the program that this process was before its exec. The first process of a
// container adopts all orphans there.
//
// It runs until the process ends, and so suits a process that starts no other children.
func reapOrphans() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGCHLD)
	go func() {
		for ; ; <-ends {
			reapNow()
		}
	}()
}

// reapNow reaps those that are zombies.
func reapNow() {
	ownChildren.Lock()
	defer ownChildren.Unlock()
	for _, p := range childrenNow() {
		if p.ended() && !ownChildren.pids[p.pid] {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// childrenNow lists the children of this process, as far as /proc shows them. Without
// children, as at the start of nearly every run, it does not read /proc: there can be
// thousands of processes, and a lock may be held meanwhile.
func childrenNow() (children []procStat) {
	if !hasChildren() {
		return nil
	}
	self := os.Getpid()
	all, _ := allProcesses()
	for _, p := range all {
		if p.parent == self {
			children = append(children, p)
		}
	}
	return children
}

// foreignNow returns the present children of this process.
func foreignNow() map[processID]bool {
	foreign := map[processID]bool{}
	for _, p := range childrenNow() {
		foreign[p.processID] = true
	}
	return foreign
}

// allGone reports whether all processes of a command have ended whose guardian has
// ended, and reaps zombies. The kernel knows, unless we have other children; a list of
// processes can miss one that was started while it was read.
func (t *tree) allGone() bool {
	unseen := checkProc() != nil
	if reapNow(); unseen { // then all children are alike
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
	if !hasChildren() {
		return true
	}
	alive, err := t.alive()
	return err == nil && len(alive) == 0 && t.hasForeign()
}

// hasForeign reports whether a child is left that is no part of the command.
func (t *tree) hasForeign() bool {
	now := childrenNow()
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(now, func(p procStat) bool { return t.foreign[p.processID] })
}

// hasChildren asks the kernel whether this process has any, zombies included.
func hasChildren() bool {
	const (
		pAll    = 0
		wNoWait = 0x01000000
	)
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pAll, 0, 0, syscall.WEXITED|syscall.WNOHANG|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return errno != syscall.ECHILD
		}
	}
}

// nothingLeft reports whether all processes have ended for a guardian without children:
// always, because orphans become its children.
func nothingLeft(*tree) bool { return true }
