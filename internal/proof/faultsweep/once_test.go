package faultsweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// The runs of jobs that are swept.
var (
	// As a lock, without a record.
	aRun = conformance.Recipe{Name: "aRun", Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer {
		return must(once.New(c, path)).Key("lock")
	}}
	// Clients do runs, each with a change of its own, before they acquire another run
	// as a lock.
	aJob = conformance.Recipe{Name: "aJob", Slots: 1, New: func(c *framework.Client, path string) lease.Acquirer {
		return &worker{client: c, path: path, job: must(once.New(c, path, once.WithRetention(time.Minute)))}
	}}

	allRuns = []conformance.Recipe{aRun, aJob}
)

// effects is the parent of what the runs of aJob change.
const effects = "/sweep/effects"

// worker does the runs of a job: a tick that is so old that its record is removed at
// once, and then one key in each call.
type worker struct {
	client *framework.Client
	path   string
	job    *once.Job

	mu     sync.Mutex
	calls  int
	tried  map[string]error      // what the last call of Do returned, by the name of the run
	failed map[lease.Token]error // what calls returned that must not have made a record
}

func (w *worker) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if timeout == lease.Forever {
		w.mu.Lock()
		n := w.calls
		w.calls++
		w.mu.Unlock()
		for _, step := range []func() error{
			func() error { return w.prepare(ctx) },
			func() error { return w.do(ctx, znode.TickName(oldTick), w.job.Tick(oldTick)) },
			func() error { key := fmt.Sprint(n); return w.do(ctx, znode.KeyName(key), w.job.Key(key)) },
		} {
			if err := step(); err != nil {
				return nil, err
			}
		}
	}
	return w.job.Key("lock").Acquire(ctx, timeout)
}

// oldTick is long before the time in which bubbles begin.
var oldTick = time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)

// prepare creates the parent of the effects.
func (w *worker) prepare(ctx context.Context) error {
	for {
		err := w.client.CreateParents(ctx, effects)
		if err == nil {
			_, err = w.client.Create(ctx, effects, nil, framework.Persistent)
		}
		switch {
		case err == nil, errors.Is(err, framework.ErrNodeExists):
			return nil
		case !errors.Is(err, framework.ErrUnknownOutcome) || ctx.Err() != nil:
			return err
		}
	}
}

// do does a run until it is recorded, or its record was removed.
func (w *worker) do(ctx context.Context, name string, r *once.Run) error {
	for {
		var own lease.Token
		recorded := false
		err := r.Do(ctx, func(ctx context.Context, held *lease.Lease) error {
			own = held.Token()
			err := r.Record(ctx, held, framework.CreateOp(effects+"/"+name+"-", fmt.Append(nil, own), framework.PersistentSequential))
			recorded = err == nil
			return err
		})
		if recorded && errors.Is(err, lease.ErrLost) {
			own = 0 // it was lost after the record, and the servers did not say that this exists
		}
		w.returned(name, own, err)
		switch {
		case err == nil, errors.Is(err, once.ErrForgotten) && strings.HasSuffix(name, ".tick"):
			return nil
		case ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), err)
		case errors.Is(err, framework.ErrClosed):
			return err
		case errors.Is(err, lease.ErrLost), errors.Is(err, framework.ErrUnknownOutcome), errors.Is(err, once.ErrRecorded):
		default:
			return err
		}
	}
}

// returned records how a call of Do has ended, and under which lease.
func (w *worker) returned(name string, own lease.Token, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tried == nil {
		w.tried, w.failed = map[string]error{}, map[lease.Token]error{}
	}
	w.tried[name] = err
	if own != 0 && err != nil && !errors.Is(err, framework.ErrUnknownOutcome) {
		w.failed[own] = err
	}
}

// inspect returns what is wrong with the records, and with the effects of the runs.
func (w *worker) inspect(server *zktest.Server) (wrong []string) {
	made, by := map[string]int{}, map[string]string{}
	for _, effect := range server.Children(effects) {
		info, _ := server.Node(effects + "/" + effect)
		name := effect[:strings.LastIndexByte(effect, '-')]
		made[name]++
		by[string(info.Data)] = name
		if record, ok := server.Node(w.path + "/" + znode.RecordsDir + "/" + name); ok && record.Czxid != info.Czxid {
			wrong = append(wrong, fmt.Sprintf("the record of %s and its effect were not made together", name))
		}
	}
	for _, name := range server.Children(w.path + "/" + znode.RecordsDir) {
		made[name] += 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, err := range w.tried {
		if err == nil {
			made[name] += 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if made[name] != 1 {
			wrong = append(wrong, fmt.Sprintf("the effect of %s was made %d times", name, made[name]))
		}
	}
	for token, err := range w.failed {
		if name := by[fmt.Sprint(token)]; name != "" {
			wrong = append(wrong, fmt.Sprintf("%s was recorded by a call that returned %v", name, err))
		}
	}
	return wrong
}

// TestJobsUnderRandomFaults runs random plans as TestLeanFaults does for a mutex.
func TestJobsUnderRandomFaults(t *testing.T) {
	first, runs := extent.Amount(t, "ZKRECIPES_SEED", 1), extent.Amount(t, "ZKRECIPES_SCHEDULES", 400/extent.Slowdown())
	for _, recipe := range allRuns {
		t.Run(recipe.Name, func(t *testing.T) {
			lost, failed := 0, 0
			for seed := first; seed < first+runs && failed < 3; seed++ {
				p := RandomLean(recipe, uint64(seed))
				report := p.Run(t)
				lost += report.Lost
				if len(report.Broken) > 0 {
					failed++
					p, report = shrink(t, p, report)
					fail(t, p, report)
				}
			}
			require.Positive(t, lost, "no fault hit a holder")
		})
	}
}
