//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"syscall"
	"time"
)

// A processID names one process for ever, even when its number is used again.
type processID struct {
	pid     int
	started uint64 // in ticks since the system was started; 0 where that is not known
}

// treePoll is how often processes are listed whose end causes no event.
const treePoll = 10 * time.Millisecond

// killGroup sends a signal to a process group. It is no error if the group is gone.
func killGroup(group int, sig syscall.Signal) error {
	if err := syscall.Kill(-group, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
