package histories

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// permits is the first size of a semaphore, and mostPermits the greatest.
const (
	permits     = 3
	mostPermits = 4
)

// countedSubject is a semaphore in one of its layouts.
func countedSubject(name string, opts ...semaphore.Option) *subject {
	s := &subject{
		name: name, model: countedModel, size: permits,
		queues: []string{"/" + znode.QueueDir, "/" + znode.PermitsDir},
		names:  []string{znode.Mutex, znode.Permit},
		watch:  headIsAdmittedFirst(path),
		// An unused path is removed after a minute, and the size with it, so the path
		// is made persistent.
		prepare: func(ctx context.Context, c *framework.Client, s Scenario) error {
			if !s.does(Resize) {
				return nil
			}
			err := c.CreateParents(ctx, path)
			if err == nil {
				_, err = c.Create(ctx, path, binary.BigEndian.AppendUint32(nil, permits), framework.Persistent)
			}
			return err
		},
		open: func(c *framework.Client, th *thread) player {
			size, all := permits, append(slices.Clip(opts), semaphore.WithMinHold(th.scenario.MinHold), semaphore.WithLockDelay(th.scenario.Delay))
			if th.scenario.does(Resize) { // the stored size, not one of its own
				size, all = th.number%2*2*mostPermits, append(all, semaphore.WithStoredSize())
			}
			return counter{must(semaphore.New(c, path, size, all...))}
		},
		choose: func(d die, st, _ *Step) {
			switch n := d.IntN(100); {
			case n < 5:
				st.Do, st.N = Resize, 1+d.IntN(mostPermits)
			case n < 15:
				st.Do = Look
			default:
				st.N = []int{1, 1, 1, 2, 2, 3}[d.IntN(6)]
			}
		},
		allowed: func(s Scenario, _ *tenure, st Step, err error) bool {
			return errors.Is(err, semaphore.ErrTooMany) && st.N > s.leastPermits()
		},
	}
	if len(opts) > 0 {
		s.queues, s.names, s.watch = []string{""}, []string{znode.Permits}, nil
		s.blocked = func(s Scenario, ahead []znode.Name, own znode.Name) bool {
			if s.does(Resize) {
				return blockedPermits(mostPermits, ahead, own)
			}
			return blockedPermits(permits, ahead, own)
		}
	}
	return s
}

// blockedPermits is for a semaphore with a single queue.
func blockedPermits(size int, ahead []znode.Name, own znode.Name) bool {
	sum := own.Weight
	for _, name := range ahead {
		sum += name.Weight
	}
	return sum > size
}

// does tells whether a scenario has a step with that verb.
func (s Scenario) does(what Verb) bool {
	return slices.ContainsFunc(s.Threads, func(th Thread) bool {
		return slices.ContainsFunc(th.Steps, func(st Step) bool { return st.Do == what })
	})
}

// leastPermits is the least number of permits that a semaphore has.
func (s Scenario) leastPermits() int {
	least := permits
	for _, th := range s.Threads {
		for _, st := range th.Steps {
			if st.Do == Resize {
				least = min(least, st.N)
			}
		}
	}
	return least
}

// headIsAdmittedFirst checks that only the head of the queue is admitted. It compares
// the queue before and after each call: a multi that makes a permit and removes a node
// from the queue admits that node. A group that deletes one does not.
func headIsAdmittedFirst(path string) func(r *run, c zktest.Call) {
	return func(r *run, c zktest.Call) { r.checkHead(path, c) }
}

func (r *run) checkHead(path string, c zktest.Call) {
	if c.Op == zktest.OpPing {
		return
	}
	queued := r.server.Children(path + "/" + znode.QueueDir)
	before := r.queue
	r.queue = queued
	if c.Op != zktest.OpMulti || c.Phase != zktest.PhaseAfterApply || !strings.HasSuffix(c.Path, znode.Permit) {
		return
	}
	for _, node := range before {
		admitted, ok := znode.Parse(node, znode.Mutex)
		if !ok || slices.Contains(queued, node) {
			continue
		}
		for _, other := range before {
			if ahead, ok := znode.Parse(other, znode.Mutex); ok && ahead.Before(admitted) {
				r.brokenf("I3: %s was admitted although %s was ahead of it", node, other)
			}
		}
	}
}

// counter is a semaphore, as a thread uses it.
type counter struct{ *semaphore.Semaphore }

func (s counter) acquire(ctx context.Context, st Step) (*lease.Lease, error) {
	return s.Weight(st.N).Acquire(ctx, st.Wait)
}

// other resizes, or reads the size and the free permits.
func (s counter) other(ctx context.Context, th *thread, st Step) {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Second, errCancelled)
	defer cancel()
	if st.Do == Resize {
		o := th.call(op{Thread: th.number, What: opResize, N: st.N})
		o.Err = s.Semaphore.Resize(ctx, st.N)
		th.checkOtherError(ctx, o)
		th.returned(o) // one that failed may have taken effect, or may still do so
		return
	}
	o := th.call(op{Thread: th.number, What: opSize})
	o.N, o.Err = s.Size(ctx)
	th.checkOtherError(ctx, o)
	if th.wasCutOff(o) {
		o.Err = errCutOff
	}
	th.returned(o)
	o = th.call(op{Thread: th.number, What: opFree})
	o.N, o.Err = s.Available(ctx)
	th.checkOtherError(ctx, o)
	if o = th.returned(o); o.Err == nil && !th.wasCutOff(o) {
		th.checkFree(o)
	}
}

// checkOtherError checks the error of an op other than an acquire.
func (th *thread) checkOtherError(ctx context.Context, o op) {
	switch {
	case o.Err == nil, errors.Is(o.Err, framework.ErrUnknownOutcome), errors.Is(o.Err, framework.ErrSessionLost):
	case ctx.Err() != nil && errors.Is(o.Err, context.Cause(ctx)):
	case th.station.isClosed() && errors.Is(o.Err, framework.ErrClosed):
	default:
		th.brokenf("errors: %s of thread %d failed with %v", o.What, th.number, o.Err)
	}
}

// checkFree checks that so many permits can have been free during a call: at most the
// greatest size, less those that were held all the time.
func (th *thread) checkFree(o op) {
	most, held := permits, 0
	if th.scenario.does(Resize) {
		most = mostPermits
	}
	th.look()
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, t := range th.tenures {
		_, forced := th.forcedLocked(t.op.Slots[0])
		if t.op.Return < o.Call && t.valid > o.Return && !forced {
			held += t.op.N
		}
	}
	if o.N < 0 || o.N > max(0, most-held) {
		th.brokenLocked("I1: %d permits are reported free, of at most %d, while %d are held", o.N, most, held)
	}
}
