package semaphore

import (
	"context"
	"errors"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/internal/recipepath"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// ownChildren is how many children a semaphore's path has: the parent of the queue and
// that of the permits. The head of the queue counts them: no other client makes the
// latter meanwhile, and the former stands because of the head's own node. So if there
// are more, they belong to others: perhaps to another recipe.
const ownChildren = 2

// A snapshot is what the head of the queue sees.
type snapshot struct {
	made    bool         // the parent of the permits exists
	czxid   int64        // of that parent; 0 for a snapshot that was passed on
	holders []znode.Name // the permits that are held
	permits *framework.Watch
	sized   uint64 // a moment before the size was read
	record
}

// snapshot reads the size and the permits, with watches if there was no capacity. ctx
// ends with the look, all with the acquire.
func (a *admission) snapshot(ctx, all context.Context) (now snapshot, err error) {
	if a.passed(ctx, &now) {
		return now, checkCapacity(a.n, now.size)
	}
	c, sized := a.try.Client, make(chan error, 1)
	if before := a.unchanged; before != nil && before.record.stands() {
		now.record, now.sized = before.record, before.sized
		sized <- nil
	} else {
		now.sized = a.position.Moment()
		watched := a.onlyWatch(all)
		go func() {
			var err error
			now.record, err = a.s.initialise(watched, c, a.full)
			sized <- err
		}()
	}
	var children []string
	var stat framework.Stat
	if a.full {
		children, stat, now.permits, err = c.ChildrenWatch(ctx, a.s.permitsPath())
	} else {
		children, stat, err = c.Children(ctx, a.s.permitsPath())
	}
	sizeErr := <-sized
	switch {
	case sizeErr != nil:
		return now, sizeErr
	case errors.Is(err, framework.ErrNoNode):
		return now, checkCapacity(a.n, now.size)
	case err != nil:
		return now, err
	}
	now.made, now.czxid, now.holders = true, stat.Czxid, a.s.holders.Among(children)
	return now, checkCapacity(a.n, now.size)
}

// onlyWatch returns a context for a watch on the size, if there is to be one, and ends
// the watch before.
func (a *admission) onlyWatch(all context.Context) (ctx context.Context) {
	if !a.full {
		return all
	}
	if a.unwatch != nil {
		a.unwatch()
	}
	ctx, a.unwatch = context.WithCancel(all)
	return ctx
}

// admit waits until there is capacity, and then makes the permits and leaves the queue,
// in one transaction. If it fails, no permit stays.
func (a *admission) admit(ctx context.Context) ([]framework.Created, error) {
	a.unconfirmed = a.position.Unconfirmed()
	for {
		made, err := a.attempt(ctx)
		if made != nil || err != nil {
			return made, err
		}
	}
}

// attempt looks once, and takes the permits, or waits until another look is due, which
// is when it returns nothing.
func (a *admission) attempt(ctx context.Context) ([]framework.Created, error) {
	round, cancel := context.WithCancel(ctx)
	defer cancel()
	c := a.try.Client
	now, err := a.snapshot(round, ctx)
	if a.unchanged = nil; err != nil {
		return nil, err
	}
	select {
	case <-a.unconfirmed:
		a.unconfirmed = nil
		return nil, c.Sync(ctx, a.s.recipe.Path)
	default:
	}
	a.try.Seen.Record(a.s.permitsPath(), now.holders)
	switch {
	case !now.made:
		return nil, c.CreateParents(ctx, a.s.permitsPath()+"/"+znode.Permit)
	case len(now.holders)+a.n <= now.size:
		if now.record.stat.NumChildren > ownChildren {
			if err := recipepath.CheckOthersAbove(ctx, c, a.s.recipe.Path, a.position.Path(), now.czxid, znode.Permit); err != nil {
				return nil, err
			}
		}
		return a.take(ctx, now)
	case a.try.AtOnce:
		return nil, queue.ErrNotFree
	case !a.full:
		a.full = true
		return nil, nil
	}
	return nil, a.await(ctx, now)
}

// take makes the permits. It returns nothing if another look is due.
func (a *admission) take(ctx context.Context, now snapshot) ([]framework.Created, error) {
	next, behind := a.passOn(now)
	made, err := kit.Of(a.try.Client).CreateProtectedAll(ctx, a.s.permitsPath()+"/"+znode.Permit, a.s.queue.Data(queue.ForNodes(ctx, a.n)), a.n, behind,
		framework.DeleteOp(a.position.Path(), framework.AnyVersion),
		framework.CheckOp(a.s.recipe.Path, now.record.stat.Version))
	next.taken(made)
	var op *framework.OpError
	switch {
	case framework.OutcomeOf(err) != framework.Failed:
		return made, err
	case errors.As(err, &op) && op.Path == a.position.Path() && errors.Is(err, framework.ErrNoNode):
		return nil, queue.ErrEvicted
	case errors.Is(err, framework.ErrNoNode), errors.Is(err, framework.ErrBadVersion):
		return nil, nil // the parent of the permits was reaped, or the size has changed
	}
	return nil, err
}

// await waits until there may be capacity. It fails if the position is deleted
// meanwhile: then the client should join the queue again at once. A change without an
// event is found by another look: see hold.LookAgain.
func (a *admission) await(ctx context.Context, now snapshot) error {
	evicted := false
	due, stop := hold.LookAgain(ctx, a.try.Session, a.position.Path(), func(ctx context.Context) bool {
		evicted = hold.Gone(ctx, a.try.Client, a.position.Path())
		return false
	})
	defer stop()
	for {
		select {
		case <-due:
			if evicted {
				return queue.ErrEvicted
			}
		case <-now.permits.Events():
			a.unchanged = &now
		case <-now.record.watch.Events():
		case <-a.position.Watched():
			if err := a.position.Err(); err != nil {
				return err
			}
			continue // the watch was set, or only the data have changed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		a.try.Seen.Notify()
		return nil
	}
}
