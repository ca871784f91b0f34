package contend

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper is a system that can tell, more or less, whether a lock is still held.
type keeper interface {
	// keep acquires the lock of a path, and sees to it that it stays held. A careful user
	// calls held right before each write: it is the best that the library offers.
	keep(path string) (held func() bool, err error)
}

// Now is the time by a clock that all processes of a machine share, also those in Java.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// A job writes every few milliseconds for as long as its lock is held.
type job struct {
	over chan struct{} // closed when it has stopped

	mu     sync.Mutex
	writes []int64 // when
	knew   int64   // when it was told that the lock is lost
}

// pause is that between two writes.
const pause = 2 * time.Millisecond

// work acquires and starts to write.
func (c *contender) work(v Values) (Values, error) {
	s, ok := c.system.(keeper)
	if !ok {
		return nil, fmt.Errorf("%s cannot be asked whether it holds", c.config.System)
	}
	held, err := s.keep(v["path"])
	if err != nil {
		return nil, err
	}
	j := &job{over: make(chan struct{})}
	c.job = j
	at := Now()
	go j.run(held)
	return numbers(map[string]int64{"at": at}), nil
}

func (j *job) run(held func() bool) {
	defer close(j.over)
	for ; held(); time.Sleep(pause) {
		j.mu.Lock()
		j.writes = append(j.writes, Now())
		j.mu.Unlock()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.knew = Now()
}

// stopped waits for the end of the job, and tells about it: when it was told that the
// lock is lost, when it wrote last, and how often after a moment.
func (c *contender) stopped(v Values) (Values, error) {
	j := c.job
	if j == nil {
		return nil, fmt.Errorf("nobody works")
	}
	select {
	case <-j.over:
	case <-time.After(time.Duration(v.Int("limit")) * time.Millisecond):
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	result := map[string]int64{"knew": j.knew}
	for _, at := range j.writes {
		result["last"] = at
		if at > int64(v.Int("since")) {
			result["late"]++
		}
	}
	return numbers(result), nil
}
