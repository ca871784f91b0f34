package main

import (
	"cmp"
	"errors"
	"flag"
	"math"
	"path/filepath"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// runFlags is what the command line of "run" says. With several paths it asks for the
// same kind of lock at each.
type runFlags struct {
	jobFlags
	label         string
	shared, write bool
	exclusive     bool
	permits       option[permitNumber]
	stripeFlags
	recordFlags
	try      bool
	conflict int
}

func (f *runFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	f.verb = "run"
	f.jobFlags.register(fs)
	fs.Var(&f.paths, "lock", "")
	f.registerLock(fs)
	f.recordFlags.register(fs)
	f.registerCommand(fs)
	return fs
}

// registerLock adds the flags about the lock that "run" and "hold" share.
func (f *runFlags) registerLock(fs *flag.FlagSet) {
	fs.StringVar(&f.label, "label", "", "")
	fs.BoolVar(&f.shared, "shared", false, "")
	fs.BoolVar(&f.exclusive, "exclusive", false, "")
	fs.BoolVar(&f.write, "write", false, "")
	fs.Func("permits", "", f.permits.set(parsePermits))
	f.stripeFlags.register(fs)
	fs.BoolVar(&f.try, "try", false, "")
	f.conflict = exitConflict
	fs.Func("conflict-exit-code", "", func(text string) (err error) {
		f.conflict, err = parseNumber(text)
		return err
	})
}

func (p *program) parseRun(args []string) (*runFlags, error) {
	f := &runFlags{}
	fs := f.flagSet()
	if err := p.parseJob(fs, args, &f.jobFlags, "lock"); err != nil {
		return nil, err
	}
	if err := f.useRun(time.Now()); err != nil {
		return nil, err
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if f.label == "" {
		f.label = filepath.Base(f.command[0])
	}
	f.nameWhat()
	return f, nil
}

// nameWhat sets what is acquired.
func (f *runFlags) nameWhat() {
	switch f.what = "lock"; {
	case f.permits.given:
		f.what = "permit"
	case f.stripes.given:
		f.what = stripe
	}
}

// check finds the mistakes that show without a server.
func (f *runFlags) check() error {
	path, what := "PATH", "lock"
	if f.once.given {
		path, what = "--once PATH", "job"
	}
	if err := cmp.Or(f.checkOnce(), f.jobFlags.check("run", path, what)); err != nil {
		return err
	}
	return f.checkLock()
}

// checkLock finds the mistakes in the flags about the lock.
func (f *runFlags) checkLock() error {
	switch {
	case f.exclusive && f.shared:
		return f.mistake("--exclusive and --shared contradict each other")
	case f.exclusive && f.permits.given:
		return f.mistake("--exclusive and --permits contradict each other")
	case f.exclusive && f.stripes.given:
		return f.mistake("--exclusive and --stripes contradict each other: as many hold one at a time as there are stripes")
	case f.permits.given && !f.permits.value.isValid():
		return f.mistake("--permits %d: a semaphore has at least one permit, and at most %d", f.permits.value.n, math.MaxInt32)
	case f.shared && f.write:
		return f.mistake("--shared and --write contradict each other")
	case f.shared && f.permits.given:
		return f.mistake("--shared and --permits contradict each other: --shared is for any number of readers, --permits for at most N holders")
	case f.write && f.permits.given:
		return f.mistake("--write and --permits contradict each other")
	case f.permits.given && len(f.paths) > 1:
		return f.mistake("--permits with several paths: only locks can be taken together")
	case f.try && f.timeout.given:
		return f.mistake("--try and --timeout contradict each other")
	case f.timeout.given && f.timeout.value == 0:
		return f.mistake("--timeout 0 leaves no time to ask a server; use --try to take the lock only if it is free")
	case f.conflict < 0 || f.conflict > 255:
		return f.mistake("--conflict-exit-code %d is not between 0 and 255", f.conflict)
	}
	return f.checkStripes()
}

// run acquires once, and runs the command once.
func (p *program) run(args []string) int {
	f, err := p.parseRun(args)
	if err != nil {
		return p.failed(err)
	}
	return p.runJob(&f.jobFlags, f.newRecipe, f.conflict, func(j *job) (int, error) {
		code, _, err := j.runOnce(f.begin(), false)
		if errors.Is(err, once.ErrRecorded) {
			return j.reportRecorded(err), nil
		}
		return code, err
	})
}
