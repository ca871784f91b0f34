package oncegocron_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"go.uber.org/goleak"

	oncegocron "github.com/zkrecipes/zkrecipes/contrib/gocron"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/jobs/report"

// A clock is one that is wrong.
type clock struct {
	clockwork.Clock
	ahead time.Duration
	late  time.Duration // of timers: negative as after a clock was set back
}

func newClock() *clock { return &clock{Clock: clockwork.NewRealClock()} }

func (c *clock) Now() time.Time { return c.Clock.Now().Add(c.ahead) }

func (c *clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	return c.Clock.AfterFunc(d+c.late, f)
}

// A machine has a process with a client, a clock and a scheduler.
type machine struct {
	*clock
	name string
	once *once.Job
	jobs gocron.Scheduler
}

func newMachine(t *testing.T, w *conformance.World, name string) *machine {
	job, err := once.New(w.Client(name), path)
	require.NoError(t, err)
	m := &machine{newClock(), name, job, nil}
	m.jobs, err = gocron.NewScheduler(gocron.WithClock(m.clock), gocron.WithLocation(time.UTC))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.jobs.Shutdown()) })
	return m
}

// schedule adds a job to a machine, and starts it.
func (m *machine) schedule(t *testing.T, when oncegocron.Definition, fn oncegocron.Func, opts ...gocron.JobOption) gocron.Job {
	job, err := oncegocron.NewJob(m.jobs, m.once, when.WithClock(m.clock), fn, opts...)
	require.NoError(t, err)
	m.jobs.Start()
	return job
}

// A ledger has a line for each run that was begun.
type ledger struct {
	layout string // of the tick, "" is the time of day

	mu    sync.Mutex
	lines []string
}

func (l *ledger) add(who string, tick time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, who+" "+tick.Format(cmp.Or(l.layout, time.TimeOnly)))
}

// take returns the lines since the last call.
func (l *ledger) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// task is one that takes that long.
func (l *ledger) task(who string, takes time.Duration) oncegocron.Func {
	return func(ctx context.Context, _ *lease.Lease, tick time.Time) error {
		l.add(who, tick)
		select {
		case <-time.After(takes):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// recorded reports whether a tick at that time of the first day is recorded.
func recorded(t *testing.T, m *machine, at string) bool {
	tick, err := time.Parse(time.DateTime, "2000-01-01 "+at)
	require.NoError(t, err)
	record, err := m.once.Tick(tick).Recorded(t.Context())
	require.NoError(t, err)
	return record != nil
}
