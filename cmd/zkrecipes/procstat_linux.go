package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A procStat is a process as /proc/PID/stat describes it.
type procStat struct {
	processID
	name    string
	state   byte
	parent  int
	group   int
	session int
	threads int
}

// readStat reads the entry of a process; pid may be "self".
func readStat(pid string) (procStat, error) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return procStat{}, err
	}
	return parseStat(string(text))
}

func parseStat(text string) (p procStat, err error) {
	invalid := fmt.Errorf("not an entry of /proc/PID/stat: %q", text)
	// The name, in parentheses, may contain anything.
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return p, invalid
	}
	p.name = text[from+1 : to]
	pid, err1 := strconv.Atoi(strings.TrimSpace(text[:from]))
	fields := strings.Fields(text[to+1:]) // the first is the third of proc(5)
	if err1 != nil || len(fields) < 20 {
		return p, invalid
	}
	p.pid, p.state = pid, fields[0][0]
	for field, into := range map[int]*int{1: &p.parent, 2: &p.group, 3: &p.session, 17: &p.threads} {
		if *into, err = strconv.Atoi(fields[field]); err != nil {
			return p, invalid
		}
	}
	if p.started, err = strconv.ParseUint(fields[19], 10, 64); err != nil {
		return p, invalid
	}
	return p, nil
}

// ended reports whether no thread of the process runs any more: it is a zombie, and not
// only its first thread has ended.
func (p procStat) ended() bool {
	return (p.state == 'Z' || p.state == 'X' || p.state == 'x') && p.threads <= 1
}

// checkProc returns why /proc does not show the processes by the numbers that this
// process knows: it is missing, or belongs to another PID namespace.
func checkProc() error {
	self, err := os.Readlink("/proc/self")
	if err == nil && self != strconv.Itoa(os.Getpid()) {
		err = fmt.Errorf("/proc belongs to another PID namespace")
	}
	return err
}

// identify returns the zero value if there is no such process, and only the number if
// /proc does not help.
func identify(pid int) processID {
	if checkProc() != nil {
		return processID{pid: pid}
	}
	p, err := readStat(strconv.Itoa(pid))
	if err != nil {
		return processID{}
	}
	return p.processID
}

// allProcesses lists the processes that /proc shows.
func allProcesses() ([]procStat, error) {
	if err := checkProc(); err != nil {
		return nil, err
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	all := make([]procStat, 0, len(names))
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		if p, err := readStat(name); err == nil { // else it has ended meanwhile
			all = append(all, p)
		}
	}
	return all, nil
}

// descendantsOf picks the descendants of a process, whether they have ended or not.
func descendantsOf(root int, all []procStat) []procStat {
	children := make(map[int][]procStat, len(all))
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	var found []procStat
	for next := []int{root}; len(next) > 0; next = next[1:] {
		of := children[next[0]]
		delete(children, next[0]) // processes come and go while they are listed: there could be a circle
		found = append(found, of...)
		for _, p := range of {
			next = append(next, p.pid)
		}
	}
	return found
}
