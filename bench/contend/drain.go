package contend

import (
	"errors"
	"fmt"
	"time"
)

// A queue is a number of waiters for one path.
type queue struct {
	n     int
	dwell time.Duration
	done  chan error
}

// hold acquires the path that others will queue for.
func (c *contender) hold(v Values) (Values, error) {
	holder, err := c.system.locker("mutex", v["path"], v.Int("worker"))
	if err != nil {
		return nil, err
	}
	c.holder = holder
	return Values{}, holder.acquire()
}

// enqueue starts waiters. It returns when the path has all contenders, those of other
// processes included.
func (c *contender) enqueue(v Values) (Values, error) {
	q, start := &queue{n: v.Int("n"), dwell: v.dwell()}, time.Now()
	q.done = make(chan error, q.n)
	for i := range q.n {
		l, err := c.system.locker("mutex", v["path"], i)
		if err != nil {
			return nil, err
		}
		go c.turn(q, l)
	}
	c.queue = q
	err := await(c.system, v["path"], v.Int("total"), time.Duration(v.Int("limit"))*time.Millisecond, q.done)
	return measured(q.n, q.n, time.Since(start)), err
}

// turn is what a waiter of a queue does.
func (c *contender) turn(q *queue, l locker) {
	err := l.acquire()
	if err == nil {
		c.slots.hold(0, "mutex", tokenOf(l), q.dwell)
		err = l.release()
	}
	q.done <- err
}

// await returns when a path has so many contenders. Where that cannot be known, a
// second must do.
func await(s system, path string, total int, limit time.Duration, failed <-chan error) error {
	for start, pause := time.Now(), 5*time.Millisecond; ; pause = min(pause*2, 20*time.Millisecond) {
		n, err := s.queued(path)
		if err != nil {
			return err
		}
		if n >= total {
			return nil
		}
		if n < 0 {
			time.Sleep(time.Second)
			return nil
		}
		if limit > 0 && time.Since(start) > limit {
			return fmt.Errorf("%d of %d are queued after %v", n, total, limit)
		}
		select {
		case err := <-failed:
			return fmt.Errorf("a waiter ended before it was time, with error %v", err) //nolint:errorlint // there may be none
		case <-time.After(pause):
		}
	}
}

// left returns how many nodes a path has. Deletes may be on their way which nobody waits
// for.
func (c *contender) left(v Values) (Values, error) {
	for turn := 0; ; turn++ {
		n, err := c.system.queued(v["path"])
		if err != nil || n <= 0 || turn == 50 {
			return numbers(map[string]int{"nodes": max(n, 0)}), err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// drain releases what is held, and lets all waiters acquire and release, one after the
// other.
func (c *contender) drain() (Values, error) {
	q, start := c.queue, time.Now()
	if q == nil {
		return nil, errors.New("no queue")
	}
	c.queue = nil
	if holder := c.holder; holder != nil {
		c.holder = nil
		if err := holder.release(); err != nil {
			return nil, err
		}
	}
	var first error
	for range q.n {
		if err := <-q.done; first == nil {
			first = err
		}
	}
	return measured(q.n, q.n, time.Since(start)), first
}
