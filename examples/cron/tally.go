package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// A tally is what there is in the end.
type tally struct {
	ticks    int // that any process has seen
	starts   int
	again    int // ticks that were begun more than once
	recorded int // ticks that are
	sum      int // how often one was recorded: each time the sum in ZooKeeper grew
	changes  int // in the store
	refused  int // writes of processes that had lost their lease
}

// count asks the store and ZooKeeper.
func count(ctx context.Context, s *store, client *framework.Client, job *once.Job) (t tally, err error) {
	for _, tick := range s.known() {
		record, err := job.Tick(tick).Recorded(ctx)
		if err != nil {
			return t, err
		}
		t.ticks++
		if record != nil {
			t.recorded++
		}
	}
	data, _, err := client.Get(ctx, sumPath)
	if err != nil {
		return t, err
	}
	t.sum, err = strconv.Atoi(string(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.ticks {
		t.starts += r.begun
		if r.begun > 1 {
			t.again++
		}
	}
	t.changes, t.refused = s.changes, s.refused
	return t, err
}

// String describes the tally.
func (t tally) String() string {
	return fmt.Sprintf(`%d ticks, %d starts: %d ticks were begun more than once
%d ticks were not recorded, and %d recorded twice
%d changes in the store, and %d in ZooKeeper: one for each tick
%d late writes of processes that had been paused were refused
`, t.ticks, t.starts, t.again, t.ticks-t.recorded, t.sum-t.recorded, t.changes, t.sum, t.refused)
}

// check fails unless each tick was done once, although some were begun again, and late
// writes came.
func (t tally) check() error {
	if t.again == 0 || t.refused == 0 {
		return fmt.Errorf("%d ticks were begun again, and %d late writes came: nothing is shown", t.again, t.refused)
	}
	if t.recorded != t.ticks || t.sum != t.ticks || t.changes != t.ticks {
		return fmt.Errorf("%d ticks, but %d are recorded, with %d changes in ZooKeeper and %d in the store",
			t.ticks, t.recorded, t.sum, t.changes)
	}
	return nil
}
