package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// jobFlags are the flags that "run" and "elect" share: where ZooKeeper is, what to run,
// and how to end it. "hold" has no command.
type jobFlags struct {
	verb string
	connection
	paths pathList // of the locks or the election
	what  string   // what is acquired: a lock, a permit, the leadership
	run   string   // with --once its key or tick
	holdFlags
	grace        option[time.Duration]
	killAfter    option[time.Duration]
	ignoreRevoke bool
	namespace    bool // for the command
	json, quiet  bool
	shell        option[string] // a command for sh
	command      []string
}

// register adds the flags, but not the one for the path.
func (f *jobFlags) register(fs *flag.FlagSet) {
	f.connection.register(fs)
	fs.Func("grace", "", f.grace.set(parseDuration))
	f.holdFlags.register(fs)
	fs.Func("kill-after", "", f.killAfter.set(parseDuration))
	fs.BoolVar(&f.namespace, "pid-namespace", false, "")
	fs.BoolVar(&f.ignoreRevoke, "ignore-revoke", false, "")
	f.registerReports(fs)
}

// registerReports adds the flags about what is reported.
func (f *jobFlags) registerReports(fs *flag.FlagSet) {
	fs.BoolVar(&f.json, "json", false, "")
	fs.BoolVar(&f.quiet, "quiet", false, "")
}

// mistake is a usageError of the verb.
func (f *jobFlags) mistake(format string, args ...any) error {
	return usageErrorf(f.verb+": "+format, args...)
}

// check finds the mistakes that show without a server. verb is "run" or "elect", path
// how the path is written.
func (f *jobFlags) check(verb, path, what string) error {
	if len(f.paths) == 0 {
		return usageErrorf("%s: no %s: give %s, as in: zkrecipes %s %s -- COMMAND ARGS...",
			verb, what, path, verb, strings.Replace(path, "PATH", examplePath(verb), 1))
	}
	if err := cmp.Or(f.checkCommand(verb, path), f.checkPaths(verb), f.holdFlags.check(verb)); err != nil {
		return err
	}
	if f.killAfter.given && f.killAfter.value == 0 {
		return usageErrorf("%s: --kill-after 0 leaves no time to end; without it the command may take as long as it needs", verb)
	}
	if _, err := f.graceFor(f.sessionTimeout); err != nil {
		return usageErrorf("%s: %v", verb, err)
	}
	return nil
}

// The phases of a job.
const (
	acquiring int32 = iota
	holding
	finished
)

// A job is one "run" or "elect": a command, and the lock that it needs to run. Or it is
// one "hold": the lock alone.
type job struct {
	*program
	*jobFlags
	cfg       framework.Config
	file      string // of the command
	report    *reporter
	newRecipe func(*framework.Client) (recipe, error) // from the flags
	recipe    recipe

	signals  chan os.Signal
	client   *framework.Client
	held     heldLease
	since    time.Time // it was granted, or a moment later
	session  *framework.Session
	granted  time.Duration // the session timeout that was reported last
	waited   bool          // another client held the lock
	left     bool          // the session is left to the servers, which end it later
	cleanups cleanups
	watcher  sync.WaitGroup
	phase    atomic.Int32 // read by watcher
}

// runJob prepares a job, runs it, and returns the exit code. conflict is the exit code
// when another client holds the lock.
func (p *program) runJob(
	f *jobFlags, newRecipe func(*framework.Client) (recipe, error), conflict int, do func(*job) (int, error),
) int {
	j := &job{program: p, jobFlags: f, newRecipe: newRecipe, signals: make(chan os.Signal, 64)}
	j.report = newReporter(p.stderr, f.paths[0], f.json, f.quiet)
	j.report.paths, j.report.what, j.report.run = f.paths, f.what, f.run
	if p.env.get("TERM") != "dumb" {
		j.report.foreground = func() bool { return inForeground(p.stderr) }
	}
	defer j.report.close()
	j.reportKind()
	code, err := j.execute(do)
	if err != nil {
		return j.reportFailure(err, conflict)
	}
	return code
}

// execute returns the exit code, or why the command did not run.
func (j *job) execute(do func(*job) (int, error)) (code int, err error) {
	if len(j.command) > 0 {
		if err := checkSystem(j.command[0]); err != nil {
			return 0, err
		}
	}
	var chroot string
	if j.cfg, chroot, err = j.config(j.auth); err != nil {
		return 0, err
	}
	j.cfg.Chroot = chroot
	if len(j.paths) > 1 {
		j.cfg.Sessions = 1 // the one that is watched has all locks, or there is no room
	}
	if len(j.cfg.Auth) > 0 {
		j.cfg.ACL = framework.OwnedBelow(j.fullPaths(chroot)...)
	}
	if err := j.cfg.Validate(); err != nil { // again, for the chroot
		return 0, configMistake(err)
	}
	if err := j.lookUpCommand(); err != nil {
		return 0, err
	}
	watchSignals(j.signals)
	defer signal.Stop(j.signals)
	defer j.disconnect()
	return do(j)
}

// lookUpCommand finds out whether the command can be executed, if there is one.
func (j *job) lookUpCommand() (err error) {
	if len(j.command) == 0 {
		return nil
	}
	if j.file, err = findCommand(j.command[0]); err != nil {
		return err
	}
	if j.namespace {
		if err := checkNamespace(j.env); err != nil {
			return &commandError{name: j.command[0], code: exitCannotRun, err: err}
		}
	}
	return nil
}

// disconnect ends the session, and with it all its nodes, unless those have to stay.
func (j *job) disconnect() {
	j.phase.Store(finished)
	if j.left {
		return
	}
	if j.client != nil {
		j.client.Close()
	}
	j.watcher.Wait()
}

// runOnce acquires and runs the command once. again says that a job that repeats should
// do so again.
func (j *job) runOnce(w waitLimit, repeats bool) (code int, again bool, err error) {
	// The lease depends on this context, so it lasts until everything is done.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	err = j.awaitUnlessSignalled(ctx, cancel, w)
	var (
		o      outcome
		lasted time.Duration
	)
	if err == nil {
		o, lasted, err = j.runLocked()
	}
	switch {
	case err == nil:
		// A signal that ended the command ends the job too.
		code, again = j.finish(o, lasted, repeats && (o.lost || o.revoked) && !o.signalled)
		return code, again, nil
	case repeats && errors.Is(err, lease.ErrLost): // between the grant and the command's start
		j.giveBack()
		return 0, true, nil
	}
	j.giveBack()
	return 0, false, err
}

// awaitUnlessSignalled is await; a signal that ends the wait cancels the context.
func (j *job) awaitUnlessSignalled(ctx context.Context, cancel context.CancelCauseFunc, w waitLimit) error {
	return untilSignal(ctx, cancel, j.signals, func(ctx context.Context) error { return j.await(ctx, w) })
}

// untilSignal is cancelledBySignal for an f that may return before it notices that.
func untilSignal(ctx context.Context, cancel context.CancelCauseFunc, signals <-chan os.Signal, f func(context.Context) error) error {
	err := cancelledBySignal(ctx, cancel, signals, f)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// cancelledBySignal runs f, and cancels its context when a signal ends the wait. It
// returns what f does.
func cancelledBySignal(ctx context.Context, cancel context.CancelCauseFunc, signals <-chan os.Signal, f func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	for {
		select {
		case err := <-done:
			return err
		case sig := <-signals:
			if number, ok := sig.(syscall.Signal); ok && endsWait(sig) {
				cancel(&signalError{number})
			}
		}
	}
}

// runLocked runs the command while the lease is held, and returns how it ended.
func (j *job) runLocked() (outcome, time.Duration, error) {
	start := time.Now()
	if err := j.held.Err(); err != nil {
		return outcome{}, 0, fmt.Errorf("the command was not started: %w", err)
	}
	watchStops(j.signals) // before there is a command, because Ctrl-Z must not stop zkrecipes alone
	defer unwatchStops()
	env := j.passedOn().forCommand(j.paths, j.held.Tokens(), j.session.ID()).withStripe(j.report.stripe.Load()).withRun(j.recipe.run)
	command, err := startProcess(j.held.Context(), j.file, j.command, env, [3]*os.File{j.stdin, j.stdout, j.stderr}, j.namespace)
	if err != nil {
		return outcome{}, 0, err
	}
	if err := checkProc(); err != nil {
		j.report.warn(event{Event: "unstoppable", Reason: err.Error()},
			"%s cannot list processes: %v; processes that leave the command's process group cannot be stopped", clock(time.Now()), err)
	}
	s := j.newSupervisor()
	s.tree = command
	if s.terminal = lendTerminal(command, j.signals); s.terminal != nil {
		defer s.terminal.close()
	}
	o := s.run()
	j.phase.Store(finished)
	return o, time.Since(start), nil
}

// newSupervisor returns the one of what is held, without a command.
func (j *job) newSupervisor() *supervisor {
	s := &supervisor{
		lock: j.held, signals: j.signals, report: j.report,
		grace: j.graceNow, ignoreRevoke: j.ignoreRevoke, killAfter: j.killAfter.value,
	}
	if j.maxHold.given {
		s.sessionTrust = j.session.TrustedUntil
	}
	return s
}

// graceNow is the grace for the session that holds the lock. It may be shorter than
// asked for, if the session was replaced while waiting and servers differ in what they
// allow.
func (j *job) graceNow() time.Duration {
	limit := j.session.Timeout() / maxGraceShare
	grace, err := j.graceFor(j.session.Timeout())
	if err != nil {
		return limit
	}
	return grace
}
