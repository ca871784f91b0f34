package histories

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
)

// errWork is what the work of a run fails with.
var errWork = errors.New("the work has failed")

// runJobs connects a client and runs its threads.
func (r *jobRun) runJobs(st *station) {
	if !r.connect(st) {
		return
	}
	var threads sync.WaitGroup
	for i, th := range r.plan.Threads {
		if th.Client == st.number {
			threads.Go(func() { (&jobThreadRun{jobRun: r, station: st, number: i}).doAll(th.Steps) })
		}
	}
	threads.Wait()
}

// A jobThreadRun does the steps of a thread.
type jobThreadRun struct {
	*jobRun
	station *station
	number  int
}

// doAll does the steps, and then each run until it is recorded.
func (th *jobThreadRun) doAll(steps []jobStep) {
	left := map[string]jobStep{}
	for _, st := range steps {
		<-time.After(st.Pause)
		th.do(st)
		left[st.name()] = jobStep{Key: st.Key, Tick: st.Tick}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		for !th.do(left[name]) && th.ctx.Err() == nil {
			<-time.After(100 * time.Millisecond)
		}
	}
}

// do does a step. It reports whether the run needs to be tried no more.
func (th *jobThreadRun) do(st jobStep) bool {
	if th.ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithCancelCause(th.ctx)
	defer cancel(nil)
	if st.Cancel > 0 {
		timer := time.AfterFunc(st.Cancel, func() { cancel(errCancelled) })
		defer timer.Stop()
	}
	if st.Quit > 0 {
		closed := make(chan struct{})
		timer := time.AfterFunc(st.Quit, func() {
			th.quitting(th.station)
			th.station.close()
			close(closed)
		})
		defer func() {
			if !timer.Stop() {
				<-closed
				th.connect(th.station)
			}
		}()
	}
	job := must(once.New(th.station.client, path, once.WithRetention(th.plan.Retentions[th.station.number]), once.WithLockDelay(th.plan.Delay)))
	run := job.Key(st.Key)
	if st.Key == "" {
		run = job.Tick(st.Tick)
	}
	c := &call{name: st.name(), step: st}
	err := th.attempt(ctx, run, c)
	th.judge.returned(c, err)
	if errors.Is(err, errTooLong) {
		th.brokenf("P2: thread %d waited for too long for %s: %v", th.number, c.name, err)
	}
	th.checkError(ctx, c, err)
	return err == nil || errors.Is(err, once.ErrForgotten) || st.Way == wayLock
}

// attempt makes one call of Do, or the calls that stand for it.
func (th *jobThreadRun) attempt(ctx context.Context, run *once.Run, c *call) error {
	switch c.step.Way {
	case wayAcquire, wayLock:
		held, err := run.Acquire(ctx, c.step.Wait)
		if err != nil {
			return err
		}
		err = th.work(ctx, run, held, c)
		if err == nil && c.step.Way == wayAcquire && c.also == nil {
			err = run.Record(ctx, held)
		}
		released := held.Release()
		if released != nil && !errors.Is(released, lease.ErrLost) {
			th.brokenf("errors: release failed with %v", released)
		}
		return err
	}
	return run.Do(ctx, func(ctx context.Context, held *lease.Lease) error { return th.work(ctx, run, held, c) })
}

// ending is called when the work under a lease has ended.
func (th *jobThreadRun) ending(held *lease.Lease) {
	if th.delays != nil {
		th.delays.Releasing(held)
	}
}

// work is what is done under a lease.
func (th *jobThreadRun) work(ctx context.Context, run *once.Run, held *lease.Lease, c *call) error {
	if _, recorded := th.server.Node(path + "/" + znode.RecordsDir + "/" + c.name); recorded && held.Err() == nil && !th.excused(held) {
		th.brokenf("P1: thread %d begins %s, which is recorded", th.number, c.name)
	}
	if th.delays != nil {
		th.delays.Granted(held)
	}
	th.referee.Grant(th.station.name, held)
	c.token = held.Token()
	th.mu.Lock()
	th.begun++
	th.mu.Unlock()
	timer := time.NewTimer(c.step.Work)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	th.referee.Look()
	th.ending(held) // a lock-delay ends with the record
	if c.step.Fail {
		return errWork
	}
	ops := map[string][]framework.Op{
		effect:  {framework.CreateOp(effects+"/"+strings.ReplaceAll(c.name, "/", "_")+"-", fmt.Append(nil, int64(c.token), " ", c.name), framework.PersistentSequential)},
		refusal: {framework.CheckOp(effects, framework.AnyVersion), framework.CheckOp(effects+"/none", framework.AnyVersion)},
	}
	if c.also = ops[c.step.Also]; c.also == nil || c.step.Way == wayLock {
		return nil
	}
	th.judge.carries(c)
	err := run.Record(ctx, held, c.also...)
	c.itself = err == nil
	return err
}

// checkError checks that a step may fail with an error.
func (th *jobThreadRun) checkError(ctx context.Context, c *call, err error) {
	ok := false
	switch cause := context.Cause(ctx); {
	case err == nil, errors.Is(err, errTooLong), errors.Is(err, lease.ErrLost), errors.Is(err, framework.ErrUnknownOutcome):
		ok = true
	case errors.Is(err, errWork):
		ok = c.step.Fail
	case errors.Is(err, lease.ErrTimeout):
		ok = c.step.Way != wayDo
	case errors.Is(err, once.ErrRecorded):
		ok = c.step.Way != wayDo || c.token != 0
	case errors.Is(err, once.ErrForgotten):
		ok = c.step.Key == ""
	case errors.Is(err, framework.ErrClosed):
		ok = th.station.isClosed()
	case errors.Is(err, framework.ErrNoNode):
		ok = c.step.Also == refusal
	case cause != nil:
		ok = errors.Is(err, cause)
	}
	if !ok {
		th.brokenf("errors: thread %d: %s failed with %v", th.number, c.name, err)
	}
}
