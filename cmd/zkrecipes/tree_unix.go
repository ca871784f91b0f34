//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"errors"
	"syscall"
	"time"
)

// A processID names one process for ever, also when its number has passed to another.
type processID struct {
	pid     int
	started uint64 // in ticks since the system was started; 0 where that is not known
}

// treePoll spaces the looks at processes that nothing tells of.
const treePoll = 10 * time.Millisecond

// killGroup sends a signal to a process group. That it is gone is no error.
func killGroup(group int, sig syscall.Signal) error {
	if err := syscall.Kill(-group, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}
