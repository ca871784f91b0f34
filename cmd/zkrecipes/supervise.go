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

// A supervisedLease is a lease as supervision uses it.
type supervisedLease interface {
	Context() context.Context
	Err() error
	TrustedUntil() time.Time
	RevocationRequested() <-chan struct{}
}

// A processTree is a running command with all processes that it has started.
type processTree interface {
	Events() <-chan processEvent
	Signal(to part, sig syscall.Signal) error
	Kill() error
	Running() []processName
}

// A part of a processTree gets a signal.
type part int

const (
	commandGroup part = iota // the process group that the command was started in
	outsideGroup             // processes that have left it
	everything
)

// A terminalLender handles job control; see terminal.
type terminalLender interface {
	commandStopped(by syscall.Signal, limit time.Duration) error
	resume()
	reclaim()
	close()
}

// A supervisor watches over a command that runs under a lock, and over all processes
// that it has started, until the last of them has ended.
type supervisor struct {
	lock         supervisedLease
	tree         processTree
	terminal     terminalLender // nil if there is none
	signals      <-chan os.Signal
	grace        func() time.Duration // for the present session timeout
	sessionTrust func() time.Time     // with --max-hold: until when the session is trusted
	ignoreRevoke bool
	killAfter    time.Duration // KILL so long after endSignal; 0: never
	report       *reporter

	revoked   <-chan struct{}  // a revocation is requested; nil once that was seen
	to        part             // which part gets signals
	endSignal syscall.Signal   // sent to end the command; 0: none was sent
	overdue   <-chan time.Time // endSignal was sent killAfter ago
	remaining remainingProcesses
}

// lookAgain is how often the lease is checked even if nothing is due: on a connection
// to a server that grants a shorter session timeout, everything is due earlier.
const lookAgain = time.Second

// An outcome is how a supervised command ended.
type outcome struct {
	end       ending
	lost      bool // it was stopped because the lock was lost or about to be
	revoked   bool // it got TERM because a revocation was requested
	signalled bool // a signal has come that usually ends a program
}

// A stopReason says why a command must stop, and when it is killed.
type stopReason struct {
	reason string
	killAt time.Time
}

// A trigger is the reason for one round of the loop.
type trigger struct {
	process    processEvent
	signal     os.Signal
	revocation bool // a revocation is requested
	late       bool // --kill-after is over
	due        bool // time to check the remaining processes
}

// run returns when the command and all processes that it has started have ended: by
// themselves, or because they had to.
//
// The lease is checked before each trigger is handled: after a pause of this process
// many triggers are due at once, and a stopped command must not be continued without a
// lock.
func (s *supervisor) run() (o outcome) {
	s.revoked = s.lock.RevocationRequested()
	deadline := time.NewTimer(0)
	defer deadline.Stop()
	defer s.remaining.close()
	for {
		w := s.awaitTrigger(deadline)
		// First of all, because this signal is not delivered again.
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

// awaitTrigger waits until something has happened, or a check of the lease is due.
func (s *supervisor) awaitTrigger(deadline *time.Timer) (w trigger) {
	deadline.Reset(s.untilLook())
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

// untilLook is when the lease has to be looked at, at the latest.
func (s *supervisor) untilLook() time.Duration {
	return min(time.Until(s.lock.TrustedUntil().Add(-s.grace())), lookAgain)
}

// handle handles a trigger while nothing is lost.
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
	if w.process.stopped != 0 && s.terminal != nil { // last, because this may stop this process too
		s.stopWithCommand(w.process.stopped)
	}
}

// record keeps how the command has ended.
func (o *outcome) record(ev processEvent) {
	if ev.ended {
		o.end = ev.end
	}
}

// passRevocation passes a request for revocation to the command as TERM, and reports
// whether it did. The command decides when it ends; the lock is held until then.
func (s *supervisor) passRevocation() bool {
	at := clock(time.Now())
	if s.ignoreRevoke {
		s.report.info(event{Event: "revoked", Reason: "ignored"}, "%s revocation of %s requested; not passed on to the command, because of --ignore-revoke", at, s.report.either())
		return false
	}
	s.report.warn(event{Event: "revoked"}, "%s revocation of %s requested: the command gets TERM, once, and keeps the %s until it has ended", at, s.report.either(), s.report.what)
	if err := s.tree.Signal(s.to, syscall.SIGTERM); err != nil {
		s.report.warn(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot send TERM to the command: %v; the command goes on and keeps the %s", at, err, s.report.what)
		return false
	}
	s.noteEndSignal(syscall.SIGTERM)
	return true
}

// noteEndSignal starts the time of --kill-after, if that was given.
func (s *supervisor) noteEndSignal(sig syscall.Signal) {
	if s.endSignal == 0 && s.killAfter > 0 {
		s.overdue = time.After(s.killAfter)
	}
	s.endSignal = sig
}

// passSignal passes on a signal that this process got, except those that are caught for
// this process only.
func (s *supervisor) passSignal(sig os.Signal) {
	number, ok := sig.(syscall.Signal)
	switch {
	case !ok || number == syscall.SIGPIPE:
	case number == signalContinue && s.terminal != nil:
		s.terminal.resume()
	case number == signalStop && s.terminal != nil && s.to == everything:
		s.stopWithCommand(number) // the remaining processes may not obey it
	default:
		_ = s.tree.Signal(s.to, number) // its sender gets no error either
		if endsPrograms(number) {
			s.noteEndSignal(number)
		}
	}
}

// stopWithCommand stops this process with the command. If some of the command's
// processes do not stop, this process goes on, because it must watch them; so the
// attempt is limited.
func (s *supervisor) stopWithCommand(by syscall.Signal) {
	limit := time.Until(s.lock.TrustedUntil().Add(-s.grace()))
	if err := s.terminal.commandStopped(by, limit); err != nil {
		s.report.warn(event{Event: "unstoppable", Reason: err.Error()}, "%s cannot stop all processes of the command: %v; the command goes on", clock(time.Now()), err)
	}
}

// trustIsOver reports that no time is left to stop, whatever TrustedUntil says: its
// clock stands still while the machine sleeps.
func trustIsOver(err error) bool { return errors.Is(err, framework.ErrTrustExpired) }

// stopReason returns why the command must stop now, nil if it need not.
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
		return &stopReason{reason: "its maximum hold time (--max-hold) is over at " + clock(until), killAt: until}
	}
	return &stopReason{
		reason: fmt.Sprintf("no server answers, and without an answer the %s is lost at %s", s.report.what, clock(until)),
		killAt: until,
	}
}
