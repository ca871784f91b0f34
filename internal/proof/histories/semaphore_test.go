package histories

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// permits is how many a semaphore has at first, and mostPermits how many it may get.
const (
	permits     = 3
	mostPermits = 4
)

// countedSubject is a semaphore, in one of its layouts.
func countedSubject(name string, opts ...semaphore.Option) *subject {
	s := &subject{
		name: name, model: countedModel, size: permits,
		lines: []string{"/" + znode.QueueDir, "/" + znode.PermitsDir},
		names: []string{znode.Mutex, znode.Permit},
		watch: firstThroughDoor,
		// The size goes with the path when nobody uses it for a minute, so it is made
		// to stay.
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
			size := permits
			if th.scenario.does(Resize) {
				size = 0 // whatever is stored
			}
			return counter{must(semaphore.New(c, path, size, opts...))}
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
		s.lines, s.names, s.watch = []string{""}, []string{znode.Permits}, nil
		s.blocked = func(s Scenario, ahead []znode.Name, own znode.Name) bool {
			sum := own.Weight
			for _, name := range ahead {
				sum += name.Weight
			}
			return sum > mostPermits || sum > permits && !s.does(Resize)
		}
	}
	return s
}

// does tells whether a scenario has a step that does something.
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

// firstThroughDoor looks whether it is the first in line that passes the door. It knows
// by the line before each call and after it; a multi that takes a node out of the line
// is the one that passes.
func firstThroughDoor(r *run, c zktest.Call) {
	if c.Op == zktest.OpPing {
		return
	}
	line := r.server.Children(path + "/" + znode.QueueDir)
	before := r.line
	r.line = line
	if c.Op != zktest.OpMulti || c.Phase != zktest.PhaseAfterApply {
		return
	}
	for _, node := range before {
		passed, ok := znode.Parse(node, znode.Mutex)
		if !ok || slices.Contains(line, node) {
			continue
		}
		for _, other := range before {
			if ahead, ok := znode.Parse(other, znode.Mutex); ok && ahead.Before(passed) {
				r.brokenf("I3: %s passed the door although %s was ahead of it", node, other)
			}
		}
	}
}

// counter is a semaphore in the hands of a thread.
type counter struct{ *semaphore.Semaphore }

func (s counter) acquire(ctx context.Context, st Step) (*lease.Lease, error) {
	return s.Weight(st.N).Acquire(ctx, st.Wait)
}

// other resizes, or looks at the size and at what is free.
func (s counter) other(ctx context.Context, th *thread, st Step) {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Second, errCancelled)
	defer cancel()
	if st.Do == Resize {
		o := th.call(op{Thread: th.number, What: opResize, N: st.N})
		o.Err = s.Semaphore.Resize(ctx, st.N)
		th.judgeOther(ctx, o)
		th.returned(o) // of one that failed it is not known whether it took effect, or will
		return
	}
	o := th.call(op{Thread: th.number, What: opSize})
	o.N, o.Err = s.Size(ctx)
	th.judgeOther(ctx, o)
	if th.wasCutOff(o) {
		o.Err = errCutOff
	}
	th.returned(o)
	o = th.call(op{Thread: th.number, What: opFree})
	o.N, o.Err = s.Available(ctx)
	th.judgeOther(ctx, o)
	if o = th.returned(o); o.Err == nil && !th.wasCutOff(o) {
		th.mayBeFree(o)
	}
}

// judgeOther looks whether what is no acquire failed as it may.
func (th *thread) judgeOther(ctx context.Context, o op) {
	switch {
	case o.Err == nil, errors.Is(o.Err, framework.ErrUnknownOutcome), errors.Is(o.Err, framework.ErrSessionLost):
	case ctx.Err() != nil && errors.Is(o.Err, context.Cause(ctx)):
	case th.station.isClosed() && errors.Is(o.Err, framework.ErrClosed):
	default:
		th.brokenf("errors: %s of thread %d failed with %v", o.What, th.number, o.Err)
	}
}

// mayBeFree looks whether so many permits can have been free during a call: no more
// than there can have been, less those that were held all the time.
func (th *thread) mayBeFree(o op) {
	most, held := permits, 0
	if th.scenario.does(Resize) {
		most = mostPermits
	}
	th.look()
	th.mu.Lock()
	defer th.mu.Unlock()
	for _, t := range th.tenures {
		if t.op.Return < o.Call && t.valid > o.Return && th.expired[t.session] == 0 {
			held += t.op.N
		}
	}
	if o.N < 0 || o.N > max(0, most-held) {
		th.brokenLocked("I1: %d permits are said to be free, of at most %d, when %d are held", o.N, most, held)
	}
}
