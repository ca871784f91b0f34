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

// In a PID namespace of which the guardian is the first process, the kernel kills all
// when the guardian ends, and the guardian when we end. So it leaves nothing even if
// both are killed at once.

// becomeGuardian gives the guardian its name and its powers.
func becomeGuardian(namespace bool) error {
	if namespace {
		// The mount namespace is new as well; what others mount still shows in it.
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

// checkNamespace tells why there can be no PID namespace, by making one.
func checkNamespace(env environ) error {
	p := &process{guardianEnded: make(chan struct{})}
	err := p.startGuardian(env, [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, true)
	if err == nil {
		var told notice
		if told, err = p.ask(context.Background(), json.NewDecoder(p.notices), order{Namespace: true}); err == nil && told.Why != "" {
			err = errors.New(told.Why)
		}
		p.control.Close()
		<-p.guardianEnded
		p.notices.Close()
	}
	if err != nil {
		return fmt.Errorf("--pid-namespace: %w; it takes root, or CAP_SYS_ADMIN", err)
	}
	return nil
}

// findCommandIn finds the command that a guardian in a PID namespace has started, by
// the number that it has there; the zero value if it has ended.
func findCommandIn(guardian int, there processID) processID {
	all, _ := allProcesses()
	for _, p := range descendantsOf(guardian, all) {
		if p.started == there.started && innermostPID(p.pid) == there.pid {
			return p.processID
		}
	}
	return processID{}
}

// innermostPID returns the number of a process in its own PID namespace, 0 if it cannot
// be told.
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
