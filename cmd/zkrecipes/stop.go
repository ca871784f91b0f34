package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// wakePoll spaces the looks whether the machine has slept: timers stand still with it.
const wakePoll = 10 * time.Millisecond

// killAgain spaces the attempts to kill what does not end: those that may not be
// signalled can start others that may.
const killAgain = 100 * time.Millisecond

// stop ends the command with all that it has started: TERM now, KILL when it is time,
// and at once if it is past that. It returns when all have ended, even if contact with
// the servers comes back: the command was told to stop, and to know whether it did all
// it had to do is beyond us.
func (s *supervisor) stop(killAt time.Time, o *outcome) {
	killed := !time.Now().Before(killAt)
	wait := time.Until(killAt)
	if killed {
		s.reportUnsignalled(syscall.SIGKILL, s.tree.Kill())
		wait = killAgain
	} else {
		s.reportUnsignalled(syscall.SIGTERM, s.tree.Signal(everything, syscall.SIGTERM))
	}
	kill := time.NewTimer(wait)
	defer kill.Stop()
	poll := time.NewTicker(wakePoll)
	defer poll.Stop()
	for {
		var due bool
		select {
		case ev := <-s.tree.Events():
			if o.record(ev); ev.gone {
				return
			}
			due = ev.unguarded
		case <-poll.C:
			due = !killed && trustIsOver(s.lock.Err())
		case <-kill.C:
			due = true
		}
		if !due {
			continue
		}
		if err := s.tree.Kill(); !killed {
			s.reportUnsignalled(syscall.SIGKILL, err)
		}
		killed = true
		kill.Reset(killAgain)
	}
}

// lost says why the command has to end, and how.
func (s *supervisor) reportLoss(d stopReason) {
	killAt, until := d.killAt.UTC().Truncate(time.Millisecond), s.lock.TrustedUntil().UTC().Truncate(time.Millisecond)
	what := "stopping the command: TERM now, KILL at " + clock(d.killAt)
	if !time.Now().Before(d.killAt) {
		what = "killing the command at once, since the time to stop it gently is over"
	}
	s.report.warn(event{Event: "lost", Reason: d.reason, KillAt: &killAt, TrustedUntil: &until},
		"%s %s %s: %s; %s", clock(time.Now()), s.report.what, s.report.lock, d.reason, what)
}

// sayKill tells why all is killed although nothing is lost.
func (s *supervisor) reportKill(unguarded bool) {
	reason := fmt.Sprintf("it was told to end %v ago", s.killAfter)
	if unguarded {
		reason = errGuardianEnded.Error()
	}
	s.report.warn(event{Event: "killed", Reason: reason}, "%s killing the command and all that it has started: %s", clock(time.Now()), reason)
}

// complain tells that some could not be signalled. It may not be allowed, if the
// command has changed its user; then all that is left is to say so.
func (s *supervisor) reportUnsignalled(sig syscall.Signal, err error) {
	if err != nil {
		s.report.warn(event{Event: "unstoppable", Reason: err.Error()},
			"%s cannot send %v to all of the command: %v; it goes on WITHOUT THE %s", clock(time.Now()), sig, err, strings.ToUpper(s.report.what))
	}
}
