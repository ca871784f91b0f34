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

// adoptOrphans makes this process the parent of all its descendants whose parents end:
// none can leave it, whatever it does.
func adoptOrphans() error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", errno)
	}
	return nil
}

// ownChildren are the children that somebody waits for by their number.
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

// waitedFor says that a child that startOwn has started is no more.
func waitedFor(pid int) {
	ownChildren.Lock()
	defer ownChildren.Unlock()
	delete(ownChildren.pids, pid)
}

// reapOrphans lets children end that this process has not started, but adopted, or got
// from whoever became this process. As the first process of a container it gets all
// orphans there.
//
// It goes on as long as the process: only for one that starts no others.
func reapOrphans() {
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGCHLD)
	go func() {
		for ; ; <-ends {
			reapNow()
		}
	}()
}

// reapNow lets those of them end that are zombies.
func reapNow() {
	ownChildren.Lock()
	defer ownChildren.Unlock()
	for _, p := range childrenNow() {
		if p.ended() && !ownChildren.pids[p.pid] {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// childrenNow lists the children of this process, as far as they can be seen. Where
// there are none, as at the start of nearly every run, no processes are read: there can
// be thousands, and a lock may be held meanwhile.
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

// foreignNow names the children of this process, to know them again.
func foreignNow() map[processID]bool {
	foreign := map[processID]bool{}
	for _, p := range childrenNow() {
		foreign[p.processID] = true
	}
	return foreign
}

// allGone reports whether nothing is left of a command whose guardian has ended, and
// lets zombies end. The kernel knows, unless we have other children; a list of
// processes can miss one that was started while it was read.
func (t *tree) allGone() bool {
	unseen := procTrouble() != nil
	if reapNow(); unseen { // then none can be told from another
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

// hasForeign reports whether somebody is there who has nothing to do with the command.
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

// nobodyElse reports whether a guardian that has no children left has nothing left. It
// has: orphans become its children.
func nothingLeft(*tree) bool { return true }
