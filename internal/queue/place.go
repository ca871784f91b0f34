package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A place is one node in line, in one session.
type place struct {
	wait    *wait
	queue   *Queue
	client  *framework.Client // pinned to session
	session *framework.Session

	path     string
	self     znode.Name
	id       framework.ProtectionID
	token    int64    // czxid
	listing  []string // children seen after the node was created; nil if not known
	ownWatch *framework.Watch
	ownLife  *lifetime       // of each ownWatch
	broken   <-chan struct{} // closed if the connection broke since ownWatch was asked for
	asked    bool            // to give way, when ownWatch was set
	settled  bool            // no other recipe has the path
	// Of a queue with a size: what it is, and the watch on it, nil if there is none.
	sizeIs    int
	sizeWatch *framework.Watch
	hearsay   <-chan struct{} // broken, if an event was what admitted
}

// join creates the node and lists the children behind it. On failure no node
// stays, or it is being removed.
func (p *place) join(ctx context.Context) error {
	for {
		err := p.create(ctx)
		if !errors.Is(err, framework.ErrNoNode) {
			return err
		}
		// The parent does not exist yet, or was reaped since it did.
		if err := p.client.CreateParents(ctx, p.queue.node(p.queue.cfg.Kind)); err != nil {
			return err
		}
	}
}

func (p *place) create(ctx context.Context) error {
	made, err := p.client.CreateProtected(ctx, p.queue.node(p.queue.cfg.Kind), p.queue.data(),
		framework.EphemeralSequential, framework.WithListing())
	if err != nil {
		return err
	}
	node := path.Base(made.Path)
	p.warnOfStrangers()
	p.path, p.token, p.listing = made.Path, made.Czxid, made.Children
	p.id, _ = framework.ProtectionOf(node)
	if err := p.wait.withoutListing(made.ListingErr); err != nil {
		p.leave()
		return err
	}
	var ok bool
	if p.self, ok = znode.Parse(node, p.queue.cfg.Kinds...); !ok || !p.self.Ordered() {
		p.leave()
		return lease.ErrSequenceExhausted
	}
	return nil
}

// await returns nil when the place is admitted. Then the own node was there at
// that moment, in the present session.
func (p *place) await(ctx context.Context) error {
	for {
		ahead, err := p.lineUp(ctx)
		if err != nil {
			return err
		}
		size, err := p.size(ctx) // not older than the listing: a Resize may have come before it
		if err != nil {
			return err
		}
		p.wait.note(p.queue.cfg.Path, ahead)
		wait := p.queue.cfg.Policy(p.self, ahead, size)
		if len(wait) == 0 {
			return nil
		}
		if p.wait.atOnce {
			return ErrNotFree
		}
		gone, err := p.awaitEnd(ctx, wait, size)
		if err != nil {
			return err
		}
		if gone != nil && p.queue.admittedWithout(*gone, p.self, ahead, size) {
			p.hearsay = p.broken
			return nil
		}
	}
}

// lineUp returns the contenders ahead. It uses the listing that came with the
// create once, and asks for another after that.
func (p *place) lineUp(ctx context.Context) ([]znode.Name, error) {
	children := p.listing
	p.listing = nil
	fresh := children == nil
	for {
		if fresh {
			var err error
			children, _, err = p.client.Children(ctx, p.queue.cfg.Path)
			if errors.Is(err, framework.ErrNoNode) {
				return nil, ErrEvicted // a parent goes after its children only
			}
			if err != nil {
				return nil, err
			}
		}
		ahead, present := p.split(children)
		if present {
			return ahead, p.settleIn(ctx, children)
		}
		if fresh {
			return nil, ErrEvicted
		}
		fresh = true // the listing may have overtaken the create
	}
}

// split finds the own node in a listing and returns the contenders ahead of it.
// A second node under the own id can only come from a create that was given up
// for lost and carried out after all; it is removed.
func (p *place) split(children []string) (ahead []znode.Name, present bool) {
	for _, name := range p.queue.contenders(children) {
		switch {
		case name.Node == p.self.Node:
			present = true
		case p.id != "" && p.id.Marks(name.Node):
			p.client.DeleteInBackground(p.queue.node(name.Node))
		case name.Before(p.self):
			ahead = append(ahead, name)
		}
	}
	return ahead, present
}

// awaitEnd waits until one of the other contenders may have gone, or the size may
// have changed. gone is one that was seen to go while the own node stood.
func (p *place) awaitEnd(ctx context.Context, others []znode.Name, size int) (gone *znode.Name, err error) {
	found, stop := p.lookAgain(ctx, others, size)
	defer stop()
	for again := true; again && err == nil; {
		gone, again, err = p.awaitEvent(ctx, others, size, found)
	}
	return gone, err
}

// awaitEvent waits for the first thing that happens. If it is only that somebody's
// data was set, as who asks a holder to give way does, again is true: the order of
// the line is what it was.
func (p *place) awaitEvent(ctx context.Context, others []znode.Name, size int, found <-chan struct{}) (gone *znode.Name, again bool, err error) {
	round, cancel := context.WithCancel(ctx)
	defer cancel()
	own, sized := p.watchOwn(ctx), p.watchSize(ctx)
	watches, err := p.watchOthers(round, others)
	ownErr, sizeErr := <-own, <-sized
	if err := cmp.Or(ownErr, sizeErr, err); err != nil {
		return nil, false, err
	}
	if watches == nil || p.resized(size) {
		return nil, false, nil
	}
	which, ev, ok := firstEvent(ctx, found, append(watches, p.sizeWatch, p.ownWatch))
	switch {
	case which < 0:
		p.sizeWatch = nil // it may be that of which nobody was told
		return nil, false, nil
	case !ok:
		return nil, false, context.Cause(ctx)
	case ev.Type == framework.EventSessionEnded:
		return nil, false, ev.Err
	case which == len(others): // the size
		p.sizeWatch = nil
		return nil, false, nil
	case which > len(others): // the own node
		p.ownWatch = nil
		if ev.Type == framework.EventDeleted {
			return nil, false, ErrEvicted
		}
		return nil, ev.Type == framework.EventDataChanged, nil // watch again
	}
	if ev.Type == framework.EventDeleted && p.ownIntact() && p.sizeStands() {
		return &others[which], false, nil
	}
	return nil, ev.Type == framework.EventDataChanged, nil
}

// watchOthers reads other contenders' nodes, with a watch each, all at once. It
// returns nil if one of them has gone.
func (p *place) watchOthers(ctx context.Context, others []znode.Name) ([]*framework.Watch, error) {
	watches := make([]*framework.Watch, len(others), len(others)+2)
	read := func(i int) error {
		data, _, w, err := p.client.GetWatch(ctx, p.queue.node(others[i].Node))
		if err == nil && others[i].Node == p.wait.head {
			p.wait.holder = p.queue.parseHolder(data)
		}
		watches[i] = w
		if errors.Is(err, framework.ErrNoAuth) { // nobody would tell when it has gone
			err = fmt.Errorf("the contender ahead cannot be waited for, its acl must let others read: %w", err)
		}
		return err
	}
	results := make(chan error, len(others))
	for i := 1; i < len(others); i++ {
		go func() { results <- read(i) }()
	}
	results <- read(0)
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
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if missing {
		return nil, nil
	}
	return watches, nil
}

// watchOwn sets a watch on the own node, if there is none, beside whatever the
// caller does meanwhile.
func (p *place) watchOwn(ctx context.Context) <-chan error {
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
		case errors.Is(err, framework.ErrNoNode):
			done <- ErrEvicted
		case err != nil:
			done <- err
		case stat.EphemeralOwner != p.session.ID():
			done <- ErrEvicted
		default:
			p.ownWatch, p.token, p.asked = w, stat.Czxid, znode.Revoked(data)
			done <- nil
		}
	}()
	return done
}

// handOver gives the watch on the own node, if there is one, to whoever looks
// after the place from now on, who ends it with the function. Two deletions in one
// transaction are told one after the other: the place may have been granted on the
// first, and the second, which is its own, must be heard then.
func (p *place) handOver() (*framework.Watch, context.CancelFunc) {
	if p.ownWatch == nil || !p.ownLife.detach() {
		return nil, nil
	}
	return p.ownWatch, p.ownLife.cancel
}

// forget ends what watches the own node, when the place is given up or has been
// exchanged for another: the wait may go on for long.
func (p *place) forget() {
	if p.ownLife != nil && p.ownLife.detach() {
		p.ownLife.cancel()
	}
}

// ownIntact reports whether the watch on the own node has not fired, over one and
// the same connection. There, events come in the order of the changes, so if it
// has not by the time the deletion of another node is known, the own node was
// there then. After a break a server tells what was missed in any order.
func (p *place) ownIntact() bool {
	select {
	case <-p.ownWatch.Events():
		p.ownWatch = nil
		return false
	case <-p.broken:
		p.ownWatch = nil // and ask for it again, with the next connection
		return false
	default:
		return true
	}
}

// leavePatience is how long a caller that gives up waits for the confirmation
// that its node is gone. The background goes on without it.
const leavePatience = 50 * time.Millisecond

// leave removes the node. It does not use the caller's context, which may be
// what ended the wait.
func (p *place) leave() { leave(p.client, p.session, p.path) }

func leave(client *framework.Client, session *framework.Session, paths ...string) {
	if session.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	select {
	case <-session.Suspended():
		cancel()
	default:
	}
	for _, path := range paths[1:] {
		client.DeleteInBackground(path)
	}
	_ = client.DeleteGuaranteed(ctx, paths[0]) // what is uncertain is pursued
}
