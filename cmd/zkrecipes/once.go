package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// recordFlags are the flags for a run that is done once: that of a tick or, with --key,
// of a key.
type recordFlags struct {
	once            option[string]
	tick, retention option[time.Duration]
	at              time.Time // the tick
}

func (f *recordFlags) register(fs *flag.FlagSet) {
	fs.Func("once", "", f.once.set(parseText))
	fs.Func("tick", "", f.tick.set(parseDuration))
	fs.Func("retention", "", f.retention.set(parseDuration))
}

// The least values of the flags. A shorter tick is no schedule, and package once has
// that least retention.
const (
	leastTick      = time.Second
	leastRetention = time.Minute
)

// tickAt returns the latest multiple of the interval since the Unix epoch that is not
// later than now.
//
// It is not the nearest one. Cron and systemd start a command at its moment or later,
// never before, by the same clock as that of now: so all machines find the same tick,
// however far their clocks are apart. And a start that is late by up to the whole
// interval, on a busy machine or by hand, still belongs to its own tick, and does not
// take the next one away.
func tickAt(now time.Time, interval time.Duration) time.Time {
	since := now.Sub(time.Unix(0, 0))
	return now.Add(-since % interval).UTC()
}

// useRun makes the path of a job the one that is locked, and keeps the tick: it is that
// of the start, not that of the end of a wait.
func (f *runFlags) useRun(now time.Time) error {
	if !f.once.given {
		return nil
	}
	if len(f.paths) > 0 {
		return usageErrorf("run: --lock and --once contradict each other: --once locks one run of the job, and nothing else")
	}
	f.paths, f.run = pathList{f.once.value}, f.key.value
	if f.tick.given && f.tick.value >= leastTick {
		f.at = tickAt(now, f.tick.value)
		f.run = znode.FormatTick(f.at)
	}
	return nil
}

// checkOnce finds the mistakes that show without a server.
func (f *runFlags) checkOnce() error {
	switch {
	case !f.once.given && f.tick.given:
		return usageErrorf("run: --tick without --once: give --once PATH in place of --lock")
	case !f.once.given && f.retention.given:
		return usageErrorf("run: --retention without --once: give --once PATH in place of --lock")
	case !f.once.given:
		return nil
	case f.shared, f.write, f.permits.given, f.stripes.given:
		return usageErrorf("run: --once and --shared, --write, --permits or --stripes contradict each other: one process has a run at a time")
	case f.minHold.given:
		return usageErrorf("run: --once and --min-hold contradict each other: a run that is recorded is not done again, and one that is not has to be taken over at once")
	case f.key.given && f.tick.given:
		return usageErrorf("run: --key and --tick contradict each other: a run has one name")
	case !f.key.given && !f.tick.given:
		return usageErrorf("run: --once without --key or --tick: give --key KEY, or --tick D for a job that is started at intervals of D")
	case f.key.given && f.key.value == "":
		return usageErrorf("run: --key is empty")
	case f.tick.given && f.tick.value < leastTick:
		return usageErrorf("run: --tick %v is shorter than %v", f.tick.value, leastTick)
	case f.retention.given && f.retention.value < leastRetention:
		return usageErrorf("run: --retention %v is shorter than %v", f.retention.value, leastRetention)
	case f.retention.given && f.retention.value < f.tick.value:
		return usageErrorf("run: --retention %v is shorter than --tick %v: the record would be removed while another machine may still be at the same tick",
			f.retention.value, f.tick.value)
	}
	return nil
}

// keep is how long records are kept. A machine can be late by the whole interval.
func (f *recordFlags) keep() time.Duration {
	if f.retention.given {
		return f.retention.value
	}
	return max(once.DefaultRetention, 2*f.tick.value)
}

// A recordedRun is a run that is recorded when the command has ended with 0.
type recordedRun struct {
	*once.Run
	text string // its key or tick
	tick bool
	node string // the name of the node of its queue, and of its record
}

// newRun returns the run of the key or the tick.
func (f *runFlags) newRun(client *framework.Client) (recipe, error) {
	at := f.paths[0]
	job, err := once.New(client, at, once.WithHolder(f.label), once.WithMaxHold(f.maxHold.value), once.WithLockDelay(f.lockDelay.value),
		once.WithRetention(f.keep()))
	if err != nil {
		return recipe{}, err
	}
	run := &recordedRun{text: f.run, tick: f.tick.given}
	if run.tick {
		run.Run, run.node = job.Tick(f.at), znode.TickName(f.at)
	} else {
		run.Run, run.node = job.Key(f.run), znode.KeyName(f.run)
	}
	queue, err := mutex.New(client, at+"/"+run.node)
	if err != nil {
		return recipe{}, err
	}
	return recipe{
		path: at, kind: lease.KindMutex, run: run,
		acquire: acquireFrom(run), contenders: queue.Contenders, mustWait: anyContender,
	}, nil
}

// runName names a run in messages.
func runName(run, path string) string { return fmt.Sprintf("run %s of %s", quote.Brief(run), path) }

// nodes are the parents of contenders and of records, which credentials have to
// protect: who can make a record keeps the run from being done.
func (r *recordedRun) nodes(at string) []recipepath.ProtectedNode {
	own := append(recipepath.QueueNodes(at), recipepath.QueueNodes(at+"/"+r.node)...)
	return append(own, recipepath.SizedNodes(at+"/"+znode.RecordsDir)...)
}

// withRun sets the key or the tick of the run, if it is one that is recorded, and
// removes the other variable, which a zkrecipes above this one may have set.
func (e environ) withRun(r *recordedRun) environ {
	if r == nil {
		return e
	}
	name, other := envLockKey, envLockTick
	if r.tick {
		name, other = other, name
	}
	return slices.DeleteFunc(e.with([]string{name}, []string{r.text}), func(entry string) bool {
		return strings.HasPrefix(entry, other+"=")
	})
}
