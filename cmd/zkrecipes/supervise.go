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

// A processTree is a running command with all that it has started.
type processTree interface {
	Events() <-chan processEvent
	Signal(to part, sig syscall.Signal) error
	Kill() error
	Running() []processName
}

// A part of a processTree is what a signal goes to.
type part int

const (
	commandGroup part = iota // the process group that the command was started in
	outsideGroup             // what has left that
	everything
)

// A terminalLender deals with job control; see terminal.
type terminalLender interface {
	commandStopped(by syscall.Signal, patience time.Duration) error
	resume()
	reclaim()
	close()
}

// A supervisor watches over a command that runs under a lock, and over all that it has
// started, until the last of them has ended.
type supervisor struct {
	lock           claim
	tree           processTree
	terminal       terminalLender // nil if there is none
	signals        <-chan os.Signal
	grace          func() time.Duration // for the session timeout of this moment
	sessionTimeout func() time.Duration // which may get less on a new connection
	sessionTrust   func() time.Time     // if the hold is limited: until when the session is trusted
	ignoreRevoke   bool
	killAfter      time.Duration // that it was told to end; 0: never
	report         *reporter

	to      part             // where signals go
	told    syscall.Signal   // by which the command was told to end; 0: it was not
	overdue <-chan time.Time // it was told so killAfter ago
	rest    rest
}

// lookAgain is how often the lease is looked at even if nothing is due: on a connection to
// a server that grants a lesser session timeout all is due earlier.
const lookAgain = time.Second

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

// run returns when the command and all that it has started have ended: by themselves, or
// because they had to.
//
// Whatever wakes the loop, the lease is looked at before anything is done: after a
// pause of this process many things are due at once, and a stopped command must
// not be continued without a lock.
func (s *supervisor) run() (o outcome) {
	revoked := s.lock.Revoked()
	deadline := time.NewTimer(0)
	defer deadline.Stop()
	defer s.rest.close()
	for {
		deadline.Reset(min(time.Until(s.lock.TrustedUntil().Add(-s.grace())), lookAgain))
		var (
			ev               processEvent
			event            bool
			sig              os.Signal
			asked, late, due bool
		)
		select {
		case ev = <-s.tree.Events():
			event = true
		case sig = <-s.signals:
		case <-revoked:
			asked, revoked = true, nil
		case <-s.lock.Context().Done():
		case <-deadline.C:
		case <-s.overdue:
			late = true
		case <-s.rest.due:
			due = true
		}
		// Before anything else that may be due as well: nobody sees this signal again.
		o.asked = o.asked || endsPrograms(sig)
		if !event { // a command that has ended by now need not be stopped
			select {
			case ev = <-s.tree.Events():
			default:
			}
		}
		if o.note(ev); ev.gone {
			return o
		}
		if d := s.danger(time.Now()); d != nil {
			s.lost(*d)
			o.lost = true
			s.stop(d.killAt, &o)
			return o
		}
		if late || ev.unguarded {
			s.sayKill(ev.unguarded)
			s.stop(time.Now(), &o)
			return o
		}
		if ev.ended {
			s.attendToRest()
		}
		if asked && s.giveWay() {
			o.revoked = true
		}
		if due {
			s.watchRest(o.end)
		}
		s.pass(sig)
		if ev.stopped != 0 && s.terminal != nil { // last, because it may stop this process as well
			s.stopped(ev.stopped)
		}
	}
}

// note keeps how the command has ended.
func (o *outcome) note(ev processEvent) {
	if ev.ended {
		o.end = ev.end
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
	if err := s.tree.Signal(s.to, syscall.SIGTERM); err != nil {
		s.report.alarm(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot send TERM to the command: %v; it goes on, with the %s", at, err, s.report.what)
		return false
	}
	s.wasTold(syscall.SIGTERM)
	return true
}

// wasTold begins the time that the command has to end, if that is limited.
func (s *supervisor) wasTold(sig syscall.Signal) {
	if s.told == 0 && s.killAfter > 0 {
		s.overdue = time.After(s.killAfter)
	}
	s.told = sig
}

// pass passes on a signal that this process got. One that was caught for our own sake
// stays here.
func (s *supervisor) pass(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	switch {
	case !ok || number == syscall.SIGPIPE:
	case number == signalContinue && s.terminal != nil:
		s.terminal.resume()
	case number == signalStop && s.terminal != nil && s.to == everything:
		s.stopped(number) // of the rest nobody says that it obeys
	default:
		_ = s.tree.Signal(s.to, number) // who sent it would not be told either
		if endsPrograms(number) {
			s.wasTold(number)
		}
	}
}

// stopped lets this process be stopped with the command. If not all of it can be, then it
// must not: it has to watch over the others. Nor must the attempt keep it from that.
func (s *supervisor) stopped(by syscall.Signal) {
	patience := time.Until(s.lock.TrustedUntil().Add(-s.grace()))
	if err := s.terminal.commandStopped(by, patience); err != nil {
		s.report.alarm(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot stop all of the command: %v; it goes on", clock(time.Now()), err)
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
		killAt := now.Add(s.grace())
		if until.Before(killAt) {
			killAt = until
		}
		if trustIsOver(err) && now.Before(killAt) {
			killAt = now
		}
		return &danger{reason: err.Error(), killAt: killAt}
	}
	if now.Before(until.Add(-s.grace())) {
		return nil
	}
	if s.sessionTrust != nil && s.sessionTrust().After(until) {
		return &danger{reason: "its maximum hold time is over at " + clock(until), killAt: until}
	}
	silent := now.Sub(until.Add(-s.sessionTimeout() / 3 * 2)).Round(time.Millisecond)
	return &danger{
		reason: fmt.Sprintf("no server has answered for %v, and without an answer the %s is lost at %s", silent, s.report.what, clock(until)),
		killAt: until,
	}
}

// wakePoll spaces the looks whether the machine has slept: timers stand still with it.
const wakePoll = 10 * time.Millisecond

// killAgain spaces the attempts to kill what does not end: those that may not be
// signalled can start others that may.
const killAgain = 100 * time.Millisecond

// stop ends the command with all that it has started: TERM now, KILL when it is time, and
// at once if it is past that. It returns when all have ended, even if contact with the
// servers comes back: the command was told to stop, and to know whether it did
// all it had to do is beyond us.
func (s *supervisor) stop(killAt time.Time, o *outcome) {
	killed := !time.Now().Before(killAt)
	wait := time.Until(killAt)
	if killed {
		s.complain(syscall.SIGKILL, s.tree.Kill())
		wait = killAgain
	} else {
		s.complain(syscall.SIGTERM, s.tree.Signal(everything, syscall.SIGTERM))
	}
	kill := time.NewTimer(wait)
	defer kill.Stop()
	poll := time.NewTicker(wakePoll)
	defer poll.Stop()
	for {
		var due bool
		select {
		case ev := <-s.tree.Events():
			if o.note(ev); ev.gone {
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
			s.complain(syscall.SIGKILL, err)
		}
		killed = true
		kill.Reset(killAgain)
	}
}

// lost says why the command has to end, and how.
func (s *supervisor) lost(d danger) {
	killAt, until := d.killAt.UTC().Truncate(time.Millisecond), s.lock.TrustedUntil().UTC().Truncate(time.Millisecond)
	what := "stopping the command: TERM now, KILL at " + clock(d.killAt)
	if !time.Now().Before(d.killAt) {
		what = "killing the command at once, since the time to stop it gently is over"
	}
	s.report.alarm(event{Event: "lost", Reason: d.reason, KillAt: &killAt, TrustedUntil: &until},
		"%s %s %s: %s; %s", clock(time.Now()), s.report.what, s.report.lock, d.reason, what)
}

// sayKill tells why all is killed although nothing is lost.
func (s *supervisor) sayKill(unguarded bool) {
	reason := fmt.Sprintf("it was told to end %v ago", s.killAfter)
	if unguarded {
		reason = errGuardianEnded.Error()
	}
	s.report.alarm(event{Event: "killed", Reason: reason}, "%s killing the command and all that it has started: %s", clock(time.Now()), reason)
}

// complain tells that some could not be signalled. It may not be allowed, if the command
// has changed its user; then all that is left is to say so.
func (s *supervisor) complain(sig syscall.Signal, err error) {
	if err != nil {
		s.report.alarm(event{Event: "unstoppable", Reason: err.Error()},
			"%s cannot send %v to all of the command: %v; it goes on WITHOUT THE %s", clock(time.Now()), sig, err, strings.ToUpper(s.report.what))
	}
}
