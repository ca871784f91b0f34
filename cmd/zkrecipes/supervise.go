package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A claim is what supervision asks of a lease.
type claim interface {
	Context() context.Context
	Err() error
	TrustedUntil() time.Time
	Revoked() <-chan struct{}
}

// A processGroup is a running command with all that it started.
type processGroup interface {
	Events() <-chan processEvent
	Signal(sig syscall.Signal) error
	Alive() bool
}

// A terminalLender deals with job control; see terminal.
type terminalLender interface {
	commandStopped(by syscall.Signal)
	resume()
	close()
}

// A supervisor watches over a command that runs under a lock.
type supervisor struct {
	lock           claim
	group          processGroup
	terminal       terminalLender // nil if there is none
	signals        <-chan os.Signal
	grace          time.Duration
	sessionTimeout time.Duration
	sessionTrust   func() time.Time // if the hold is limited: until when the session is trusted
	ignoreRevoke   bool
	report         *reporter
}

// An outcome is how a supervised command ended.
type outcome struct {
	end     ending
	lost    bool // it was stopped because the lock was lost or about to be
	revoked bool // it was told to stop because somebody asked for the lock
	asked   bool // a signal from outside that usually ends a program has come
}

// A danger is the reason to stop a command.
type danger struct {
	reason string
	killAt time.Time
}

// run returns when the command has ended: by itself, or because it had to.
//
// Whatever wakes the loop, the lease is looked at before anything is done: after a
// pause of this process many things are due at once, and a stopped command must
// not be continued without a lock.
func (s *supervisor) run() (o outcome) {
	revoked := s.lock.Revoked()
	deadline := time.NewTimer(0)
	defer deadline.Stop()
	for {
		deadline.Reset(time.Until(s.lock.TrustedUntil().Add(-s.grace)))
		var (
			ev    processEvent
			event bool
			sig   os.Signal
			asked bool
		)
		select {
		case ev = <-s.group.Events():
			event = true
		case sig = <-s.signals:
		case <-revoked:
			asked, revoked = true, nil
		case <-s.lock.Context().Done():
		case <-deadline.C:
		}
		// Before anything else that may be due as well: nobody sees this signal again.
		o.asked = o.asked || endsPrograms(sig)
		if !event { // a command that has ended by now need not be stopped
			select {
			case ev = <-s.group.Events():
				event = true
			default:
			}
		}
		if event && ev.stopped == 0 {
			o.end = ev.end
			return o
		}
		if d := s.danger(time.Now()); d != nil {
			o.lost, o.end = true, s.stop(*d)
			return o
		}
		if asked {
			o.revoked = s.giveWay()
		}
		resume := sig == signalContinue && s.terminal != nil
		if sig != nil && !resume {
			s.forward(sig)
		}
		switch {
		case event && s.terminal != nil: // last, because it may stop this process as well
			s.terminal.commandStopped(ev.stopped)
		case resume:
			s.terminal.resume()
		}
	}
}

// giveWay tells the command that somebody has asked for the lock, and reports
// whether it did: it is up to the command when it ends, and nothing is lost until
// then.
func (s *supervisor) giveWay() bool {
	at := clock(time.Now())
	if s.ignoreRevoke {
		s.report.note(event{Event: "revoked", Reason: "ignored"}, "%s somebody asks for %s; not passed on, as --ignore-revoke says", at, s.report.lock)
		return false
	}
	s.report.alarm(event{Event: "revoked"}, "%s somebody asks for %s: the command gets TERM, once, and keeps the %s until it has ended", at, s.report.lock, s.report.what)
	if err := s.group.Signal(syscall.SIGTERM); err != nil {
		s.report.alarm(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot send TERM to the command: %v; it goes on, with the %s", at, err, s.report.what)
		return false
	}
	return true
}

// forward passes a signal to the command. One that was caught for our own sake
// stays here.
func (s *supervisor) forward(sig os.Signal) {
	if sig, ok := sig.(syscall.Signal); ok && sig != syscall.SIGPIPE {
		_ = s.group.Signal(sig) // who sent it would not be told either
	}
}

// trustIsOver tells that there is no time left to stop in, whatever TrustedUntil says:
// if the machine has slept, that is on a clock that stood still.
func trustIsOver(err error) bool { return errors.Is(err, framework.ErrTrustExpired) }

// danger returns why the command must stop now, nil if it need not.
func (s *supervisor) danger(now time.Time) *danger {
	until := s.lock.TrustedUntil()
	err := s.lock.Err()
	if err == nil {
		err = context.Cause(s.lock.Context())
	}
	if err != nil {
		killAt := now.Add(s.grace)
		if until.Before(killAt) {
			killAt = until
		}
		if trustIsOver(err) && now.Before(killAt) {
			killAt = now
		}
		return &danger{reason: err.Error(), killAt: killAt}
	}
	if now.Before(until.Add(-s.grace)) {
		return nil
	}
	if s.sessionTrust != nil && s.sessionTrust().After(until) {
		return &danger{reason: "its maximum hold time is over at " + clock(until), killAt: until}
	}
	silent := now.Sub(until.Add(-s.sessionTimeout / 3 * 2)).Round(time.Millisecond)
	return &danger{
		reason: fmt.Sprintf("no server has answered for %v, and without an answer the %s is lost at %s", silent, s.report.what, clock(until)),
		killAt: until,
	}
}

// groupPoll spaces the looks whether a group without its leader is gone, and whether the
// machine has slept meanwhile: no event tells of processes that are not our children, and
// timers stand still with the machine.
const groupPoll = 10 * time.Millisecond

// stop ends the command: TERM now, KILL when it is time, and at once if it is
// past that. It returns when the command has ended, even if contact with the
// servers comes back: the command was told to stop, and to know whether it did
// all it had to do is beyond us.
func (s *supervisor) stop(d danger) (end ending) {
	ended := false
	killed := !time.Now().Before(d.killAt)
	if killed {
		s.lost(d, "killing the command at once, since the time to stop it gently is over")
		s.send(syscall.SIGKILL)
	} else {
		s.lost(d, "stopping the command: TERM now, KILL at "+clock(d.killAt))
		s.send(syscall.SIGTERM)
	}
	kill := time.NewTimer(time.Until(d.killAt))
	defer kill.Stop()
	poll := time.NewTicker(groupPoll)
	defer poll.Stop()
	for !ended || (!killed && s.group.Alive()) {
		due := false
		select {
		case ev := <-s.group.Events():
			if ev.stopped == 0 {
				ended, end = true, ev.end
			}
		case <-poll.C:
			due = trustIsOver(s.lock.Err())
		case <-kill.C:
			due = true
		}
		if due && !killed {
			killed = true
			s.send(syscall.SIGKILL)
		}
	}
	return end
}

func (s *supervisor) lost(d danger, what string) {
	killAt, until := d.killAt.UTC().Truncate(time.Millisecond), s.lock.TrustedUntil().UTC().Truncate(time.Millisecond)
	s.report.alarm(event{Event: "lost", Reason: d.reason, KillAt: &killAt, TrustedUntil: &until},
		"%s %s %s: %s; %s", clock(time.Now()), s.report.what, s.report.lock, d.reason, what)
}

// send signals the group. It may not be allowed to, if the command has changed
// its user; then all that is left is to say so.
func (s *supervisor) send(sig syscall.Signal) {
	if err := s.group.Signal(sig); err != nil {
		s.report.alarm(event{Event: "unstoppable", Reason: err.Error()},
			"%s cannot send %v to the command: %v; it goes on WITHOUT THE %s", clock(time.Now()), sig, err, strings.ToUpper(s.report.what))
	}
}
