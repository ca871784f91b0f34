package oncecron

import (
	"slices"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
)

// Which tick a run is for. Cron does not say: it starts a goroutine, which may run when
// later ticks have fired, and wrappers may delay a run, or leave it out. The entry
// shows the tick that fired last, but late runs have to find their own.
//
// So the schedule remembers all moments that it has returned, until a run takes them. A
// run takes the tick that fired last, or, if another run has, the newest one before.
// Which of several late runs takes which tick does not matter. Ticks without a run,
// because it was left out or cron was stopped, remain behind newer ones, and nobody
// takes them, or only in the place of another tick after one more run was late.
// Moments that have not fired, such as those asked for by others, are never taken.

// maxTicks is how many ticks are remembered: more than runs are ever late. Beyond that
// the oldest are forgotten.
const maxTicks = 1000

// ticks is a schedule that remembers what it has returned.
type ticks struct {
	of cron.Schedule

	mu   sync.Mutex
	open []time.Time // not taken yet, in order
}

// Next returns the next tick.
func (s *ticks) Next(t time.Time) time.Time {
	next := s.of.Next(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if i, found := s.find(next); !found && !next.IsZero() {
		s.open = slices.Insert(s.open, i, next)
		s.open = s.open[max(0, len(s.open)-maxTicks):]
	}
	return next
}

// take returns the tick of a run, given the one that fired last. If all that have fired
// are taken, as when the job of an entry is run by hand, it is that one again.
func (s *ticks) take(fired time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := s.find(fired)
	if !found {
		i--
	}
	if i < 0 {
		return fired
	}
	tick := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	return tick
}

func (s *ticks) find(t time.Time) (i int, found bool) {
	return slices.BinarySearchFunc(s.open, t, time.Time.Compare)
}

// aligned returns the schedule, or one with multiples of its interval if it is one of
// "@every".
func aligned(s cron.Schedule) cron.Schedule {
	switch s := s.(type) {
	case cron.ConstantDelaySchedule:
		return every(cron.Every(s.Delay).Delay) // whole seconds
	case *cron.ConstantDelaySchedule:
		return every(cron.Every(s.Delay).Delay)
	}
	return s
}

// every is a schedule of all multiples of an interval.
type every time.Duration

// Next returns the next multiple.
func (d every) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(d)).Add(time.Duration(d))
}
