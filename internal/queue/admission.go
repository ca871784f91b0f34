package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// Listed waits for a listing that shows the own node, and returns the children that do
// not contend. It returns ErrEvicted if the own node was deleted.
func (p *Position) Listed(ctx context.Context) (others []string, err error) {
	for {
		listed, others, err := p.isListed()
		if listed || err != nil {
			return others, err
		}
		if _, err := p.await(ctx, &Dependency{}); err != nil {
			return nil, err
		}
	}
}

func (p *Position) isListed() (listed bool, others []string, err error) {
	p.view.mu.Lock()
	defer p.view.unlock()
	at, err := p.find()
	return at >= 0, p.view.others, err
}

// AwaitAdmitted returns nil when the position is admitted: then the own node existed at
// that moment, in the present session. also is what the rule depends on besides the
// contenders ahead; nil for nothing. With atOnce it does not wait for other contenders:
// it returns ErrNotFree. It returns ErrEvicted if the own node was deleted, and
// ErrSteppedBack if that requests that the position leaves, and others are ahead.
func (p *Position) AwaitAdmitted(ctx context.Context, also *Dependency, atOnce bool) error {
	if also == nil {
		also = &Dependency{}
	}
	p.dependOn(also)
	for {
		before := p.view.now()
		policy, err := p.queue.Rule(ctx, p.client)
		if err != nil {
			return err
		}
		admitted, err := p.decide(policy, atOnce)
		switch {
		case err != nil:
			return err
		case admitted && also.decides(p.view.now() == before):
			return nil
		}
		if changed, err := also.begin(ctx); err != nil {
			return err
		} else if admitted || changed {
			continue
		}
		if again, err := p.await(ctx, also); err != nil {
			return err
		} else if again {
			also.watch = nil // its event may be the one that was missed
		}
	}
}

// await waits until something has changed. again says that what the position depends on
// is to be looked at again.
func (p *Position) await(ctx context.Context, also *Dependency) (again bool, err error) {
	select {
	case <-p.wake:
	case <-also.events():
		also.watch = nil
	case <-ctx.Done():
		return false, p.interrupted(context.Cause(ctx))
	case <-p.session.Done():
		return false, p.session.Err()
	}
	if p.isKeptOut() {
		p.seen.Notify()
	}
	if !p.takeLookDue() {
		return false, nil
	}
	return also.Changed(ctx), nil
}

// isKeptOut reports whether others keep the position out, as far as it knows: then what
// wakes it may be the change that it waits for. It is not an answer that it still needs
// when that has come. A position of the next session waits for the same change.
func (p *Position) isKeptOut() bool {
	m := p.seen.Measured
	return m != nil && !p.admissible && (len(p.waits) > 0 || m.Waited)
}

// dependOn has the position woken for slow looks.
func (p *Position) dependOn(also *Dependency) {
	if also.Changed == nil {
		return
	}
	v := p.view
	v.mu.Lock()
	defer v.unlock()
	if v.dependents == nil {
		v.dependents = map[*Position]struct{}{}
	}
	v.dependents[p] = struct{}{}
}

// takeLookDue reports whether a slow look at what the position depends on is due.
func (p *Position) takeLookDue() bool {
	p.view.mu.Lock()
	defer p.view.unlock()
	due := p.lookDue
	p.lookDue = false
	return due
}

// find returns the index of the own node in the listing. It is -1 if a listing has to
// come first, which wakes the position. The caller has the lock of the view.
func (p *Position) find() (at int, err error) {
	v := p.view
	at, found := v.find(p.self)
	switch {
	case p.evicted:
		return -1, ErrEvicted
	case p.failed != nil:
		err, p.failed = p.failed, nil
		return -1, err
	case !v.valid():
		v.want(p, v.voided)
		return -1, nil
	case found && !v.isGone(p.self):
		return at, nil
	case v.listed > p.answered && v.shows(p.self):
		p.missing = true
		return -1, ErrEvicted
	}
	v.want(p, max(p.sent, v.listed)) // there is none, or it may have overtaken the create, or shows too few
	return -1, nil
}

// decide decides by what is known. If the position is not admitted, and no error is
// returned, it is woken when that may have changed.
func (p *Position) decide(policy Policy, atOnce bool) (admitted bool, err error) {
	v := p.view
	v.mu.Lock()
	defer v.unlock()
	at, err := p.find()
	if at < 0 {
		return false, err
	}
	p.record(at)
	wait := policy(p.self, v.ahead(at))
	isNext := len(wait) > 0 && p.isNext(at, policy)
	p.admissible = len(wait) == 0 || isNext
	switch {
	case len(wait) == 0:
		p.admittedBy(policy, v.ahead(at))
		return p.admit(), nil
	case atOnce:
		return false, ErrNotFree
	case isNext && p.takeOver():
		p.admittedBy(policy, v.aheadNotOver(at))
		return true, nil
	}
	v.slowly()
	if p.rests(wait) {
		return false, nil
	}
	p.watchOwn(false)
	if p.stepsBack {
		return false, ErrSteppedBack
	}
	p.waitFor(at, wait, policy)
	return false, nil
}

// admit reports whether a position that has nothing to wait for is admitted: see view.
// The caller has the lock of the view.
func (p *Position) admit() bool {
	v := p.view
	if p.recheckDue() {
		v.want(p, v.listed)
		return false
	}
	if !v.reduced && !p.stoodBehind && p.basis != v.listed { // nothing has changed since the listing, nor the rule
		p.unconfirmed = nil
		return true
	}
	p.watchOwn(true)
	p.unconfirmed = v.broken
	return p.node.watch == watched
}

// recheckDue reports whether another listing has to follow a deletion. The caller has
// the lock of the view.
func (p *Position) recheckDue() bool {
	return slices.ContainsFunc(p.view.rechecks, func(gone znode.Name) bool { return gone.Before(p.self) && p.mustRecheck(gone) })
}

// mustRecheck reports whether another listing has to follow the deletion of a node.
func (p *Position) mustRecheck(gone znode.Name) bool {
	return p.queue.Recheck != nil && p.queue.Recheck(p.self, gone)
}

// watchOwn has the own node watched. The caller has the lock of the view.
func (p *Position) watchOwn(urgent bool) {
	if p.node == nil {
		p.node = p.view.node(p.self)
		p.node.owner = p
		if p.node.watch == watched { // for another position
			p.onOwnData(p.node.data, p.node.stat)
		}
	}
	p.node.read(urgent)
}

// onOwnData records what a read of the own node has shown. The caller has the lock of
// the view.
func (p *Position) onOwnData(data []byte, stat framework.Stat) {
	if stat.EphemeralOwner != p.session.ID() {
		p.evicted = true
		p.notify()
		return
	}
	p.read, p.revocationRequested = stat.Czxid, znode.RevocationRequested(data)
	if p.stepsBack = p.self.Kind == znode.Latch && znode.StepBackRequested(data); p.stepsBack {
		p.notify()
	}
	if p.admissible {
		p.notify()
	}
}

// record records the contenders ahead, for the error. The caller has the lock of the
// view.
func (p *Position) record(at int) {
	v := p.view
	head := ""
	if at > 0 {
		head = v.names[0].Node
	}
	ahead := v.count(at)
	v.crowd.saw(p, ahead)
	p.seen.record(p.queue.Path, ahead, head)
}

// interrupted returns the error of a wait that was interrupted. It records the data of
// the head, if they were read.
func (p *Position) interrupted(cause error) error {
	v := p.view
	v.mu.Lock()
	defer v.unlock()
	if n := v.nodes[p.seen.Head]; n != nil && n.data != nil {
		p.seen.OnData(n.data)
	}
	if _, wants := v.wanting[p]; wants && v.failure != nil {
		return fmt.Errorf("%w; before that: %w", cause, v.failure)
	}
	return cause
}
