package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// A claim is what supervision asks of a lease.
type claim interface {
	Context() context.Context
	Err() error
	TrustedUntil() time.Time
	RevocationRequested() <-chan struct{}
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
	commandStopped(by syscall.Signal, limit time.Duration) error
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

	revoked   <-chan struct{}  // somebody wants the lock; nil once that was seen
	to        part             // where signals go
	endSignal syscall.Signal   // by which the command was told to end; 0: it was not
	overdue   <-chan time.Time // it was told so killAfter ago
	remaining remainingProcesses
}

// lookAgain is how often the lease is looked at even if nothing is due: on a connection
// to a server that grants a lesser session timeout all is due earlier.
const lookAgain = time.Second

// An outcome is how a supervised command ended.
type outcome struct {
	end       ending
	lost      bool // it was stopped because the lock was lost or about to be
	revoked   bool // it was told to stop because somebody asked for the lock
	signalled bool // a signal from outside that usually ends a program has come
}

// A danger is the reason to stop a command.
type stopReason struct {
	reason string
	killAt time.Time
}

// A wake is what has woken the loop.
type trigger struct {
	process    processEvent
	signal     os.Signal
	revocation bool // somebody wants the lock
	late       bool // the command was told to end killAfter ago
	due        bool // a look at the rest
}

// run returns when the command and all that it has started have ended: by themselves,
// or because they had to.
//
// Whatever wakes the loop, the lease is looked at before anything is done: after a
// pause of this process many things are due at once, and a stopped command must not be
// continued without a lock.
func (s *supervisor) run() (o outcome) {
	s.revoked = s.lock.RevocationRequested()
	deadline := time.NewTimer(0)
	defer deadline.Stop()
	defer s.remaining.close()
	for {
		w := s.awaitTrigger(deadline)
		// Before anything else that may be due as well: nobody sees this signal again.
		o.signalled = o.signalled || endsPrograms(w.signal)
		if o.record(w.process); w.process.gone {
			return o
		}
		if d := s.stopReason(time.Now()); d != nil {
			s.reportLoss(*d)
			o.lost = true
			s.stop(d.killAt, &o)
			return o
		}
		if w.late || w.process.unguarded {
			s.reportKill(w.process.unguarded)
			s.stop(time.Now(), &o)
			return o
		}
		s.handle(w, &o)
	}
}

// sleep waits until something has happened, or a look at the lease is due.
func (s *supervisor) awaitTrigger(deadline *time.Timer) (w trigger) {
	deadline.Reset(min(time.Until(s.lock.TrustedUntil().Add(-s.grace())), lookAgain))
	select {
	case w.process = <-s.tree.Events():
		return w
	case w.signal = <-s.signals:
	case <-s.revoked:
		w.revocation, s.revoked = true, nil
	case <-s.lock.Context().Done():
	case <-deadline.C:
	case <-s.overdue:
		w.late = true
	case <-s.remaining.due:
		w.due = true
	}
	select { // a command that has ended by now need not be stopped
	case w.process = <-s.tree.Events():
	default:
	}
	return w
}

// attendTo does what is to be done while nothing is lost.
func (s *supervisor) handle(w trigger, o *outcome) {
	if w.process.ended {
		s.superviseRemaining()
	}
	if w.revocation && s.passRevocation() {
		o.revoked = true
	}
	if w.due {
		s.checkRemaining(o.end)
	}
	s.passSignal(w.signal)
	if w.process.stopped != 0 && s.terminal != nil { // last, because it may stop this process as well
		s.stopWithCommand(w.process.stopped)
	}
}

// note keeps how the command has ended.
func (o *outcome) record(ev processEvent) {
	if ev.ended {
		o.end = ev.end
	}
}

// giveWay tells the command that somebody has asked for the lock, and reports whether
// it did: it is up to the command when it ends, and nothing is lost until then.
func (s *supervisor) passRevocation() bool {
	at := clock(time.Now())
	if s.ignoreRevoke {
		s.report.info(event{Event: "revoked", Reason: "ignored"}, "%s somebody asks for %s; not passed on, as --ignore-revoke says", at, s.report.lock)
		return false
	}
	s.report.warn(event{Event: "revoked"}, "%s somebody asks for %s: the command gets TERM, once, and keeps the %s until it has ended", at, s.report.lock, s.report.what)
	if err := s.tree.Signal(s.to, syscall.SIGTERM); err != nil {
		s.report.warn(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot send TERM to the command: %v; it goes on, with the %s", at, err, s.report.what)
		return false
	}
	s.noteEndSignal(syscall.SIGTERM)
	return true
}

// wasTold begins the time that the command has to end, if that is limited.
func (s *supervisor) noteEndSignal(sig syscall.Signal) {
	if s.endSignal == 0 && s.killAfter > 0 {
		s.overdue = time.After(s.killAfter)
	}
	s.endSignal = sig
}

// pass passes on a signal that this process got. One that was caught for our own sake
// stays here.
func (s *supervisor) passSignal(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	switch {
	case !ok || number == syscall.SIGPIPE:
	case number == signalContinue && s.terminal != nil:
		s.terminal.resume()
	case number == signalStop && s.terminal != nil && s.to == everything:
		s.stopWithCommand(number) // of the rest nobody says that it obeys
	default:
		_ = s.tree.Signal(s.to, number) // who sent it would not be told either
		if endsPrograms(number) {
			s.noteEndSignal(number)
		}
	}
}

// stopped lets this process be stopped with the command. If not all of it can be, then
// it must not: it has to watch over the others. Nor must the attempt keep it from that.
func (s *supervisor) stopWithCommand(by syscall.Signal) {
	limit := time.Until(s.lock.TrustedUntil().Add(-s.grace()))
	if err := s.terminal.commandStopped(by, limit); err != nil {
		s.report.warn(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot stop all of the command: %v; it goes on", clock(time.Now()), err)
	}
}

// trustIsOver tells that there is no time left to stop in, whatever TrustedUntil says:
// if the machine has slept, that is on a clock that stood still.
func trustIsOver(err error) bool { return errors.Is(err, framework.ErrTrustExpired) }

// danger returns why the command must stop now, nil if it need not.
func (s *supervisor) stopReason(now time.Time) *stopReason {
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
		return &stopReason{reason: err.Error(), killAt: killAt}
	}
	if now.Before(until.Add(-s.grace())) {
		return nil
	}
	if s.sessionTrust != nil && s.sessionTrust().After(until) {
		return &stopReason{reason: "its maximum hold time is over at " + clock(until), killAt: until}
	}
	silent := now.Sub(until.Add(-s.sessionTimeout() / 3 * 2)).Round(time.Millisecond)
	return &stopReason{
		reason: fmt.Sprintf("no server has answered for %v, and without an answer the %s is lost at %s", silent, s.report.what, clock(until)),
		killAt: until,
	}
}
