package inspect

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A Job says what the path of a job stores: see package once.
type Job struct {
	// Records is how many runs are recorded as finished.
	Records int
	// Swept is the moment up to which old records were removed, zero if none were:
	// ticks that are not later are not run any more.
	Swept time.Time
}

// addJob adds the queues of the runs, if the path is that of a job: if it has records,
// or a node that is named like a run and has contenders or a lock-delay. Others may
// have that name, such as a "tls.key".
func (s *survey) addJob(ctx context.Context) error {
	var runs []string
	for _, child := range s.children {
		if _, _, ok := znode.ParseRun(child); ok {
			runs = append(runs, child)
		}
	}
	slices.Sort(runs)
	if slices.Contains(s.children, znode.RecordsDir) {
		if err := s.addRecords(ctx); err != nil {
			return err
		}
	}
	all := make([]*place, len(runs))
	for i, run := range runs {
		all[i] = &place{path: s.path + "/" + run, recipe: Lock, queue: Queue{Recipe: Run, Run: runText(run)}}
	}
	err := s.addLocks(ctx, all)
	if s.Job == nil && slices.ContainsFunc(s.LockDelays, func(d LockDelay) bool { return d.Recipe == Run }) {
		s.Job = &Job{}
	}
	return err
}

// addRecords reads how many records there are, and up to when they were swept. Another
// program may have a node of that name.
func (s *survey) addRecords(ctx context.Context) error {
	data, stat, err := s.client.Get(ctx, s.path+"/"+znode.RecordsDir)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	if swept, ok := znode.ParseSwept(data); err == nil && ok {
		s.Job = &Job{Records: int(stat.NumChildren), Swept: swept}
	}
	return err
}

// runText returns the key of a run, or its tick, from the name of its node. That of a
// long key is a hash, and says no more.
func runText(name string) string {
	key, tick, _ := znode.ParseRun(name)
	switch {
	case !tick.IsZero():
		return znode.FormatTick(tick)
	case key != "":
		return key
	}
	return name
}
