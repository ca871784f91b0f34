package oncecron_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"go.uber.org/goleak"

	oncecron "github.com/zkrecipes/zkrecipes/contrib/cron"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/jobs/report"

func newJob(t *testing.T, client *framework.Client, opts ...once.Option) *once.Job {
	t.Helper()
	job, err := once.New(client, path, opts...)
	require.NoError(t, err)
	return job
}

// A runLog is what all processes of a test did.
type runLog struct {
	mu     sync.Mutex
	starts []string
	errs   []error
}

// took returns a function whose runs take that long.
func (l *runLog) took(d time.Duration) oncecron.Func {
	return func(ctx context.Context, _ *lease.Lease, tick time.Time) error {
		l.mu.Lock()
		l.starts = append(l.starts, tick.UTC().Format(time.TimeOnly))
		l.mu.Unlock()
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *runLog) onError() oncecron.Option {
	return oncecron.OnError(func(_ time.Time, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
	})
}

// begun returns the ticks that were begun until now, sorted.
func (l *runLog) begun() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.starts))
}

// errors returns those that were reported until now.
func (l *runLog) errors() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.errs)
}

// newCron returns a Cron that ends with the test, which is in a bubble.
func newCron(t *testing.T, opts ...cron.Option) (context.Context, *cron.Cron) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := cron.New(append([]cron.Option{cron.WithLocation(time.UTC)}, opts...)...)
	t.Cleanup(func() {
		cancel()
		<-c.Stop().Done()
	})
	return ctx, c
}

// delayed has each run begin that much later than it was to.
func delayed(d time.Duration) cron.Option {
	return cron.WithChain(func(j cron.Job) cron.Job {
		return cron.FuncJob(func() { <-time.After(d); j.Run() })
	})
}

// oneAfterTheOther is like cron.DelayIfStillRunning. That one uses a mutex, and while a
// goroutine waits for a mutex no virtual time passes.
func oneAfterTheOther(j cron.Job) cron.Job {
	turn := make(chan struct{}, 1)
	return cron.FuncJob(func() {
		turn <- struct{}{}
		defer func() { <-turn }()
		j.Run()
	})
}

// until lets virtual time pass, which begins at midnight.
func until(t *testing.T, w *conformance.World, clock string) {
	t.Helper()
	at, err := time.Parse(time.DateTime, "2000-01-01 "+clock)
	require.NoError(t, err)
	require.Positive(t, time.Until(at))
	w.After(time.Until(at))
}
