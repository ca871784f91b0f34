package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
)

// play changes the number of jobs at once while the processes work, and kills one. A
// job runs until it is told to end. So when as many run as may, and none has ended, it
// is known that all permits are held. The service notices if ever too many run.
func play(ctx context.Context, c *cluster, limit *semaphore.Semaphore, out io.Writer) error {
	s := c.service
	if err := s.Await(ctx, func() bool { return s.taken() == processes*workers && s.full() }); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d processes with %d workers each, and %d permits: %d jobs run at once\n", processes, workers, first, first)

	// Before Resize has returned permits are granted already.
	s.Change(func() { s.size = more })
	if err := limit.Resize(ctx, more); err != nil {
		return err
	}
	if err := s.Await(ctx, s.full); err != nil {
		return err
	}
	fmt.Fprintf(out, "raised to %d: %d more began beside them, and no process was started again\n", more, more-first)

	began := time.Now()
	killed := c.kill()
	if err := s.Await(ctx, s.full); err != nil {
		return err
	}
	fmt.Fprintf(out, "a process was killed in the middle of %d of these jobs: all its permits came back after %v, and %d run again\n",
		killed, time.Since(began).Round(100*time.Millisecond), more)

	held, err := lower(ctx, s, limit)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "lowered to %d: all %d went on; when %d of them were done, %d permits were held, and no other job had begun\n",
		fewer, more, more-fewer, held)
	return finish(ctx, s, out)
}

// lower lowers the number while more jobs run, has so many of them end that as many run
// as may, and returns how many permits are held then.
func lower(ctx context.Context, s *service, limit *semaphore.Semaphore) (held int, err error) {
	// All permits are held, so that none is granted while this is under way.
	s.Change(func() { s.size = fewer })
	if err := limit.Resize(ctx, fewer); err != nil {
		return 0, err
	}
	asked := 0 // a worker asks for the next job when it has returned its permit
	s.Change(func() { asked = s.asked })
	for range more - fewer {
		if s.end() {
			asked++
		}
	}
	if err := s.Await(ctx, func() bool { return s.asked >= asked }); err != nil {
		return 0, err
	}
	contenders, err := limit.Contenders(ctx)
	for _, c := range contenders {
		if c.Holding {
			held++
		}
	}
	if err == nil && held > fewer {
		err = fmt.Errorf("%d permits are held, and a permit was granted while more than %d were", held, fewer)
	}
	return held, err
}

// finish ends one job after the other, each when as many run as may.
func finish(ctx context.Context, s *service, out io.Writer) error {
	for {
		if err := s.Await(ctx, s.full); err != nil {
			return err
		}
		if !s.end() {
			break
		}
	}
	fmt.Fprintf(out, "%d jobs are done, of %d that were begun; never too many ran at once, and before each one ended as many as may\n", jobs, s.begun())
	return nil
}
