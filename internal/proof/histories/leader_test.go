package histories

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/retry"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// leaderSubject is a leader election: clients campaign by Acquire and by Lead, and ask
// or observe who leads.
func leaderSubject() *subject {
	return &subject{
		name: "leader", model: exclusiveModel, nests: true, queues: []string{""}, names: []string{znode.Latch},
		open: func(c *framework.Client, th *thread) player {
			return candidate{must(leader.New(c, path, leader.WithID(th.station.name), leader.WithBackoff(retry.Constant(70*time.Millisecond)), leader.WithMaxHold(th.scenario.MaxHold), leader.WithMinHold(th.scenario.MinHold), leader.WithLockDelay(th.scenario.Delay)))}
		},
		choose: func(d die, st, outer *Step) {
			if outer != nil {
				return
			}
			switch n := d.IntN(100); {
			case n < 20:
				st.Do, st.Cancel, st.Wait = Campaign, d.upTo(4*time.Second), 0
				st.Hold = min(st.Hold, time.Second)
			case n < 35:
				st.Do = Look
			case n < 45:
				st.Do = Observing
			}
		},
		excludes: always,
		blocked:  func(_ Scenario, ahead []znode.Name, _ znode.Name) bool { return len(ahead) > 0 },
		watch:    func(r *run, c zktest.Call) { r.recordHead(c.Op == zktest.OpPing) },
	}
}

// A head is the node at the head of the queue, from that moment on.
type head struct {
	seq  int64
	node string // "" for none
}

// recordHead records the head of the queue.
func (r *run) recordHead(skip bool) {
	if skip {
		return
	}
	var first znode.Name
	for _, child := range r.server.Children(path) {
		if name, ok := znode.Parse(child, znode.Latch); ok && (first.Node == "" || name.Before(first)) {
			first = name
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seq, _ := r.nextLocked()
	r.heads = append(r.heads, head{seq, first.Node})
}

// wasHead tells whether a node was the head at some time during an op: by one of the
// records made during the op, the last before it or the first after it.
func (r *run) wasHead(node string, o op) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, h := range r.heads {
		before := i+1 < len(r.heads) && r.heads[i+1].seq < o.Call
		after := i > 0 && r.heads[i-1].seq > o.Return
		if h.node == node && !before && !after {
			return true
		}
	}
	return false
}

// candidate is an election, as a thread uses it.
type candidate struct{ *leader.Election }

func (c candidate) acquire(ctx context.Context, st Step) (*lease.Lease, error) {
	return c.Acquire(ctx, st.Wait)
}

func (c candidate) other(ctx context.Context, th *thread, st Step) {
	switch st.Do {
	case Look:
		c.look(ctx, th)
	case Campaign:
		c.campaign(ctx, th, st)
	case Name:
		c.name(ctx, th, st)
	case Observing:
		th.observe(c.Election)
	}
}

// look asks who leads.
func (c candidate) look(ctx context.Context, th *thread) {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Second, errCancelled)
	defer cancel()
	th.recordHead(false)
	o := th.call(op{Thread: th.number, What: opLook})
	who, ok, err := c.Leader(ctx)
	o.Token, o.Err = int64(who.Token), err
	th.checkOtherError(ctx, o)
	o = th.returned(o)
	th.recordHead(false)
	if err == nil && !th.wasCutOff(o) && (ok != (who.Node != "") || !th.wasHead(who.Node, o)) {
		th.brokenf("I1: thread %d got %q as the leader, which it was not during the call", th.number, who.Node)
	}
}

var errFailed = errors.New("the work of a leader failed")

// campaign takes part in the election for some time.
func (c candidate) campaign(ctx context.Context, th *thread, st Step) {
	terms := 0
	o := th.call(op{Thread: th.number, What: opAcquire})
	err := c.Lead(ctx, func(ctx context.Context, term *lease.Lease) error {
		t := th.recordGrant(o, term, nil, st)
		th.keep(term, st.Hold/2)
		if st.Confirm {
			th.confirm(t, st)
		}
		select {
		case <-ctx.Done():
		case <-time.After(st.Hold / 2):
		}
		th.look()
		th.releasing(t)
		o = th.call(op{Thread: th.number, What: opAcquire})
		if terms++; terms%3 == 1 {
			return errFailed
		}
		return nil
	})
	if terms > 0 {
		th.look()
	}
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
	case th.station.isClosed() && errors.Is(err, framework.ErrClosed):
	default:
		th.brokenf("errors: Lead of thread %d returned %v", th.number, err)
	}
}

// observed is what one loop over Observe has returned.
type observed struct {
	thread int

	mu    sync.Mutex
	last  lease.Token // 0 for no leader
	ended bool
}

// observe starts a loop over Observe that lasts to the end of the run.
func (th *thread) observe(e *leader.Election) {
	seen := &observed{thread: th.number}
	st := th.station
	th.observers = append(th.observers, seen)
	th.observing.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		greatest := lease.Token(0)
		stop := context.AfterFunc(th.observersEnd, cancel)
		defer stop()
		for who, err := range e.Observe(ctx) {
			if err != nil {
				if !errors.Is(err, framework.ErrClosed) || !slices.Contains(th.quitters(), st.number) {
					th.brokenf("errors: Observe of thread %d ended with %v", seen.thread, err)
				}
				break
			}
			if who.Token != 0 && who.Token <= greatest {
				th.brokenf("I1: thread %d observed leader %d after %d", seen.thread, who.Token, greatest)
			}
			greatest = max(greatest, who.Token)
			seen.mu.Lock()
			seen.last = who.Token
			seen.mu.Unlock()
		}
		seen.mu.Lock()
		seen.ended = true
		seen.mu.Unlock()
	})
}

// quitters returns the clients that are closed before the end.
func (r *run) quitters() []int {
	var found []int
	for _, th := range r.scenario.Threads {
		if slices.ContainsFunc(th.Steps, func(st Step) bool { return st.Quit > 0 || st.Abandon }) {
			found = append(found, th.Client)
		}
	}
	return found
}

// endObservers checks that observers have seen that there is no leader any more, and
// ends them.
func (r *run) endObservers() {
	for _, o := range r.observers {
		current := func() bool {
			o.mu.Lock()
			defer o.mu.Unlock()
			return o.ended || o.last == 0
		}
		if len(r.contenders()) == 0 && !r.eventually(current) {
			r.brokenf("I4: the observer of thread %d still sees leader %d", o.thread, o.last)
		}
	}
	r.endObserving()
	r.observing.Wait()
}
