package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
)

// A tally is what the store has in the end.
type tally struct {
	requests int // with a part
	stored   int // parts
	begins   int // uploads, of which more than one of an artifact if one was killed
	finishes int
	refused  int // late writes
	right    int // artifacts whose object has their content
}

func count(s *store) (t tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range reports {
		o := s.object(a.name)
		t.requests += o.requests
		t.stored += o.stored
		t.begins += o.begins
		t.finishes += o.finishes
		t.refused += o.refused
		if bytes.Equal(o.whole, bytes.Join(a.parts, nil)) {
			t.right++
		}
	}
	return t
}

// String describes the tally.
func (t tally) String() string {
	return fmt.Sprintf(`%d artifacts of %d parts: begun %d times, %d parts sent, and %d stored, each once
%d objects, each finished once
late writes that were refused: %d
`, len(reports), partsEach, t.begins, t.requests, t.stored, t.finishes, t.refused)
}

// check fails unless each artifact was uploaded once, although processes were killed.
func (t tally) check() error {
	n := len(reports)
	if t.right != n || t.finishes != n || t.stored != n*partsEach {
		return fmt.Errorf("%d artifacts, but %d objects are right, %d were finished, and %d parts stored", n, t.right, t.finishes, t.stored)
	}
	if t.begins < 2*n || t.refused == 0 {
		return fmt.Errorf("%d uploads were begun, and %d late writes refused: too few to show anything", t.begins, t.refused)
	}
	return nil
}

// unlocked uploads an artifact from as many goroutines as there are processes, without
// a lock and its token.
func unlocked(ctx context.Context, b bucket, s *store, out io.Writer) error {
	errs := make(chan error, processes)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() { errs <- (&uploader{bucket: b}).send(ctx, unlockedReport, 0) })
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.object(unlockedReport.name)
	if o.requests != processes*partsEach || o.finishes != processes {
		return fmt.Errorf("without a lock %d parts were sent, and %d times all: nothing is wrong with that", o.requests, o.finishes)
	}
	fmt.Fprintf(out, "without a lock: %d processes sent %d parts for an artifact of %d, and finished it %d times\n",
		processes, o.requests, partsEach, o.finishes)
	return nil
}
