package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A rest is what a command has started and not waited for: the other end of a pipeline,
// jobs in the background, daemons. The lock is theirs until they have ended, too.
type rest struct {
	due   <-chan time.Time // time to look at it; nil while the command itself runs
	timer *time.Timer
	named bool
}

// Most that outlive a command do so for a moment. Who takes longer is named, and then
// looked at now and then, because nothing tells when it is stopped.
const (
	restPatience = 200 * time.Millisecond
	restPoll     = time.Second
)

// attendToRest begins when the command has ended and others have not. From now on
// signals are for all of them. Whoever has left the command's process group has not
// heard that it was told to end: it was up to the command to tell them.
func (s *supervisor) attendToRest() {
	s.to = everything
	if s.told != 0 {
		_ = s.tree.Signal(outsideGroup, s.told)
	}
	s.rest.timer = time.NewTimer(restPatience)
	s.rest.due = s.rest.timer.C
}

// watchRest says who is waited for, and does for the rest what events do for a command:
// gives it the terminal, or stops with it.
func (s *supervisor) watchRest(end ending) {
	s.rest.timer.Reset(restPoll)
	running := s.tree.Running()
	if len(running) == 0 {
		return // its end is on its way
	}
	if !s.rest.named {
		s.rest.named = true
		s.report.note(event{Event: "remaining", Command: end.String(), Processes: running},
			"%s the command has ended: %v; the %s is kept until what it has started has ended, too: %s",
			clock(time.Now()), end, s.report.what, nameAll(running))
	}
	if s.terminal == nil {
		return
	}
	if slices.ContainsFunc(running, func(p processName) bool { return !p.stopped }) {
		s.terminal.reclaim()
		return
	}
	s.stopped(signalRead) // or by another: that is not known
}

// close ends the looks.
func (r *rest) close() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// nameAll writes names for people.
func nameAll(processes []processName) string {
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
