package main

import (
	"fmt"
	"os"
	"os/signal"
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
	self := os.Getpid()
	ownChildren.Lock()
	defer ownChildren.Unlock()
	all, _ := allProcesses() // without them nothing can be done
	for _, p := range all {
		if p.parent == self && p.ended() && !ownChildren.pids[p.pid] {
			_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// childrenNow lists the children of this process.
func childrenNow() map[processID]bool {
	self, children := os.Getpid(), map[processID]bool{}
	all, _ := allProcesses()
	for _, p := range all {
		if p.parent == self {
			children[p.processID] = true
		}
	}
	return children
}

// nobodyElse reports whether a guardian that has no children left has nothing left. It
// has: orphans become its children.
func nobodyElse(*tree) bool { return true }
