package main

import (
	"context"
	"errors"
	"flag"
	"time"
	"unicode/utf8"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// electFlags is what the command line of "elect" says.
type electFlags struct {
	jobFlags
	id string
}

func (p *program) parseElect(args []string) (*electFlags, error) {
	f := &electFlags{}
	fs := flag.NewFlagSet("elect", flag.ContinueOnError)
	f.register(fs, "path")
	fs.StringVar(&f.id, "id", "", "")
	if err := p.parse(fs, args); err != nil {
		return nil, err
	}
	f.command, f.what = fs.Args(), "leadership"
	if err := f.check("elect", "path", "election"); err != nil {
		return nil, err
	}
	if !utf8.ValidString(f.id) {
		return nil, usageErrorf("elect: --id %q is not UTF-8", f.id)
	}
	return f, nil
}

// elect takes part in an election, term after term, until the command ends of its
// own accord.
//
// It does not use leader.Election.Lead: that repeats what fails, while here it is up
// to the command whether there is another term, and a signal may come in between.
func (p *program) elect(args []string) int {
	f, err := p.parseElect(args)
	if err != nil {
		return p.failed(err)
	}
	return p.perform(&f.jobFlags, exitConflict, func(j *job) (int, error) {
		for {
			code, again, err := j.term(f)
			if err != nil || !again {
				return code, err
			}
			j.phase.Store(acquiring)
			j.report.note(event{Event: "campaigning", Kind: j.contest.kind}, "%s campaigning again for %s", clock(time.Now()), j.path)
		}
	})
}

// term is one campaign and, when it is won, one life of the command.
func (j *job) term(f *electFlags) (code int, again bool, err error) {
	// The lease lives under this context, so it lasts until all is done.
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	err = untilSignal(ctx, cancel, j.signals, func(ctx context.Context) error { return j.campaign(ctx, f) })
	var (
		o      outcome
		lasted time.Duration
	)
	if err == nil {
		o, lasted, err = j.underLock()
	}
	if err != nil {
		if !errors.Is(err, lease.ErrLost) {
			return 0, false, err
		}
		_ = j.held.Release() // lost between the grant and the command's start
		return 0, true, nil
	}
	// Whoever told the command to end wants no other.
	again = (o.lost || o.revoked) && !o.asked
	return j.conclude(o, lasted, again), again, nil
}

// campaign connects, unless that is done, and waits to be the leader.
func (j *job) campaign(ctx context.Context, f *electFlags) error {
	w := f.begin()
	if j.client == nil {
		if err := j.connect(ctx, w.toConnect()); err != nil {
			return err
		}
		var err error
		if j.contest, err = f.contest(j.client); err != nil {
			return err
		}
	}
	return j.acquire(ctx, w)
}

// contest returns the election.
func (f *electFlags) contest(client *framework.Client) (contest, error) {
	election, err := leader.New(client, f.path, f.id, leader.WithMaxHold(*f.maxHold.value))
	if err != nil {
		return contest{}, err
	}
	return contest{
		kind: lease.KindLeader, acquire: acquireFrom(election), contenders: election.Participants, mustWait: anybody,
	}, nil
}
