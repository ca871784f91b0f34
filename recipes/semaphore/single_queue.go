package semaphore

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// admitAll is the policy of nodes that wait for no other.
func admitAll(znode.Name, queue.Ahead) (wait []znode.Name) { return nil }

// fitting admits a node if its weight and the weights of all ahead of it do not exceed
// the size. Any other node waits for the nearest ones ahead that already leave too
// little for it: while all of those stand it cannot be admitted. A node that is too
// heavy even alone waits for itself.
func fitting(size int) queue.Policy {
	return func(self znode.Name, ahead queue.Ahead) (wait []znode.Name) {
		if self.Weight > size {
			return []znode.Name{self}
		}
		left := size - self.Weight // a sum could overflow where an int has 32 bits
		for other := range ahead.All {
			wait = append(wait, other)
			if other.Weight > left {
				return wait
			}
			left -= other.Weight
		}
		return nil
	}
}

// bySize is the rule of a single queue; read returns the size.
func bySize(read func(ctx context.Context, c *framework.Client) (int, error)) queue.Rule {
	return func(ctx context.Context, c *framework.Client) (queue.Policy, error) {
		size, err := read(ctx, c)
		return fitting(size), err
	}
}

// singleQueueTaker takes one position in the queue for n permits.
func (s *Semaphore) singleQueueTaker(n int) acquire.Taker {
	q := *s.queue
	q.Kind = znode.PermitsOf(n)
	return func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // of the watches that were set for it
		size := &positionSize{s: s, n: n, client: t.Client}
		q.Rule = bySize(size.peek)
		if err := t.CheckFree(ctx, &q); err != nil {
			return nil, err
		}
		q.Rule = bySize(size.decide)
		size.Watch, size.Changed = size.watch, size.changed
		p, err := t.Await(ctx, &q, &size.Dependency)
		if err != nil {
			return nil, err
		}
		return t.Grant(p)
	}
}

// A positionSize is the size by which one position in a single queue is admitted.
type positionSize struct {
	queue.Dependency
	s       *Semaphore
	n       int
	client  *framework.Client
	size    int // last read
	decided int // the last decision was made by it
}

// peek returns the size for a client that has no position yet.
func (p *positionSize) peek(ctx context.Context, c *framework.Client) (int, error) {
	r, err := p.s.readSize(ctx, c, p.n, false)
	return r.size, err
}

// decide returns the size. It reads it once, and again when it may have changed.
func (p *positionSize) decide(ctx context.Context, _ *framework.Client) (_ int, err error) {
	if !p.Stands() {
		_, err = p.read(ctx, false)
	}
	p.decided = p.size
	return p.size, err
}

func (p *positionSize) read(ctx context.Context, watch bool) (r record, err error) {
	if r, err = p.s.initialise(ctx, p.client, watch); err == nil {
		err = checkCapacity(p.n, r.size)
	}
	p.size = r.size
	return r, err
}

func (p *positionSize) watch(ctx context.Context) (w *framework.Watch, changed bool, err error) {
	r, err := p.read(ctx, true)
	return r.watch, p.size != p.decided, err
}

func (p *positionSize) changed(ctx context.Context) bool {
	now, err := p.peek(ctx, kit.Of(p.client).Once())
	return (err != nil || now != p.decided) && framework.OutcomeOf(err) != framework.Unknown
}
