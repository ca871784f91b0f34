package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A survey is one that is being taken.
type survey struct {
	Survey
	client *framework.Client
	path   string

	children []string
	data     []byte   // of the path, if it may say how many permits or stripes there are
	places   []*place // the queues, in order
}

// take lists all that there can be, and then reads the first n contenders. One sync is
// enough: a session sees nothing older than it has seen.
func (s *survey) take(ctx context.Context, n int) error {
	if err := s.client.Sync(ctx, s.path); err != nil {
		return err
	}
	children, stat, err := s.client.Children(ctx, s.path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	s.Exists, s.children = true, children
	for _, step := range []func(ctx context.Context) error{
		func(ctx context.Context) error { return s.readData(ctx, stat) },
		s.addLockDelay, s.addQueues, s.addStripes, s.addJob,
		func(ctx context.Context) error { return readContenders(ctx, s.client, s.places, n) },
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	s.finish()
	return nil
}

// shortestSize is the length of the shortest data that say how many permits or stripes
// there are.
var shortestSize = min(len(znode.Size(1)), len(znode.Stripes(1)))

// readData reads what the path stores, unless it is too short. A node that is gone by
// now stores nothing.
func (s *survey) readData(ctx context.Context, stat framework.Stat) (err error) {
	if int(stat.DataLength) >= shortestSize {
		s.data, _, err = s.client.Get(ctx, s.path)
	}
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	return err
}

// addQueues adds those whose contenders are right below the path, and the semaphore of
// each layout that the children look like. A single queue is recognised, too, by the
// holders that have ended without a release: they may have been the last.
func (s *survey) addQueues(ctx context.Context) error {
	places := queuesAt(s.path, s.children)
	if !slices.ContainsFunc(places, func(p *place) bool { return p.single }) && s.hadPermits() {
		places = append(places, &place{path: s.path, recipe: Semaphore, single: true, queue: Queue{Recipe: Semaphore}})
	}
	if slices.Contains(s.children, znode.QueueDir) || slices.Contains(s.children, znode.PermitsDir) {
		p := &place{path: s.path, recipe: Semaphore, queue: Queue{Recipe: Semaphore}}
		if err := p.list(ctx, s.client); err != nil {
			return err
		}
		at := slices.IndexFunc(places, func(p *place) bool { return p.single })
		if at < 0 {
			at = len(places)
		}
		places = slices.Insert(places, at, p)
	}
	for _, p := range places {
		p.setSize(s.data)
	}
	s.places = append(s.places, places...)
	return nil
}

// finish makes the survey of what was listed and read.
func (s *survey) finish() {
	for _, p := range s.places {
		if p.recipe == Semaphore { // of two layouts those of the single queue, which is the last
			s.Permits = p.permits()
		}
		if len(p.queue.Contenders)+len(p.queue.LeftOut) == 0 {
			continue
		}
		switch q := p.queue; {
		case q.Recipe == Stripe && q.Stripe < s.Stripes.Size:
			s.Stripes.Free--
		case q.Recipe == Run && s.Job == nil:
			s.Job = &Job{}
		}
		s.Queues = append(s.Queues, p.queue)
	}
	s.Others = slices.DeleteFunc(s.children, s.knows)
	slices.Sort(s.Others)
}

// knows reports whether a child is a contender, or a part of the semaphore, of the
// stripes or of the job, or the lock-delay.
func (s *survey) knows(child string) bool {
	if s.Permits != nil && (child == znode.QueueDir || child == znode.PermitsDir) {
		return true
	}
	if child == znode.LockDelayDir {
		return s.delayOf() != nil
	}
	if _, ok := znode.ParseStripeDir(child); ok {
		return true
	}
	if _, _, ok := znode.ParseRun(child); s.Job != nil && (ok || child == znode.RecordsDir) {
		return true
	}
	_, contends := znode.Parse(child, atThePath...)
	return contends
}
