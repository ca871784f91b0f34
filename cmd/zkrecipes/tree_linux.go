package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A tree is a command with all processes that it has started, also those in other
// process groups and sessions, and those whose parent has ended. They all descend from
// the guardian (guardian_unix.go), or from this process if the guardian has ended.
//
// No signal goes to a number that another process may have by now.
type tree struct {
	leader processID // the command itself, which leads its process group

	mu      sync.Mutex
	root    int                // all are its descendants; it is not part of the tree
	foreign map[processID]bool // children of root that are no part of the tree
}

// newTree returns the tree of a command that was started by the process root.
func newTree(root int, command processID) *tree { return &tree{leader: command, root: root} }

// group returns the process group that the command was started in, 0 if there is none.
func (t *tree) group() int { return t.leader.pid }

// moveTo sets a new root. The foreign ones are its other children.
func (t *tree) moveTo(root int, foreign map[processID]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.root, t.foreign = root, foreign
}

// alive lists the processes that still run.
func (t *tree) alive() ([]procStat, error) {
	all, err := allProcesses()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	all = slices.DeleteFunc(all, func(p procStat) bool { return p.parent == t.root && t.foreign[p.processID] })
	return slices.DeleteFunc(descendantsOf(t.root, all), procStat.ended), nil
}

// names names the processes that still run.
func (t *tree) names() []processName {
	alive, _ := t.alive() // processes that cannot be listed cannot be named
	named := make([]processName, len(alive))
	for i, p := range alive {
		named[i] = processName{PID: p.pid, Name: p.name, stopped: p.state == 'T'}
	}
	return named
}

// groupGone reports whether the command's process group has ended.
func (t *tree) groupGone() bool {
	alive, err := t.alive()
	return err == nil && !slices.ContainsFunc(alive, t.inGroup)
}

func (t *tree) inGroup(p procStat) bool { return p.group == t.leader.pid }

// leaderExists reports whether the command exists, perhaps as a zombie: so long, its
// group's number is not used again.
func (t *tree) leaderExists() bool {
	return t.leader.pid != 0 && identify(t.leader.pid) == t.leader
}

// signal sends a signal to a part of the tree; the error names processes that did not
// get it.
func (t *tree) signal(to part, sig syscall.Signal) error {
	var errs []error
	leaderExists := t.leaderExists()
	if leaderExists && to != outsideGroup {
		errs = append(errs, killGroup(t.leader.pid, sig)) // one call: all get it before one can react
	}
	if leaderExists && to == commandGroup {
		return errors.Join(errs...)
	}
	alive, err := t.alive()
	for _, p := range alive {
		meant, has := to == everything, false
		if t.inGroup(p) {
			meant, has = to != outsideGroup, leaderExists
		} else if to == outsideGroup {
			meant = true
		}
		if meant && !has {
			errs = append(errs, p.signal(sig))
		}
	}
	return errors.Join(append(errs, err)...)
}

// maxRounds bounds the search for new processes, which only processes that may not be
// signalled still start.
const maxRounds = 100

// freeze sends SIGSTOP or SIGKILL to all, in rounds until a round finds no new process.
// A process that was sent it cannot fork any more; for the exception with SIGSTOP see
// halt.
func (t *tree) freeze(sig syscall.Signal) error {
	var errs []error
	if t.leaderExists() {
		_ = killGroup(t.leader.pid, sig) // one call; errors show below
	}
	sent := map[processID]bool{}
	for range maxRounds {
		alive, err := t.alive()
		if err != nil {
			return err
		}
		fresh := slices.DeleteFunc(alive, func(p procStat) bool { return sent[p.processID] })
		if len(fresh) == 0 {
			break
		}
		for _, p := range fresh {
			sent[p.processID] = true
			errs = append(errs, p.signal(sig))
		}
	}
	return errors.Join(errs...)
}

// maxHaltWait bounds the wait for processes that do not stop.
const maxHaltWait = 2 * time.Second

// halt stops all, and returns when all have stopped. A process in the middle of a fork
// finishes that first, which takes long if it is large, and the child is not stopped;
// and a process that has not stopped yet can continue others. So all must have stopped
// before they are listed for the last time.
func (t *tree) halt(limit time.Duration) error {
	limit = min(limit, maxHaltWait)
	var before map[processID]bool // had stopped in the last round
	for start := time.Now(); ; <-time.After(treePoll / 10) {
		if err := t.freeze(syscall.SIGSTOP); err != nil {
			return err
		}
		alive, err := t.alive()
		if err != nil {
			return err
		}
		allStopped, now := true, make(map[processID]bool, len(alive))
		for _, p := range alive {
			now[p.processID] = p.halted(time.Since(start) > limit/10)
			allStopped = allStopped && now[p.processID] && before[p.processID]
			if !now[p.processID] && time.Since(start) > limit {
				return fmt.Errorf("process %d (%s) does not stop", p.pid, p.name)
			}
		}
		if allStopped {
			return nil
		}
		before = now
	}
}

// halted reports whether all threads of a process have stopped. A thread that sleeps in
// the kernel stops when it wakes up, before it does anything else; but it may be in a
// fork, so it counts as stopped only after a while.
func (p procStat) halted(afterWhile bool) bool {
	threads, _ := os.ReadDir("/proc/" + strconv.Itoa(p.pid) + "/task")
	return !slices.ContainsFunc(threads, func(entry os.DirEntry) bool {
		thread, err := readStat(strconv.Itoa(p.pid) + "/task/" + entry.Name())
		switch {
		case err != nil: // it has ended
			return false
		case thread.state == 'D':
			return !afterWhile
		}
		return !strings.ContainsRune("TtZXx", rune(thread.state))
	})
}

// signal sends the process a signal, and never another process with the same number. It
// is no error if the process has ended.
func (p procStat) signal(sig syscall.Signal) error {
	handle, err := os.FindProcess(p.pid) // keeps hold of this process, whichever it is
	if err != nil {
		return fmt.Errorf("process %d (%s): %w", p.pid, p.name, err)
	}
	defer func() { _ = handle.Release() }()
	if identify(p.pid) != p.processID {
		return nil
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("process %d (%s): %w", p.pid, p.name, err)
	}
	return nil
}
