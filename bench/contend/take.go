package contend

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// take acquires one lock each of many paths, and keeps them.
func (c *contender) take(v Values) (Values, error) {
	n, path := v.Int("n"), v["path"]
	held := make([]locker, n)
	start := time.Now()
	err := inTurn(n, v.Int("workers"), func(i int) error {
		l, err := c.system.locker("mutex", fmt.Sprintf("%s/%d", path, i), 0)
		if err != nil {
			return err
		}
		held[i] = l
		return l.acquire()
	})
	took := time.Since(start)
	c.held = held
	return measured(n, n, took), err
}

func (c *contender) drop() (Values, error) {
	held, start := c.held, time.Now()
	c.held = nil
	err := inTurn(len(held), 64, func(i int) error { return held[i].release() })
	return measured(len(held), len(held), time.Since(start)), err
}

// inTurn lets workers do something for each number below n.
func inTurn(n, workers int, do func(i int) error) error {
	var next atomic.Int64
	return together(min(n, workers), func(int) error {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			if err := do(int(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// memory returns what is in use when that has become steady, after a garbage collection
// that has returned to the system what it could; "peak" is the most that the process
// ever had.
func memory() (Values, error) {
	stats := steady()
	file, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return nil, err
	}
	var size, resident int
	if _, err := fmt.Fscan(strings.NewReader(string(file)), &size, &resident); err != nil {
		return nil, fmt.Errorf("statm: %w", err)
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return nil, fmt.Errorf("getrusage: %w", err)
	}
	return numbers(map[string]int{
		"heap": int(stats.HeapAlloc), "rss": resident * os.Getpagesize(), "goroutines": runtime.NumGoroutine(), //nolint:gosec // less than 2^63
		"peak": int(usage.Maxrss) * 1024,
	}), nil
}

// steady waits until what is in use has not changed by more than a hundredth for a
// second, for half a minute at most: of a crowd that has just queued, answers are still
// under way.
func steady() (stats runtime.MemStats) {
	var since uint64
	for turns, same := 0, 0; turns < 100 && same < 4; turns++ {
		time.Sleep(250 * time.Millisecond)
		debug.FreeOSMemory()
		runtime.ReadMemStats(&stats)
		if same++; max(stats.HeapAlloc, since)-min(stats.HeapAlloc, since) > since/100 {
			since, same = stats.HeapAlloc, 0
		}
	}
	return stats
}
