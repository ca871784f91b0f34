package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/inspect"
)

// surveys lets scrapes that come at the same time share one survey.
type surveys struct {
	take func(ctx context.Context) (text string, err error)
	ctx  context.Context // of all surveys

	running sync.WaitGroup

	mu  sync.Mutex
	now *sharedSurvey // under way; nil if none is
}

// A sharedSurvey is one survey. It is canceled when nobody waits for it any more.
type sharedSurvey struct {
	waiting int // guarded by surveys.mu
	cancel  context.CancelFunc

	done chan struct{}
	text string // written once for all; set before done is closed, and so is err
	err  error
}

// during makes a context that of all surveys. It is called once, before there is one.
func (s *surveys) during(ctx context.Context) { s.ctx = ctx }

// get waits for the survey that is under way, or for a new one, but not longer than ctx
// lasts.
func (s *surveys) get(ctx context.Context) (text string, err error) {
	v := s.join()
	defer s.leave(v)
	select {
	case <-v.done:
		return v.text, v.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *surveys) join() *sharedSurvey {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = s.begin()
	}
	s.now.waiting++
	return s.now
}

func (s *surveys) leave(v *sharedSurvey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v.waiting--; v.waiting > 0 {
		return
	}
	v.cancel()
	if s.now == v { // it has not ended, and nobody may join it now
		s.now = nil
	}
}

func (s *surveys) begin() *sharedSurvey {
	ctx, cancel := context.WithCancel(s.ctx)
	v := &sharedSurvey{cancel: cancel, done: make(chan struct{})}
	s.running.Go(func() {
		defer cancel()
		v.text, v.err = s.take(ctx)
		s.mu.Lock()
		if s.now == v { // the next scrape must not get what was found before it came
			s.now = nil
		}
		s.mu.Unlock()
		close(v.done)
	})
	return v
}

// survey looks at all locks once.
func (x *exporter) survey(ctx context.Context) (text string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, x.limit, unanswered("no answer within %v", x.limit))
	defer cancel()
	begun := time.Now()
	locks, err := inspect.Locks(ctx, x.client, x.full)
	if err != nil {
		return "", err
	}
	unreadable := locks.Unreadable
	e := exposition{}
	if x.litter {
		found, err := inspect.FindLitter(ctx, x.client, x.full)
		if err != nil {
			return "", err
		}
		e.addLitter(found.Litter)
		unreadable = append(unreadable, found.Unreadable...)
		slices.Sort(unreadable)
		unreadable = slices.Compact(unreadable)
	}
	view := x.view
	view.heldFor = x.holders.see(locks.Locks, begun)
	given := givenPaths(x.path, x.full)
	for i := range locks.Locks {
		locks.Locks[i].Path = given(locks.Locks[i].Path)
	}
	e.addLocks(locks.Locks, view)
	e.add("zkrecipes_paths_unreadable", float64(len(unreadable)))
	e.add("zkrecipes_exporter_survey_seconds", time.Since(begun).Seconds())
	e.addUp(1)
	return e.String(), nil
}
