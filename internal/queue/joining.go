package queue

import (
	"context"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// maxJoins is how many creates of a view are under way at once. What the session has to
// send meanwhile, so that it lives on and releases what it holds, does not wait behind
// more.
const maxJoins = 256

// mayJoin waits until the position may send its create.
func (p *Position) mayJoin(ctx context.Context) error {
	select {
	case p.view.joins <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.session.Done():
		return p.session.Err()
	}
}

// fits returns an error if there is no room for a newcomer: in the session, where
// others may have been faster to take what there was when it was chosen, or in a
// listing.
func (p *Position) fits() error {
	if !kit.Of(p.queue.Client).HasRoom(p.session, p.queue.Path) {
		return framework.ErrTooManyEphemerals
	}
	return p.mayBeListed()
}

// mayBeListed returns an error if a newcomer that will not list the queue at once could
// not do so later: those who can list it then must not pay for that.
func (p *Position) mayBeListed() error {
	underWay := len(p.view.joins) // with the own one; who enters the crowd meanwhile counts twice
	n, full := p.view.crowd.contenders()
	if !full || p.queue.HandsOver == nil {
		return nil
	}
	n += underWay
	bytes, limit := n*(protection.Before+len(p.queue.Kind)+znode.SequenceDigits+4), kit.Of(p.client).MaxReplyBytes()
	if bytes <= limit-limit/16 { // others may have come since the last listing
		return nil
	}
	return fmt.Errorf("%w: %d contenders take %d bytes, and of the limit, %d, a part is kept free", framework.ErrReplyTooLarge, n, bytes, limit)
}
