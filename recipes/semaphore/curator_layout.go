package semaphore

import (
	"context"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/acquire"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/queue"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// Why no more permits are granted than the size. Let D be a node in the queue, and let
// L be the listing of the permits by which its owner decides that n more fit. Then one
// transaction T makes the permits, removes D, and checks that the size has not changed.
//
//   - D exists until T, or T fails: T removes it, and no node is created twice.
//   - L shows the permits as they were when D was the head of the queue, or later. If a
//     listing of the queue showed that, the session never again attaches to a server
//     that knows less. If its predecessor's end showed it, and the connection breaks
//     before L is answered, the next server may know less: then a sync and another look
//     come first (Position.Unconfirmed). If its predecessor has passed L on, L shows
//     the permits of the transaction by which that one has left the queue, and all
//     others ahead of D were deleted before that was sent (Position.PassOn).
//   - Once D is the head, it is so while it exists: numbers in the queue grow.
//   - So between L and T no other client made permits: it would need a node in the
//     queue that exists at its transaction and was the head before. Of two nodes that
//     exist at the same time, the one with the greater number was never the head.
//   - So at T there are no more permits than L shows. Those and the n fit into the
//     size, which is the one that is stored at T.
//
// A Java client at the head makes its permit before it knows that there is capacity,
// keeps its node in the queue, and counts all children: while there are too many it
// waits. While that node exists, the same argument holds. If another client deletes the
// node, or Curator carries the create over into a new session, it makes a permit
// without being the head. It then counts that one and all of ours, so it exceeds the
// size only if its create and its count fall between our L and T, which is one round
// trip. Only another listing after each T would show us that.
//
// A child counts as a permit if its name ends as a permit's does, whichever client made
// it. Others are ignored, so that an unrelated node does not take a permit for ever.
// Curator counts those as well, so it never admits more than we do.

// curatorTaker takes n permits: it waits to be the head of the queue, and then until
// there is capacity.
func (s *Semaphore) curatorTaker(n int) acquire.Taker {
	checked := n > 1 || !s.agreed.Load() // else only the head of the queue has to know the size
	return func(ctx context.Context, t *acquire.Try) (*lease.Lease, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel() // of the watches that were set for it
		a := &admission{s: s, n: n, try: t}
		t.Ask = a.findHolder
		if err := a.checkFree(ctx, checked); err != nil {
			return nil, err
		}
		var size *queue.Dependency
		if checked {
			size = &queue.Dependency{Watch: a.watchSize}
		}
		position, err := t.Await(ctx, s.queue, size)
		if err != nil {
			return nil, err
		}
		defer position.End()
		a.position = position
		made, err := a.admit(ctx)
		if err != nil {
			t.GiveUp(position)
			return nil, err
		}
		position.End()
		grant := hold.Grant{
			Path: made[0].Path, Token: lease.Token(made[0].Czxid), Permits: n,
			RevocationRequested: position.RevocationRequested(),
		}
		for _, also := range made[1:] {
			grant.Also = append(grant.Also, also.Path)
		}
		if err := t.Rely(&grant); err != nil {
			return nil, err
		}
		return t.Start(t.Work, grant), nil
	}
}

// An admission is one try to take n permits.
type admission struct {
	s        *Semaphore
	n        int
	try      *acquire.Try
	position *queue.Position // in the queue; nil until it is the head

	unconfirmed <-chan struct{} // that of the position, until a sync has followed
	full        bool            // there was no capacity
	unchanged   *snapshot       // the last one, if only the permits have changed since
	unwatch     func()          // ends the last watch on the size
}

// checkFree finds out, with as few requests as possible, that a newcomer has to wait,
// for a try that does not wait.
func (a *admission) checkFree(ctx context.Context, checked bool) error {
	if !a.try.AtOnce {
		return nil
	}
	return a.try.Recheck(ctx, a.s.recipe.Path, func() error { return a.readFree(ctx, checked) })
}

func (a *admission) readFree(ctx context.Context, checked bool) error {
	r, err := a.s.readSize(ctx, a.try.Client, a.n, false)
	if err != nil {
		return err
	}
	holders, err := a.s.holders.Names(ctx, a.try.Client)
	if err != nil {
		return err
	}
	if len(holders)+a.n > r.size {
		a.try.Seen.Record(a.s.permitsPath(), holders)
		return queue.ErrNotFree
	}
	q := *a.s.queue
	if checked {
		q.Rule = func(ctx context.Context, c *framework.Client) (queue.Policy, error) {
			_, err := a.s.readSize(ctx, c, a.n, false)
			return queue.Exclusive, err
		}
	}
	return a.try.CheckFree(ctx, &q)
}

// watchSize lets a request fail at once, while it waits in the queue, if it is for more
// permits than there are. Otherwise the size only matters to the head.
func (a *admission) watchSize(ctx context.Context) (w *framework.Watch, changed bool, err error) {
	r, err := a.s.readSize(ctx, a.try.Client, a.n, true)
	return r.watch, false, err
}

// findHolder finds out who is in the way: the holders, and then those ahead in the
// queue.
func (a *admission) findHolder(ctx context.Context) {
	holders, err := a.s.holders.Names(ctx, a.try.Client)
	if err != nil {
		return
	}
	ahead := max(a.try.Seen.Ahead, 0)
	if a.position != nil {
		ahead = 0
	}
	a.try.Seen.Record(a.s.permitsPath(), holders)
	a.try.Seen.RecordMore(ahead)
}
