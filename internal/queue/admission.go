package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// AwaitAdmitted returns nil when the position is admitted: then the own node existed at
// that moment, in the present session. ahead are the contenders of the first listing.
// also is what the rule depends on besides them; nil for nothing. With atOnce it does
// not wait: it returns ErrNotFree. It returns ErrEvicted if the own node was deleted.
func (p *Position) AwaitAdmitted(ctx context.Context, ahead []znode.Name, also *Dependency, atOnce bool) error {
	for {
		policy, err := p.queue.Rule(ctx, p.client) // it is not older than the listing
		if err != nil {
			return err
		}
		p.seen.Record(p.queue.Path, ahead)
		others := policy(p.self, ahead)
		if len(others) == 0 {
			return nil
		}
		if atOnce {
			return ErrNotFree
		}
		gone, err := p.AwaitChange(ctx, others, also)
		if err != nil {
			return err
		}
		if gone != nil && p.queue.admitsWithout(*gone, p.self, ahead, policy) {
			p.unconfirmed = p.broken
			return nil
		}
		if ahead, _, err = p.Ahead(ctx, nil); err != nil {
			return err
		}
	}
}

// AwaitChange waits until one of the other contenders may have been deleted, or also,
// nil for nothing, may have changed. gone is a contender that was deleted while the own
// node existed and no change of also was known.
func (p *Position) AwaitChange(ctx context.Context, others []znode.Name, also *Dependency) (gone *znode.Name, err error) {
	if also == nil {
		also = &Dependency{}
	}
	found, stop := p.lookAgain(ctx, others, also)
	defer stop()
	for again := true; again && err == nil; {
		gone, again, err = p.awaitEvent(ctx, others, also, found)
	}
	return gone, err
}

// awaitEvent waits for the first event. If only the data of a node was set, as by a
// request for revocation, again is true: the order of the queue has not changed.
func (p *Position) awaitEvent(ctx context.Context, others []znode.Name, also *Dependency, found <-chan struct{}) (gone *znode.Name, again bool, err error) {
	round, cancel := context.WithCancel(ctx)
	defer cancel()
	own, further := p.watchOwn(ctx), also.begin(ctx)
	watches, err := p.watchOthers(round, others)
	ownErr, changed := <-own, <-further
	if err := cmp.Or(ownErr, changed.err, err); err != nil {
		return nil, false, err
	}
	if watches == nil || changed.yes {
		p.seen.Notify()
		return nil, false, nil
	}
	which, ev, ok := firstEvent(ctx, found, append(watches, also.watch, p.ownWatch))
	p.seen.Notify()
	switch {
	case which < 0:
		also.watch = nil // its event may be the one that was missed
		return nil, false, nil
	case !ok:
		return nil, false, context.Cause(ctx)
	case ev.Type == framework.EventSessionEnded:
		return nil, false, ev.Err
	case which == len(others):
		also.watch = nil
		return nil, false, nil
	case which > len(others): // the own node
		p.ownWatch = nil
		if ev.Type == framework.EventDeleted {
			return nil, false, ErrEvicted
		}
		return nil, ev.Type == framework.EventDataChanged, nil // watch again
	}
	if ev.Type == framework.EventDeleted && p.ownIntact() && also.stands() {
		return &others[which], false, nil
	}
	return nil, ev.Type == framework.EventDataChanged, nil
}

// watchOthers reads other contenders' nodes, with a watch each, all at once. It returns
// nil if one of them was deleted.
func (p *Position) watchOthers(ctx context.Context, others []znode.Name) ([]*framework.Watch, error) {
	watches := make([]*framework.Watch, len(others), len(others)+2)
	read := func(i int) error {
		data, _, w, err := p.client.GetWatch(ctx, p.queue.Node(others[i].Node))
		if err == nil && others[i].Node == p.seen.HeadNode() {
			p.seen.OnData(data)
		}
		watches[i] = w
		if errors.Is(err, framework.ErrNoAuth) { // its deletion would send no event
			err = fmt.Errorf("the contender ahead cannot be waited for, its acl must let others read: %w", err)
		}
		return err
	}
	results := make(chan error, len(others))
	for i := 1; i < len(others); i++ {
		go func() { results <- read(i) }()
	}
	if len(others) > 0 {
		results <- read(0)
	}
	var errs []error
	missing := false
	for range others {
		switch err := <-results; {
		case errors.Is(err, framework.ErrNoNode):
			missing = true
		case err != nil:
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil || missing {
		return nil, err
	}
	return watches, nil
}

// watchOwn sets a watch on the own node, if there is none, in another goroutine.
func (p *Position) watchOwn(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	if p.ownWatch != nil {
		done <- nil
		return done
	}
	p.broken = p.session.Suspended()
	if p.ownLife == nil {
		p.ownLife = within(ctx)
	}
	go func() {
		data, stat, w, err := p.client.GetWatch(p.ownLife.ctx, p.path)
		switch {
		case errors.Is(err, framework.ErrNoNode), err == nil && stat.EphemeralOwner != p.session.ID():
			err = ErrEvicted
		case err == nil:
			p.ownWatch, p.token, p.revocationRequested = w, stat.Czxid, znode.RevocationRequested(data)
		}
		done <- err
	}()
	return done
}

// ownIntact reports whether the watch on the own node has not fired, over one and the
// same connection. There, events arrive in the order of the changes: if it has not
// fired when the deletion of another node is known, the own node existed then. After a
// reconnect, missed events arrive in no defined order.
func (p *Position) ownIntact() bool {
	select {
	case <-p.ownWatch.Events():
		p.ownWatch = nil
		return false
	case <-p.broken:
		p.ownWatch = nil // set it again, over the next connection
		return false
	default:
		return true
	}
}
