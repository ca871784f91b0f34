package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// holdVerbFlags is what the command line of "hold" says: those of "run" that are not
// about a command.
type holdVerbFlags struct{ runFlags }

func (f *holdVerbFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("hold", flag.ContinueOnError)
	f.verb = "hold"
	f.connection.register(fs)
	fs.Var(&f.paths, "lock", "")
	f.registerLock(fs)
	fs.Func("grace", "", f.grace.set(parseDuration))
	fs.Func("max-hold", "", f.maxHold.set(parseDuration))
	fs.Func("lock-delay", "", f.lockDelay.set(parseDuration))
	f.registerReports(fs)
	return fs
}

func (p *program) parseHold(args []string) (*holdVerbFlags, error) {
	f := &holdVerbFlags{}
	command, err := p.parseCommand(f.flagSet(), args, "lock")
	if err != nil {
		return nil, err
	}
	if len(command) > 0 {
		return nil, f.mistake("it runs no command; for that, see \"zkrecipes help run\"")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.label == "" {
		f.label = "hold"
	}
	f.nameWhat()
	return f, nil
}

// check finds the mistakes that show without a server.
func (f *holdVerbFlags) check() error {
	if len(f.paths) == 0 {
		return checkLockPath("hold", "")
	}
	if i := slices.IndexFunc(f.paths[1:], func(path string) bool { return !strings.HasPrefix(path, "/") }); i >= 0 {
		return f.mistake("%q is no path, and hold runs no command; for that, see \"zkrecipes help run\"", f.paths[1+i])
	}
	if err := f.checkPaths("hold"); err != nil {
		return err
	}
	if _, err := f.graceFor(f.sessionTimeout); err != nil {
		return f.mistake("%v", err)
	}
	return f.checkLock()
}

// notBegun says in a message that what the job is for has not begun.
func (f *jobFlags) notBegun() string {
	if len(f.command) == 0 {
		return "nothing is held"
	}
	return "the command was not started"
}

// goesOn says in a message what goes on while the connection is broken.
func (f *jobFlags) goesOn() string {
	if len(f.command) == 0 {
		return "hold goes on"
	}
	return "the command goes on"
}

// hold acquires once, says so, and holds until a signal or the loss of what is held.
func (p *program) hold(args []string) int {
	f, err := p.parseHold(args)
	if err != nil {
		return p.failed(err)
	}
	return p.runJob(&f.jobFlags, f.newRecipe, f.conflict, func(j *job) (int, error) { return j.holdOnce(f.begin()) })
}

// holdOnce is runOnce without a command: it prints what is held.
//
// The output may block, such as that to a terminal that was stopped with Ctrl-S. That
// must not keep it from noticing a loss.
func (j *job) holdOnce(w waitLimit) (code int, err error) {
	// The lease depends on this context, so it lasts until everything is done.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if err = j.awaitUnlessSignalled(ctx, cancel, w); err != nil {
		j.giveBack()
		return 0, err
	}
	written := make(chan struct{})
	defer func() {
		select {
		case <-written:
		case <-time.After(flushLimit):
		}
	}()
	printed := make(chan error, 1)
	go func(line []byte) {
		defer close(written)
		_, err := j.stdout.Write(line)
		printed <- err
	}(j.describeHeld(j.since.Sub(w.start)))
	o, err := j.keep(printed)
	if err != nil {
		j.giveBack()
		return 0, err
	}
	return j.endHold(o), nil
}

// keep holds, and returns why that has to end. An error means that it could not be
// printed: then nobody knows that it is held.
func (j *job) keep(printed <-chan error) (o outcome, err error) {
	defer j.phase.Store(finished)
	s := j.newSupervisor()
	deadline := time.NewTimer(0)
	defer deadline.Stop()
	revoked := j.held.RevocationRequested()
	for err == nil {
		asked := false
		deadline.Reset(s.untilLook())
		select {
		case err = <-printed:
		case sig := <-j.signals:
			o.signalled = endsWait(sig)
		case <-revoked:
			asked, revoked = true, nil
		case <-j.held.Context().Done():
		case <-deadline.C:
		}
		// First of all: after a pause of this process much is due at once.
		if d := s.stopReason(time.Now()); d != nil {
			j.reportHoldLost(*d)
			j.left = time.Now().Before(d.killAt)
			return outcome{lost: true}, nil
		}
		// What relies on it may go on, and cannot be told to end: so it is only said.
		if asked {
			j.report.warn(event{Event: "revoked"}, "%s revocation of %s requested: the %s is kept until hold gets a signal; end what needs it first",
				clock(time.Now()), j.report.either(), j.what)
		}
		if o.signalled {
			return o, nil
		}
	}
	return o, fmt.Errorf("standard output: %w", withoutName(err))
}

// describeHeld returns what "hold" prints: of each lock a line with its token and, last
// because it may contain spaces, its path. With --json it is the event.
func (j *job) describeHeld(waited time.Duration) []byte {
	if j.json {
		return append(j.report.inJSON(j.acquiredEvent(waited)), '\n')
	}
	var out strings.Builder
	for i, token := range j.held.Tokens() {
		out.WriteString(token.String())
		if number := j.report.stripe.Load(); number != nil {
			fmt.Fprintf(&out, " %d", *number)
		}
		fmt.Fprintf(&out, " %s\n", quote.Line(j.paths[i]))
	}
	return []byte(out.String())
}

// reportHoldLost reports why hold ends, and when it is over for whatever relies on it.
func (j *job) reportHoldLost(d stopReason) {
	killAt, until := d.killAt.UTC().Truncate(time.Millisecond), j.held.TrustedUntil().UTC().Truncate(time.Millisecond)
	what := "what relies on it must have ended by " + clock(d.killAt)
	if !time.Now().Before(d.killAt) {
		what = "what relies on it goes on WITHOUT THE " + strings.ToUpper(j.what)
	}
	j.report.warn(event{Event: "lost", Reason: d.reason, KillAt: &killAt, TrustedUntil: &until},
		"%s %s: %s; %s; exit code %d", clock(time.Now()), j.report.nameWithKind(), d.reason, what, exitLost)
}

// endHold releases what is held, reports how that has ended, and returns the exit code:
// 0 only if it was held to the end, and the release is confirmed.
//
// After a loss nothing may be deleted as long as what relies on it may go on: it learns
// of the loss by the end of this process, and another client would be granted the lock
// at that moment. So the nodes are left to the end of the session, which the servers do
// not end before the lease stops being trusted.
func (j *job) endHold(o outcome) (code int) {
	var released error
	switch {
	case j.left:
	case o.lost:
		released = j.held.Release() // the node goes in the background or with the session
	default:
		released = j.settle("", j.held.Release)
	}
	e := event{Event: "released", Held: seconds(time.Since(j.since)), ExitCode: &code}
	if released != nil && !o.lost {
		e.Reason = errorText(released)
	}
	switch {
	case o.lost:
		code, e.Event = exitLost, "stopped"
		j.report.warn(e, "")
	case errors.Is(released, lease.ErrLost):
		code, e.Event = exitLost, "unprotected"
		j.report.warn(e, "%s %s %s not held to the end: %s; exit code %d", clock(time.Now()), j.report.name(), j.paths.are(), e.Reason, code)
	case released != nil:
		code = exitUnavailable
		j.report.warn(e, "%s %s %s not released yet, and will be free when the session has ended%s: %s; exit code %d",
			clock(time.Now()), j.report.name(), j.paths.are(), j.thenDelay(), e.Reason, code)
	default:
		j.report.info(e, "")
	}
	return code
}
