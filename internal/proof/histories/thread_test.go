package histories

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// runClient connects a client and runs its threads.
func (r *run) runClient(st *station) {
	if !r.connect(st) {
		return
	}
	var threads sync.WaitGroup
	for i, th := range r.scenario.Threads {
		if th.Client == st.number {
			threads.Go(func() {
				for _, step := range th.Steps {
					(&thread{r, st, i}).do(r.ctx, nil, step)
				}
			})
		}
	}
	threads.Wait()
}

// connect connects a client for the station.
func (r *run) connect(st *station) bool {
	cfg := conformance.Config(r.server, st.name)
	cfg.Observers = append(cfg.Observers, r.notified.Observer(), framework.Observer{RequestEnded: r.handedOver.onAnswer})
	cfg.MaxEphemeralBytes = r.scenario.Room
	c, err := framework.Connect(r.ctx, cfg)
	if err != nil {
		r.brokenf("I4: %s could not connect: %v", st.name, err)
		return false
	}
	if r.scenario.Front > 0 {
		queue.SetFront(c, r.scenario.Front)
	}
	if r.scenario.Beside > 0 {
		for _, line := range append(stripeQueues(moreStripes), r.subject.queues...) {
			kit.Of(c).RecordParent(path+line, true) // so the first create may join a group, too
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.client, st.closed = c, false
	return true
}

// close closes the station's client. It may be called twice.
func (st *station) close() {
	st.mu.Lock()
	st.closed = true
	c := st.client
	st.mu.Unlock()
	_ = c.Close()
}

func (st *station) isClosed() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.closed
}

// A thread does steps.
type thread struct {
	*run
	station *station
	number  int
}

// errCancelled is the cause with which a scenario cancels contexts.
var errCancelled = errors.New("cancelled by the scenario")

// do does a step. ctx is the context of the lease outer, if that is set.
func (th *thread) do(ctx context.Context, outer *tenure, st Step) {
	if th.ctx.Err() != nil { // something took too long, and was reported
		return
	}
	<-time.After(st.Pause)
	if st.Detached {
		deadline, _ := th.ctx.Deadline()
		attached, detach := context.WithDeadlineCause(context.WithoutCancel(ctx), deadline, errTooLong)
		defer detach()
		ctx = attached
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if st.Cancel > 0 {
		defer th.cancelAfter(st.Cancel, cancel)()
	}
	if st.Quit > 0 {
		closed := make(chan struct{})
		timer := time.AfterFunc(st.Quit, func() {
			th.quitting(th.station)
			th.station.close()
			close(closed)
		})
		defer func() {
			if timer.Stop() {
				return
			}
			<-closed
			th.connect(th.station)
		}()
	}
	player := th.subject.open(th.station.client, th)
	if st.Do != Acquire {
		player.other(ctx, th, st)
		return
	}
	began := time.Now()
	o := th.call(op{Thread: th.number, What: opAcquire, Side: st.Side, N: st.N, Inner: outer != nil})
	th.travelTogether()
	l, err := player.acquire(ctx, st)
	if p, ok := player.(partial); ok {
		o.Slots = p.slots(l, st)
	}
	th.checkDuration(st, time.Since(began))
	if err != nil {
		o.Err = err
		th.returned(o)
		th.checkError(ctx, outer, st, err)
		return
	}
	th.look()
	th.hold(o, l, outer, st)
}

// checkDuration checks that an acquire took no longer than its timeout.
func (th *thread) checkDuration(st Step, took time.Duration) {
	limit := st.Wait
	switch {
	case st.Wait <= 0:
		limit = conformance.SessionTimeout / 3 * time.Duration(th.subject.locksOf(st))
		if th.scenario.does(Resize) {
			limit *= 2
		}
		if th.subject.verifies { // the connection may break then, so that a quorum has to vouch
			limit += conformance.SessionTimeout / 2
		}
	case st.Wait == lease.Forever:
		return
	}
	if took > limit+150*time.Millisecond { // it reads who holds, and leaves the queue
		th.brokenf("I4: thread %d waited for %v instead of %v", th.number, took, st.Wait)
	}
}

// checkError checks that the step may fail with an error.
func (th *thread) checkError(ctx context.Context, outer *tenure, st Step, err error) {
	ok := false
	switch cause := context.Cause(ctx); {
	case errors.Is(err, errTooLong):
		th.brokenf("I4: thread %d was never granted %v", th.number, st)
		return
	case errors.Is(err, lease.ErrTimeout):
		ok = st.Wait != lease.Forever
	case errors.Is(err, framework.ErrClosed):
		ok = th.station.isClosed()
	case th.subject.allowed != nil && th.subject.allowed(th.scenario, outer, st, err):
		ok = true
	case errors.Is(err, framework.ErrTooManyEphemerals) && errors.Is(err, framework.ErrNotConnected):
		ok = th.scenario.Room > 0 // no server takes a further session for now
	case errors.Is(err, lease.ErrLost):
		for t := outer; t != nil && !ok; t = t.outer {
			ok = t.lease.Err() != nil // released here, or lost by another lease of the slot
		}
	case cause != nil:
		ok = errors.Is(err, cause)
	}
	if !ok {
		th.brokenf("errors: thread %d: %v failed with %v", th.number, st, err)
	}
}

// hold holds a lease for the step's time, and releases it.
func (th *thread) hold(o op, l *lease.Lease, outer *tenure, st Step) {
	t := th.recordGrant(o, l, outer, st)
	if st.Write {
		th.use(t)
	}
	if st.Early && outer != nil {
		th.release(outer, Step{})
	}
	th.keep(l, st.Hold/2)
	if st.Confirm {
		th.confirm(t, st)
	}
	for _, inner := range st.Inner {
		th.do(l.Context(), t, inner)
	}
	th.keep(l, st.Hold/2)
	th.look()
	late := th.writeLate(t, st)
	th.release(t, st)
	late.Wait()
}

// keep waits for that time, or until the lease ends.
func (th *thread) keep(l *lease.Lease, d time.Duration) {
	if d == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-l.Context().Done():
		for l.Err() == nil && ctx.Err() == nil { // only the caller's context has ended
			th.sleep(100 * time.Millisecond)
		}
	}
}

// release releases a lease, or closes its client if the step says so.
func (th *thread) release(t *tenure, st Step) {
	early := errors.Is(t.lease.Err(), lease.ErrReleased)
	if st.Abandon {
		th.quitting(th.station)
		th.station.close()
		th.look()
		if err := t.lease.Err(); !errors.Is(err, lease.ErrLost) && !early {
			th.brokenf("errors: the client of thread %d is closed and its lease is %v", th.number, err)
		}
		if !th.connect(th.station) {
			return
		}
	}
	th.travelTogether()
	th.releasing(t)
	began := time.Now()
	release := t.lease.Release
	if st.Async {
		release = t.lease.ReleaseAsync
	}
	err := release()
	th.look()
	if err == nil {
		th.left(t)
	}
	switch {
	case early && errors.Is(err, lease.ErrReleased), !early && (err == nil || errors.Is(err, lease.ErrLost)):
	default:
		th.brokenf("errors: release of lease %d failed with %v", t.op.Lease, err)
	}
	if took := time.Since(began); took > th.scenario.MinHold+conformance.SessionTimeout/3+150*time.Millisecond {
		th.brokenf("I4: release of lease %d took %v", t.op.Lease, took)
	}
}

// confirm confirms the lease in the middle of the work.
func (th *thread) confirm(t *tenure, st Step) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 313*time.Millisecond, errCancelled)
	defer cancel()
	o := th.call(op{Thread: th.number, What: opConfirm, Side: st.Side, N: st.N, Lease: t.op.Lease, Token: t.op.Token, Slots: t.op.Slots})
	o.Err = t.lease.Confirm(ctx)
	switch {
	case o.Err == nil:
		th.recordUse(t)
	case errors.Is(o.Err, errCancelled), errors.Is(o.Err, framework.ErrUnknownOutcome):
		// The lease is valid, or there was no answer.
	case errors.Is(o.Err, lease.ErrLost), errors.Is(o.Err, lease.ErrReleased):
		if t.lease.Err() == nil {
			th.brokenf("I1: Confirm says that lease %d is lost, but it is valid", t.op.Lease)
		}
	default:
		th.brokenf("errors: confirm of lease %d failed with %v", t.op.Lease, o.Err)
	}
	th.returned(o)
}
