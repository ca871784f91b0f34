package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// wakePoll is how often to check whether the machine has slept: its timers stand still
// then.
const wakePoll = 10 * time.Millisecond

// killAgain is how often to kill again what does not end: processes that may not be
// signalled can start some that may.
const killAgain = 100 * time.Millisecond

// stop ends all processes of the command: TERM now and KILL at killAt, or KILL at once
// if killAt is over. It returns when all have ended, even if the servers answer again:
// a command that got TERM is stopping, and what it has left undone is not known.
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

// reportLoss reports why the command has to end, and how.
func (s *supervisor) reportLoss(d stopReason) {
	killAt, until := d.killAt.UTC().Truncate(time.Millisecond), s.lock.TrustedUntil().UTC().Truncate(time.Millisecond)
	what := "stopping the command: TERM now, KILL at " + clock(d.killAt)
	if !time.Now().Before(d.killAt) {
		what = "killing the command at once, because no time is left to stop it gently"
	}
	s.report.warn(event{Event: "lost", Reason: d.reason, KillAt: &killAt, TrustedUntil: &until},
		"%s %s: %s; %s", clock(time.Now()), s.report.nameWithKind(), d.reason, what)
}

// reportKill reports why everything is killed although nothing is lost.
func (s *supervisor) reportKill(unguarded bool) {
	reason := fmt.Sprintf("it got a signal to end %v ago (--kill-after)", s.killAfter)
	if unguarded {
		reason = errGuardianEnded.Error()
	}
	s.report.warn(event{Event: "killed", Reason: reason}, "%s killing the command and all processes that it has started: %s", clock(time.Now()), reason)
}

// reportUnsignalled reports that some processes could not be signalled. A process that
// has changed its user may not be; nothing more can be done then.
func (s *supervisor) reportUnsignalled(sig syscall.Signal, err error) {
	if err != nil {
		s.report.warn(event{Event: "unstoppable", Reason: err.Error()},
			"%s cannot send %v to all processes of the command: %v; they go on WITHOUT THE %s", clock(time.Now()), sig, err, strings.ToUpper(s.report.what))
	}
}
