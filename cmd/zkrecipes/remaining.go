package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A rest is what a command has started and not waited for: the other end of a pipeline,
// jobs in the background, daemons. The lock is theirs until they have ended, too.
type remainingProcesses struct {
	due   <-chan time.Time // time to look at it; nil while the command itself runs
	timer *time.Timer
	named bool
}

// Most that outlive a command do so for a moment. Who takes longer is named, and then
// looked at now and then, because nothing tells when it is stopped.
const (
	remainingNotice = 200 * time.Millisecond
	remainingPoll   = time.Second
)

// attendToRest begins when the command has ended and others have not. From now on
// signals are for all of them. Whoever has left the command's process group has not
// heard that it was told to end: it was up to the command to tell them.
func (s *supervisor) superviseRemaining() {
	s.to = everything
	if s.endSignal != 0 {
		_ = s.tree.Signal(outsideGroup, s.endSignal)
	}
	s.remaining.timer = time.NewTimer(remainingNotice)
	s.remaining.due = s.remaining.timer.C
}

// watchRest says who is waited for, and does for the rest what events do for a command:
// gives it the terminal, or stops with it.
func (s *supervisor) checkRemaining(end ending) {
	s.remaining.timer.Reset(remainingPoll)
	running := s.tree.Running()
	if len(running) == 0 {
		return // its end is on its way
	}
	if !s.remaining.named {
		s.remaining.named = true
		s.report.info(event{Event: "remaining", Command: end.String(), Processes: running},
			"%s the command has ended: %v; the %s is kept until what it has started has ended, too: %s",
			clock(time.Now()), end, s.report.what, joinNames(running))
	}
	if s.terminal == nil {
		return
	}
	if slices.ContainsFunc(running, func(p processName) bool { return !p.stopped }) {
		s.terminal.reclaim()
		return
	}
	s.stopWithCommand(signalRead) // or by another: that is not known
}

// close ends the looks.
func (r *remainingProcesses) close() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// nameAll writes names for people.
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
