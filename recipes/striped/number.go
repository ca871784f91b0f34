package striped

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Why two values with different numbers do not both hold a stripe. Let D be a node that
// was admitted to its stripe, and V what verified the number n after that: a read that
// was sent later, or a watch, set by a read that showed n, whose event had not come.
//
//   - A session gets the event for a change before anything that shows a later state.
//     So the path stored n at some moment at which D was the head of its queue.
//   - Who changes the number holds all stripes of the old one, and does it in a
//     transaction that fails unless all of its nodes exist. So from that moment on the
//     number is n for as long as D exists: one of those stripes is D's.
//   - So while two leases are valid, their nodes exist, and both numbers are the one
//     that is stored.
//   - If D was handed over to, before the delete of the node P ahead of it was
//     answered, it is not the head yet. The number that P was granted by stays while P
//     exists, and then D does. But who changes the number hands over to nobody: its
//     transaction may be under way, or known in another session only. Then D is
//     admitted by a deletion, and the event for the number comes before that.
//   - D is younger than the number, unless that is the first one of the path or its
//     only change: to another number and back takes two. Else it joins again: between
//     its create and the grant a holder of its key, at another stripe, may have got a
//     greater token.
//   - The path cannot be deleted while D exists, and who stores a number where there is
//     none does so with the version that it has read.

// compare returns an error unless data are the own number.
func (l *Locks) compare(data []byte) error {
	switch n, ok := znode.ParseStripes(data); {
	case !ok:
		return fmt.Errorf("%w: %s: choose another path, or empty this one if no program needs that", lease.ErrForeignData, quote.Excerpt(data))
	case n != len(l.stripes):
		return fmt.Errorf("%w: %d given, %d stored", ErrSizeMismatch, len(l.stripes), n)
	}
	return nil
}

// begin begins a try. It compares the numbers: then who has the wrong one need not wait
// for that, nor, with the context of a lease by another number, for itself.
func (l *Locks) begin(ctx context.Context, t *acquire.Try) (err error) {
	t.Verify = func(ctx context.Context, node string, czxid int64) error { return l.verify(ctx, t.Client, node, czxid) }
	var data []byte
	if l.agreed.Load() {
		data, _, err = kit.Of(t.Client).GetKnown(ctx, l.recipe.Path)
	} else { // it leaves no watch behind where nothing is free
		data, _, err = t.Client.Get(ctx, l.recipe.Path)
	}
	switch {
	case errors.Is(err, framework.ErrNoNode):
		return nil
	case err != nil, znode.IsUnset(data):
		return err
	}
	return l.compare(data)
}

// verify returns an error unless the path stores the own number, for a node that was
// admitted. If it stores none, the own one is stored first. Once for the value it looks
// for other recipes before.
func (l *Locks) verify(ctx context.Context, c *framework.Client, node string, czxid int64) error {
	if !l.agreed.Load() {
		if err := recipepath.CheckOthersAbove(ctx, c, l.recipe.Path, node, 0, znode.Stripe); err != nil {
			return err
		}
	}
	for {
		data, stat, err := kit.Of(c).GetKnown(ctx, l.recipe.Path)
		if err != nil { // an ErrNoNode: then the node below it is gone, too
			return err
		}
		if !znode.IsUnset(data) {
			if err := l.compare(data); err != nil {
				return err
			}
			l.agreed.Store(true)
			if stat.Version > 1 && czxid < stat.Mzxid { // see above
				return queue.ErrEvicted
			}
			return nil
		}
		if err := l.store(ctx, c); err != nil {
			return err
		}
	}
}

// store stores the number at the path, unless that has data. It need not succeed: what
// is stored then is read next.
func (l *Locks) store(ctx context.Context, c *framework.Client) error {
	data, stat, err := c.Get(ctx, l.recipe.Path)
	if err != nil || !znode.IsUnset(data) {
		return err
	}
	_, err = c.Set(ctx, l.recipe.Path, znode.Stripes(len(l.stripes)), stat.Version)
	if errors.Is(err, framework.ErrBadVersion) || framework.OutcomeOf(err) == framework.Unknown {
		return nil
	}
	return err
}
