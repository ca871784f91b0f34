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

// all admits everybody.
func all(znode.Name, []znode.Name) (wait []znode.Name) { return nil }

// fitting admits those whose weights, with the weights of all ahead, do not exceed the
// size. Everybody else waits for the nearest ones ahead that are already too heavy for
// it: while all of those stand it cannot be admitted. Whoever is too heavy even alone
// waits for itself.
func fitting(size int) queue.Policy {
	return func(self znode.Name, ahead []znode.Name) (wait []znode.Name) {
		if self.Weight > size {
			return []znode.Name{self}
		}
		room := size - self.Weight // a sum could overflow where an int has 32 bits
		for i := len(ahead) - 1; i >= 0; i-- {
			if ahead[i].Weight > room {
				return ahead[i:]
			}
			room -= ahead[i].Weight
		}
		return nil
	}
}

// bySize is the rule of a single queue, for those who learn the size like this.
func bySize(ask func(ctx context.Context, c *framework.Client) (int, error)) queue.Rule {
	return func(ctx context.Context, c *framework.Client) (queue.Policy, error) {
		size, err := ask(ctx, c)
		return fitting(size), err
	}
}

// inSingleQueue takes a place for n permits.
func (s *Semaphore) inSingleQueue(n int) acquire.Taker {
	line := *s.line
	line.Kind = znode.PermitsOf(n)
	return func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		size := &placeSize{s: s, n: n, client: t.Client}
		line.Rule = bySize(size.peek)
		if err := t.CheckFree(ctx, &line); err != nil {
			return nil, err
		}
		line.Rule = bySize(size.decide)
		size.Watch, size.Changed = size.watch, size.changed
		p, err := t.Await(ctx, &line, &size.Dependency)
		if err != nil {
			return nil, err
		}
		return t.Grant(p)
	}
}

// A placeSize is the size that one place in a single queue goes by.
type placeSize struct {
	queue.Dependency
	s       *Semaphore
	n       int
	client  *framework.Client
	size    int // as it was last seen
	decided int // what was decided by
}

// peek returns the size for who has no place in line yet.
func (p *placeSize) peek(ctx context.Context, c *framework.Client) (int, error) {
	r, err := p.s.vet(ctx, c, p.n, false)
	return r.size, err
}

// decide returns the size. It is asked for once, and again when it may have changed.
func (p *placeSize) decide(ctx context.Context, _ *framework.Client) (_ int, err error) {
	if !p.Stands() {
		_, err = p.ask(ctx, false)
	}
	p.decided = p.size
	return p.size, err
}

func (p *placeSize) ask(ctx context.Context, watch bool) (r record, err error) {
	if r, err = p.s.settle(ctx, p.client, watch); err == nil {
		err = fits(p.n, r.size)
	}
	p.size = r.size
	return r, err
}

func (p *placeSize) watch(ctx context.Context) (w *framework.Watch, changed bool, err error) {
	r, err := p.ask(ctx, true)
	return r.watch, p.size != p.decided, err
}

func (p *placeSize) changed(ctx context.Context) bool {
	now, err := p.peek(ctx, kit.Of(p.client).Once())
	return (err != nil || now != p.decided) && framework.OutcomeOf(err) != framework.Unknown
}
