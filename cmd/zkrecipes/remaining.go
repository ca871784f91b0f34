package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// remainingProcesses are those that a command has started and that outlive it: the
// other end of a pipeline, jobs in the background, daemons. The lock is kept until they
// have ended too.
type remainingProcesses struct {
	due   <-chan time.Time // time to check them; nil while the command itself runs
	timer *time.Timer
	named bool // in a message
}

// Most processes that outlive a command do so for a moment. After remainingNotice they
// are named, and from then on polled, because no event says that one was stopped.
const (
	remainingNotice = 200 * time.Millisecond
	remainingPoll   = time.Second
)

// superviseRemaining begins when the command has ended and other processes have not.
// From now on signals go to all of them. Those outside the command's process group have
// not yet got the signal to end the command: to pass it on was up to the command.
func (s *supervisor) superviseRemaining() {
	s.to = everything
	if s.endSignal != 0 {
		_ = s.tree.Signal(outsideGroup, s.endSignal)
	}
	s.remaining.timer = time.NewTimer(remainingNotice)
	s.remaining.due = s.remaining.timer.C
}

// checkRemaining reports which processes remain, and does for them what events do for a
// command: it gives them the terminal, or stops this process with them.
func (s *supervisor) checkRemaining(end ending) {
	s.remaining.timer.Reset(remainingPoll)
	running := s.tree.Running()
	if len(running) == 0 {
		return // the event of their end is on its way
	}
	if !s.remaining.named {
		s.remaining.named = true
		s.report.info(event{Event: "remaining", Command: end.String(), Processes: running},
			"%s the command has ended: %v; the %s is kept until the processes that it started have ended too: %s",
			clock(time.Now()), end, s.report.what, joinNames(running))
	}
	if s.terminal == nil {
		return
	}
	if slices.ContainsFunc(running, func(p processName) bool { return !p.stopped }) {
		s.terminal.reclaim()
		return
	}
	s.stopWithCommand(signalRead) // which signal it was is not known
}

// close stops the polling.
func (r *remainingProcesses) close() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// joinNames names the first processes.
func joinNames(processes []processName) string {
	const most = 5
	var text []string
	for i, p := range processes {
		if i == most {
			text = append(text, fmt.Sprintf("and %d more", len(processes)-most))
			break
		}
		text = append(text, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	return strings.Join(text, ", ")
}
