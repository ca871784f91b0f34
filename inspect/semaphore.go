package inspect

import (
	"context"
	"errors"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Permits are the numbers of a semaphore.
type Permits struct {
	// SizeKnown says whether the size is stored at the path. Curator need not store it;
	// then Size and Free are 0.
	SizeKnown bool
	// Size is how many permits there are, Free how many could be acquired at once, were
	// it not for a lock-delay.
	Size, Free int
}

// atThePath are the kinds of contenders right below a path.
var atThePath = slices.Concat(znode.Locks, []string{znode.Latch, znode.Permits})

func inSingleQueue(child string) bool {
	_, ok := znode.Parse(child, znode.Permits)
	return ok
}

// hadPermits reports whether a holder of permits in a single queue has ended without a
// release.
func (s *survey) hadPermits() bool {
	d := s.delayOf()
	return d != nil && slices.ContainsFunc(d.Ended, func(e Ended) bool { return inSingleQueue(e.Node) })
}

// inTwoQueues reports whether it is a semaphore in Curator's layout.
func (p *place) inTwoQueues() bool { return p.recipe == Semaphore && !p.single }

// readSize reads the size of a semaphore.
func (p *place) readSize(ctx context.Context, client *framework.Client) error {
	data, _, err := client.Get(ctx, p.path)
	p.setSize(data)
	if errors.Is(err, framework.ErrNoNode) {
		return nil
	}
	return err
}

// setSize sets the size of a semaphore to what its path stores.
func (p *place) setSize(data []byte) {
	size, ok := znode.ParseSize(data)
	p.size, p.sizeKnown = int64(size), ok
}

// permits returns the numbers of a semaphore. In two queues only the client that waits
// knows how many it needs, so none is free while one does.
func (p *place) permits() *Permits {
	if !p.sizeKnown {
		return &Permits{}
	}
	free := p.size - int64(len(p.held))
	for _, name := range p.names {
		free -= int64(name.Weight)
	}
	if p.inTwoQueues() && len(p.names) > 0 {
		free = 0
	}
	return &Permits{SizeKnown: true, Size: int(p.size), Free: int(max(free, 0))}
}
