package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// commandAttributes puts the command into a process group of its own, and lets
// the kernel kill it when this program dies without a chance to do so.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// continuable reports whether a shell with job control could continue this
// program once it is stopped: whether the first of its ancestors in another
// process group belongs to the same session. Otherwise the kernel does not obey
// Ctrl-Z either.
func continuable() bool {
	_, own, session := family("self")
	for pid := "self"; ; {
		parent, _, _ := family(pid)
		pid = fmt.Sprint(parent)
		switch _, group, s := family(pid); {
		case s != session || s == 0:
			return false
		case group != own:
			return true
		}
	}
}

// family returns the parent, process group and session of a process, zeros if it
// cannot be seen.
func family(pid string) (parent, group, session int) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0, 0
	}
	// The name, in parentheses, may contain anything.
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	var state string
	if _, err := fmt.Sscan(rest, &state, &parent, &group, &session); err != nil {
		return 0, 0, 0
	}
	return parent, group, session
}
