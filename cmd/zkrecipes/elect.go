package main

import (
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
	id     string
	listen bool // to others, and take no part
}

func (f *electFlags) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("elect", flag.ContinueOnError)
	f.verb = "elect"
	f.register(fs)
	f.registerCommand(fs)
	fs.Func("path", "", f.paths.Set)
	fs.StringVar(&f.id, "id", "", "")
	fs.BoolVar(&f.listen, "listen", false, "")
	return fs
}

func (p *program) parseElect(args []string) (*electFlags, error) {
	f := &electFlags{}
	fs := f.flagSet()
	if err := p.parseJob(fs, args, &f.jobFlags, "path"); err != nil {
		return nil, err
	}
	if f.listen {
		err := f.checkListen()
		return f, err
	}
	f.what = "leadership"
	if err := f.check("elect", "PATH", "election"); err != nil {
		return nil, err
	}
	if !utf8.ValidString(f.id) {
		return nil, usageErrorf("elect: --id %q is not UTF-8", f.id)
	}
	return f, nil
}

// elect takes part in an election, term after term, until the command ends by itself.
//
// It does not use leader.Election.Lead, which tries again after a failure: here the
// command decides whether there is another term, and a signal may come in between.
func (p *program) elect(args []string) int {
	f, err := p.parseElect(args)
	if err != nil {
		return p.failed(err)
	}
	if f.listen {
		return p.failed(p.listen(f))
	}
	return p.runJob(&f.jobFlags, f.newRecipe, exitConflict, func(j *job) (int, error) {
		for {
			code, again, err := j.runOnce(f.begin(), true)
			if err != nil || !again {
				return code, err
			}
			j.phase.Store(acquiring)
			j.report.info(event{Event: "campaigning", Kind: j.recipe.kind}, "%s campaigning again for %s", clock(time.Now()), j.paths)
		}
	})
}

// newRecipe returns the election.
func (f *electFlags) newRecipe(client *framework.Client) (recipe, error) {
	election, err := leader.New(client, f.paths[0], leader.WithID(f.id), leader.WithMaxHold(f.maxHold.value),
		leader.WithMinHold(f.minHold.value), leader.WithLockDelay(f.lockDelay.value))
	if err != nil {
		return recipe{}, err
	}
	return recipe{
		path: f.paths[0], kind: lease.KindLeader,
		acquire: acquireFrom(election), contenders: election.Contenders, mustWait: anyContender,
	}, nil
}
