package oncegocron_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"

	oncegocron "github.com/zkrecipes/zkrecipes/contrib/gocron"
)

const minute = "* * * * *"

// untilTick lets time pass until that long after a full minute.
func untilTick(w *conformance.World, after time.Duration) {
	now := time.Now()
	w.After(now.Truncate(time.Minute).Add(time.Minute + after).Sub(now))
}

// Each tick is run once by processes whose clocks are apart by more than a run takes.
// The one whose clock is most ahead is first.
func TestWrongClocks(t *testing.T) {
	for name, when := range map[string]oncegocron.Definition{
		"crontab": oncegocron.CronJob(minute), "interval": oncegocron.DurationJob(time.Minute),
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				var begun ledger
				untilTick(w, 0)
				for name, ahead := range map[string]time.Duration{"a": -25 * time.Second, "b": 0, "c": 25 * time.Second} {
					m := newMachine(t, w, name)
					m.ahead = ahead
					m.schedule(t, when, begun.task(name, time.Second))
				}
				untilTick(w, 2*time.Minute+30*time.Second)
				// The clock of a was before the first minute when it began.
				require.Equal(t, []string{"a 00:01:00", "c 00:02:00", "c 00:03:00", "c 00:04:00"}, begun.take())
			})
		})
	}
}

// While one process runs a tick, the others wait; if it loses its session, one of them
// begins it again.
func TestTakeOver(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		a, b := newMachine(t, w, "a"), newMachine(t, w, "b")
		a.ahead = time.Second
		failed := make(chan error, 1)
		a.schedule(t, oncegocron.CronJob(minute), begun.task("a", 20*time.Second), onError(failed))
		b.schedule(t, oncegocron.CronJob(minute), begun.task("b", 20*time.Second))
		untilTick(w, 5*time.Second)
		require.Equal(t, []string{"a 00:01:00"}, begun.take())
		w.Expire(w.Known("a"))
		require.ErrorIs(t, <-failed, lease.ErrLost)
		w.After(15 * time.Second)
		require.Equal(t, []string{"b 00:01:00"}, begun.take())
		require.False(t, recorded(t, b, "00:01:00"))
		w.After(10 * time.Second)
		require.True(t, recorded(t, b, "00:01:00"))
		require.Empty(t, begun.take())
	})
}

func onError(failed chan<- error) gocron.JobOption {
	return gocron.WithEventListeners(gocron.AfterJobRunsWithError(func(_ uuid.UUID, _ string, err error) { failed <- err }))
}

// A process that is cut off while it runs a tick, and does not look at its context,
// records nothing.
func TestCutOff(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		a, b := newMachine(t, w, "a"), newMachine(t, w, "b")
		a.ahead = time.Second
		failed := make(chan error, 1)
		a.schedule(t, oncegocron.CronJob(minute), func(_ context.Context, _ *lease.Lease, tick time.Time) error {
			begun.add("a", tick)
			time.Sleep(30 * time.Second)
			return nil
		}, onError(failed))
		b.schedule(t, oncegocron.CronJob(minute), begun.task("b", time.Second))
		untilTick(w, time.Second)
		w.Server.Partition("a", true)
		require.ErrorIs(t, <-failed, lease.ErrLost)
		require.Equal(t, []string{"a 00:01:00", "b 00:01:00"}, begun.take())
		record, err := b.once.Tick(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)).Recorded(t.Context())
		require.NoError(t, err)
		require.NotNil(t, record)
		w.Heal()
	})
}

// A task that fails is begun again by a process that waits, and by none if there is
// none.
func TestTaskThatFails(t *testing.T) {
	errEnough := errors.New("enough")
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		a, b := newMachine(t, w, "a"), newMachine(t, w, "b")
		a.ahead = time.Second
		failed := make(chan error, 2)
		fail := func(_ context.Context, _ *lease.Lease, tick time.Time) error {
			begun.add("a", tick)
			time.Sleep(5 * time.Second)
			return errEnough
		}
		a.schedule(t, oncegocron.CronJob(minute), fail, onError(failed))
		b.schedule(t, oncegocron.CronJob(minute), begun.task("b", time.Second))
		untilTick(w, 10*time.Second)
		require.Equal(t, []string{"a 00:01:00", "b 00:01:00"}, begun.take())
		require.True(t, recorded(t, a, "00:01:00"))
		require.ErrorIs(t, <-failed, errEnough)

		require.NoError(t, b.jobs.StopJobs())
		untilTick(w, 10*time.Second)
		require.Equal(t, []string{"a 00:02:00"}, begun.take())
		require.False(t, recorded(t, a, "00:02:00"))
		require.ErrorIs(t, <-failed, errEnough)
	})
}

// A process whose timers end late, as after a pause, runs the newest tick only, unless
// that is recorded.
func TestLate(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		a, b := newMachine(t, w, "a"), newMachine(t, w, "b")
		a.late = 150 * time.Second
		a.schedule(t, oncegocron.CronJob(minute), begun.task("a", time.Second))
		untilTick(w, 155*time.Second)
		require.Equal(t, []string{"a 00:03:00"}, begun.take())
		b.schedule(t, oncegocron.CronJob(minute), begun.task("b", time.Second))
		untilTick(w, 150*time.Second)
		require.Equal(t, []string{"b 00:04:00", "b 00:05:00", "b 00:06:00"}, begun.take())
	})
}

// A timer that ends early, because the clock was set back, is for the next tick.
func TestEarly(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		a := newMachine(t, w, "a")
		a.late = -10 * time.Second
		a.schedule(t, oncegocron.DurationJob(time.Minute), begun.task("a", time.Second))
		untilTick(w, 0)
		w.After(3 * time.Minute)
		require.Equal(t, []string{"a 00:01:00", "a 00:02:00", "a 00:03:00", "a 00:04:00"}, begun.take())
	})
}

// A run at once is for the newest tick: it makes it up, or finds its record.
func TestImmediately(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		at := gocron.WithStartAt(gocron.WithStartImmediately())
		untilTick(w, 30*time.Second)
		for _, name := range []string{"a", "b"} {
			m := newMachine(t, w, name)
			job := m.schedule(t, oncegocron.DurationJob(time.Minute), begun.task(name, time.Second), at)
			w.After(2 * time.Second)
			require.NoError(t, job.RunNow())
			w.After(2 * time.Second)
		}
		require.Equal(t, []string{"a 00:01:00"}, begun.take())
		untilTick(w, 5*time.Second)
		require.Len(t, begun.take(), 1)
	})
}

// The end of a scheduler ends the context of its task, and its wait for the task of
// another process.
func TestShutdown(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		untilTick(w, 30*time.Second)
		a, b, c := newMachine(t, w, "a"), newMachine(t, w, "b"), newMachine(t, w, "c")
		for i, m := range []*machine{a, b, c} {
			m.ahead = -time.Duration(i) * time.Second
			m.schedule(t, oncegocron.CronJob(minute), begun.task(m.name, 20*time.Second))
		}
		untilTick(w, 5*time.Second)
		require.Equal(t, []string{"a 00:02:00"}, begun.take())
		start := time.Now()
		require.NoError(t, b.jobs.Shutdown())
		require.NoError(t, a.jobs.Shutdown())
		require.Zero(t, time.Since(start))
		w.After(time.Second)
		require.Equal(t, []string{"c 00:02:00"}, begun.take())
		w.After(20 * time.Second)
		require.True(t, recorded(t, c, "00:02:00"))
	})
}

// With singleton mode a run that is longer than the interval keeps all processes from
// the ticks meanwhile, as each of them waits.
func TestSingletonMode(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		for _, name := range []string{"a", "b", "c"} {
			m := newMachine(t, w, name)
			m.schedule(t, oncegocron.CronJob(minute), begun.task("", 80*time.Second), gocron.WithSingletonMode(gocron.LimitModeReschedule))
		}
		untilTick(w, 4*time.Minute+30*time.Second)
		require.Equal(t, []string{" 00:01:00", " 00:03:00", " 00:05:00"}, begun.take())
	})
}

type refuse struct{}

func (refuse) Lock(context.Context, string) (gocron.Lock, error) { return nil, errors.New("refused") }

// Options that would do what NewJob does in another way have no effect.
func TestOptionsWithoutEffect(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var begun ledger
		m := newMachine(t, w, "a")
		m.schedule(t, oncegocron.CronJob(minute), begun.task("a", 0),
			gocron.WithDistributedJobLocker(refuse{}), gocron.WithCronImplementation(gocron.NewDefaultCron(false)))
		untilTick(w, 0)
		require.Equal(t, []string{"a 00:01:00"}, begun.take())
	})
}

func runReport(context.Context, *lease.Lease, time.Time) error { return nil }

func TestNewJob(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		m := newMachine(t, w, "a")
		refused := func(want error, s gocron.Scheduler, when oncegocron.Definition, fn oncegocron.Func) {
			t.Helper()
			_, err := oncegocron.NewJob(s, m.once, when, fn)
			require.ErrorIs(t, err, want)
		}
		refused(framework.ErrInvalidArgument, nil, oncegocron.CronJob(minute), runReport)
		refused(framework.ErrInvalidArgument, m.jobs, oncegocron.Definition{}, runReport)
		refused(framework.ErrInvalidArgument, m.jobs, oncegocron.CronJob(minute), nil)
		refused(framework.ErrInvalidArgument, m.jobs, oncegocron.DurationJob(0), runReport)
		refused(framework.ErrInvalidArgument, m.jobs, oncegocron.DurationJob(-time.Second), runReport)
		refused(gocron.ErrCronJobParse, m.jobs, oncegocron.CronJob("nonsense"), runReport)
		refused(gocron.ErrCronJobParse, m.jobs, oncegocron.CronJob("@every 1h"), runReport)
		refused(gocron.ErrCronJobInvalid, m.jobs, oncegocron.CronJob("0 0 30 2 *"), runReport)
		require.Panics(t, func() { _, _ = oncegocron.NewJob(m.jobs, nil, oncegocron.CronJob(minute), runReport) })

		job := m.schedule(t, oncegocron.DurationJob(time.Hour), runReport)
		require.Contains(t, job.Name(), "runReport")
		require.Equal(t, gocron.CronJobSchedule{Crontab: "@every 1h0m0s"}, job.Schedule())
		job = m.schedule(t, oncegocron.CronJob(minute), runReport, gocron.WithName("report"))
		require.Equal(t, "report", job.Name())
	})
}
