package integration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
	"github.com/zkrecipes/zkrecipes/integration/internal/faultplan"
)

const (
	jobsPath   = ownPaths + "/jobs"
	effectPath = "/effects"
	// jobTick is the time between two ticks.
	jobTick = 200 * time.Millisecond
)

// errFnFails is what the work of a run returns now and then.
var errFnFails = errors.New("the work has failed")

// Clients with several goroutines each do the runs of ticks and keys, while connections
// break, stall and are slow, many of them at the transaction that makes a record, and
// servers are killed, paused and restarted. Work fails, and callers give up. In the end
// each run is recorded, and what goes with the record has happened once. When Do
// returns nil there is a record. No two leases on a run are valid at once, and nothing
// but the records is left.
//
// ZKRECIPES_CONTEST sets another time, ZKRECIPES_SEED the seed of an earlier run.
func TestJobsUnderFaults(t *testing.T) {
	span, seed := faultplan.Contest(t, 8*time.Second)
	servers := ensemble.New(t, ensemble.Options{Nodes: 3, NoSync: true})
	setUp := connect(t, servers.Servers()...)
	_, err := setUp.Create(within(t, limit), effectPath, nil, framework.Persistent)
	require.NoError(t, err)
	s := &storm{servers: servers, rng: rand.New(rand.NewPCG(seed, 3))}
	ctx, cancel := context.WithTimeout(context.Background(), span+2*limit)
	defer cancel()
	all := &jobRuns{first: time.Now().Truncate(time.Second), inside: map[string]map[*lease.Lease]bool{}}
	over := make(chan struct{})
	var group sync.WaitGroup
	for i := range 3 {
		client := s.connect(t)
		job, err := once.New(client, jobsPath)
		require.NoError(t, err)
		for n := range 4 {
			w := &jobWorker{t, client, job, all, rand.New(rand.NewPCG(seed, uint64(1000*i+n)))}
			group.Go(func() { w.work(ctx, over) })
		}
	}
	s.rage(t, span)
	close(over)
	group.Wait()
	require.NoError(t, ctx.Err(), "a run was never done")
	t.Logf("faults: %v", s.counts)
	all.end(t, connect(t, servers.Servers()[0]))
}

// jobRuns are those of all clients.
type jobRuns struct {
	first time.Time

	mu     sync.Mutex
	inside map[string]map[*lease.Lease]bool // who does which run now
	begun  int
	again  atomic.Int32 // calls that failed, and were repeated
}

// enter records that a run is begun under a lease, and returns another valid one.
func (r *jobRuns) enter(name string, held *lease.Lease) (other *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun++
	if r.inside[name] == nil {
		r.inside[name] = map[*lease.Lease]bool{}
	}
	for earlier := range r.inside[name] {
		if earlier.Err() == nil && held.Err() == nil {
			other = earlier
		}
	}
	r.inside[name][held] = true
	return other
}

func (r *jobRuns) leave(name string, held *lease.Lease) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.inside[name], held)
}

// end checks what is left.
func (r *jobRuns) end(t *testing.T, c *framework.Client) {
	t.Helper()
	require.NoError(t, c.Sync(within(t, limit), jobsPath))
	effects, _, err := c.Children(within(t, limit), effectPath)
	require.NoError(t, err)
	count := map[string]int{}
	for _, name := range effects {
		count[name[:strings.LastIndex(name, "#")]]++
	}
	records, _, err := c.Children(within(t, limit), jobsPath+"/done")
	require.NoError(t, err)
	assert.Len(t, count, len(r.inside), "runs with an effect, and runs that were done")
	assert.Len(t, records, len(r.inside))
	for name, n := range count {
		assert.Equal(t, 1, n, name)
	}
	assert.Positive(t, r.again.Load())
	t.Logf("%d runs, begun %d times; %d calls failed", len(r.inside), r.begun, r.again.Load())
	runs, _, err := c.Children(within(t, limit), jobsPath)
	require.NoError(t, err)
	for _, name := range runs {
		if name != "done" {
			requireEmptySeenBy(t, c, jobsPath+"/"+name, limit)
		}
	}
}

// A jobWorker is one goroutine.
type jobWorker struct {
	t      *testing.T
	client *framework.Client
	job    *once.Job
	all    *jobRuns
	rng    *rand.Rand
}

// work does one run after another, each until it is done.
func (w *jobWorker) work(ctx context.Context, over <-chan struct{}) {
	for n := 0; !ended(over) && ctx.Err() == nil; n++ {
		at := w.all.first.Add(time.Duration(n) * jobTick)
		<-time.After(time.Until(at))
		key := fmt.Sprintf("order %d", n/2) // by two goroutines of a client at least
		for _, run := range []struct {
			name string
			*once.Run
		}{{at.UTC().Format(time.RFC3339Nano), w.job.Tick(at)}, {key, w.job.Key(key)}} {
			for ctx.Err() == nil && !w.do(ctx, run.name, run.Run) {
				w.all.again.Add(1)
			}
		}
	}
}

// do tries to have a run done, and reports whether it is.
func (w *jobWorker) do(ctx context.Context, name string, run *once.Run) bool {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	if w.rng.IntN(5) == 0 {
		time.AfterFunc(time.Duration(w.rng.IntN(20))*time.Millisecond, cancel)
	}
	fail, late := w.rng.IntN(5) == 0, w.rng.IntN(4) == 0
	pause := time.Duration(w.rng.IntN(5000)) * time.Microsecond
	err := run.Do(limited, func(_ context.Context, held *lease.Lease) error {
		if other := w.all.enter(name, held); other != nil {
			w.t.Errorf("%s is run under tokens %d and %d at once", name, other.Token(), held.Token())
		}
		defer w.all.leave(name, held)
		<-time.After(pause)
		if fail {
			return errFnFails
		}
		recording := ctx
		if late {
			recording = limited
		}
		return run.Record(recording, held, framework.CreateOp(effectPath+"/"+strings.ReplaceAll(name, "/", "_")+"#", nil, framework.PersistentSequential))
	})
	switch {
	case err == nil:
		w.requireRecord(ctx, name, run)
		return true
	case errors.Is(err, errFnFails), errors.Is(err, context.Canceled), errors.Is(err, lease.ErrLost), errors.Is(err, framework.ErrUnknownOutcome):
	default:
		w.t.Errorf("%s: %v", name, err)
	}
	return false
}

// requireRecord checks that a run is recorded of which Do has said so.
func (w *jobWorker) requireRecord(ctx context.Context, name string, run *once.Run) {
	if err := w.client.Sync(ctx, jobsPath); err != nil {
		return
	}
	found, err := run.Recorded(ctx)
	if err == nil && found == nil {
		w.t.Errorf("%s: Do has returned nil, and there is no record", name)
	}
}
