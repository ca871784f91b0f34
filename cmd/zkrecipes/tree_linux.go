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

// A tree is a command with all that it has started, wherever that has gone: into
// process groups and sessions of its own, or away from its parent. It descends from the
// guardian (guardian_unix.go) all the same, and if that dies from this process.
//
// Nothing is signalled by a number that may have passed to somebody else.
type tree struct {
	leader processID // the command itself, which leads its process group

	mu      sync.Mutex
	root    int                // whose descendants they are; not one of them itself
	foreign map[processID]bool // children of root that were there before
}

// newTree returns the tree of a command that was started by the process root.
func newTree(root int, command processID) *tree { return &tree{leader: command, root: root} }

// group returns the process group that the command was started in, 0 if there is none.
func (t *tree) group() int { return t.leader.pid }

// moveTo says that what descended from one process now descends from another, which has
// these children besides.
func (t *tree) moveTo(root int, foreign map[processID]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.root, t.foreign = root, foreign
}

// alive lists what still runs.
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

// names tells what still runs.
func (t *tree) names() []processName {
	alive, _ := t.alive() // what cannot be seen cannot be named
	named := make([]processName, len(alive))
	for i, p := range alive {
		named[i] = processName{PID: p.pid, Name: p.name, stopped: p.state == 'T'}
	}
	return named
}

// groupGone reports whether nobody is left in the command's process group.
func (t *tree) groupGone() bool {
	alive, err := t.alive()
	return err == nil && !slices.ContainsFunc(alive, t.inGroup)
}

func (t *tree) inGroup(p procStat) bool { return p.group == t.leader.pid }

// led reports whether the command is there, if only as a zombie: so long its process
// group is no other's.
func (t *tree) led() bool {
	return t.leader.pid != 0 && identify(t.leader.pid) == t.leader
}

// signal sends a signal to a part of the tree; the error is about those that did not
// get it.
func (t *tree) signal(to part, sig syscall.Signal) error {
	var errs []error
	led := t.led()
	if led && to != outsideGroup {
		errs = append(errs, killGroup(t.leader.pid, sig)) // at once: all have it before one can react
	}
	if led && to == commandGroup {
		return errors.Join(errs...)
	}
	alive, err := t.alive()
	for _, p := range alive {
		meant, has := to == everything, false
		if t.inGroup(p) {
			meant, has = to != outsideGroup, led
		} else if to == outsideGroup {
			meant = true
		}
		if meant && !has {
			errs = append(errs, p.signal(sig))
		}
	}
	return errors.Join(append(errs, err)...)
}

// maxRounds bounds the looks for new processes. They are made by those that may not be
// signalled, if by any.
const maxRounds = 100

// freeze sends SIGSTOP or SIGKILL to all, in rounds until there is nobody left that has
// not been sent it. Who was sent it cannot fork any more, with an exception for SIGSTOP
// that halt deals with.
func (t *tree) freeze(sig syscall.Signal) error {
	var errs []error
	if t.led() {
		_ = killGroup(t.leader.pid, sig) // at once; whom it did not reach is told apart below
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

// haltPatience bounds the wait for those who do not stop.
const maxHaltWait = 2 * time.Second

// halt stops all, and returns when all have stopped: whoever was in the middle of a
// fork finishes that first, which takes long if it is large, and the child is not
// stopped; and who was not stopped yet can continue others. So all must have stopped
// before they are listed for the last time.
func (t *tree) halt(limit time.Duration) error {
	limit = min(limit, maxHaltWait)
	var before map[processID]bool // they had stopped
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

// halted reports whether all threads of a process have stopped. One that sleeps in the
// kernel does so when it wakes up, before it does anything else; but it may be in a
// fork, so that is believed after a while only.
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

// signal sends the process a signal, and never one that has its number by now. That it
// has ended is no error.
func (p procStat) signal(sig syscall.Signal) error {
	handle, err := os.FindProcess(p.pid) // holds on to the process, whichever it is
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
