package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// The guardian can be the first process of a PID namespace. Then the kernel kills all
// processes in it when the guardian ends, and the guardian when we end, so that none is
// left even if both are killed at once.

// becomeGuardian gives the guardian its name, adopts orphans, and enters the namespace.
func becomeGuardian(namespace bool) error {
	if namespace {
		// The mount namespace is new as well; mounts made outside still show in it.
		if err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
			return fmt.Errorf("mounts of a PID namespace: %w", err)
		}
		if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
			return fmt.Errorf("/proc of a PID namespace: %w", err)
		}
	}
	_ = os.WriteFile("/proc/self/comm", []byte(guardianName), 0) // else ps shows another name
	return adoptOrphans()
}

// checkNamespace returns why there can be no PID namespace, by making one.
func checkNamespace(env environ) error {
	p := &process{guardianEnded: make(chan struct{})}
	err := p.startGuardian(env, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, true)
	if err == nil {
		var answer notice
		if answer, err = p.sendOrder(context.Background(), json.NewDecoder(p.notices), order{Namespace: true}); err == nil && answer.Why != "" {
			err = errors.New(answer.Why)
		}
		p.control.Close()
		<-p.guardianEnded
		p.notices.Close()
	}
	if err != nil {
		return fmt.Errorf("--pid-namespace: %w; it needs root or CAP_SYS_ADMIN", err)
	}
	return nil
}

// findCommandIn finds the command that a guardian in a PID namespace has started, by
// its number there. It returns the zero value if the command has ended.
func findCommandIn(guardian int, there processID) processID {
	all, _ := allProcesses()
	for _, p := range descendantsOf(guardian, all) {
		if p.started == there.started && innermostPID(p.pid) == there.pid {
			return p.processID
		}
	}
	return processID{}
}

// innermostPID returns the number of a process in its own PID namespace, 0 if it is not
// known.
func innermostPID(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	for line := range strings.SplitSeq(string(text), "\n") {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			number, _ := strconv.Atoi(numbers[strings.LastIndexAny(numbers, "\t ")+1:])
			return number
		}
	}
	return 0
}
