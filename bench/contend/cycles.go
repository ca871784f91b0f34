package contend

import (
	"fmt"
	"sync/atomic"
	"time"
)

// A cycler is one goroutine that acquires and releases.
type cycler struct {
	worker, slot int
	kinds        []string
	lockers      []locker
}

// cyclers connects the goroutines of an order.
func (c *contender) cyclers(v Values) ([]cycler, error) {
	all := make([]cycler, v.Int("goroutines"))
	for i := range all {
		path, kinds := v["path"], []string{v["kind"]}
		one := cycler{worker: i}
		if v["own"] == "true" {
			path, one.slot = fmt.Sprintf("%s/%d", path, i), i+1
		}
		if v["kind"] == "readwrite" {
			kinds = []string{"read", "write"}
		}
		for _, kind := range kinds {
			l, err := c.system.locker(kind, path, i)
			if err != nil {
				return nil, err
			}
			one.kinds, one.lockers = append(one.kinds, kind), append(one.lockers, l)
		}
		all[i] = one
	}
	return all, nil
}

// cycles lets goroutines acquire and release for some time, but once at least, as the
// machine may stand still for that time. What ends later counts only for what each
// cycle costs.
func (c *contender) cycles(v Values) (Values, error) {
	all, err := c.cyclers(v)
	if err != nil {
		return nil, err
	}
	var inTime, late atomic.Int64
	limit := time.Duration(v.Int("for")) * time.Millisecond
	deadline := time.Now().Add(limit)
	err = together(len(all), func(i int) error {
		for turn := 0; turn == 0 || time.Now().Before(deadline); turn++ {
			if err := c.cycle(all[i], turn, v.dwell()); err != nil {
				return err
			}
			if time.Now().Before(deadline) {
				inTime.Add(1)
			} else {
				late.Add(1)
			}
		}
		return nil
	})
	return measured(int(inTime.Load()), int(inTime.Load()+late.Load()), limit), err
}

// cycle acquires and releases; of the holds of readers and writers one in twenty is to
// write.
func (c *contender) cycle(one cycler, turn int, dwell time.Duration) error {
	which := 0
	if len(one.lockers) == 2 && (turn+one.worker)%20 == 0 {
		which = 1
	}
	l := one.lockers[which]
	if err := l.acquire(); err != nil {
		return fmt.Errorf("acquire: %w", err)
	}
	c.slots.hold(one.slot, one.kinds[which], tokenOf(l), dwell)
	if err := l.release(); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// together runs n goroutines and returns the first error of any when all have ended.
func together(n int, do func(i int) error) error {
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- do(i) }()
	}
	var first error
	for range n {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}
