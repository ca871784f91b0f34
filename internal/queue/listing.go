package queue

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// want has the position woken by a listing that is sent after a moment. The caller has
// the lock.
func (v *view) want(p *Position, after uint64) {
	if v.wanting == nil {
		v.wanting = map[*Position]uint64{}
	}
	v.wanting[p] = after
	v.list()
}

// list has a listing sent, unless one is under way: there is one at a time. The caller
// has the lock.
func (v *view) list() {
	if !v.listing && !v.closed {
		v.listing, v.listDue = true, true
	}
}

// sendListing sends it, or has a goroutine list.
func (v *view) sendListing() {
	broken := v.session.Suspended()
	v.begin()
	if v.isBroken() || !kit.Of(v.client).SendChildren(v.path, func(children []string, err error) {
		if errors.Is(err, framework.ErrNoNode) {
			err = nil
		}
		v.onListed(children, broken, err)
	}) {
		v.run(v.listAgain)
	}
}

// listAgain lists where it takes longer: behind a sync, after a failure, or when there
// is a connection.
func (v *view) listAgain(ctx context.Context) {
	var err error
	if v.isBroken() {
		err = v.lister.Sync(ctx, v.path)
	}
	broken := v.session.Suspended()
	v.begin()
	var children []string
	if err == nil {
		children, _, err = znode.Children(ctx, v.lister, v.path)
	}
	v.onListed(children, broken, err)
}

// isBroken reports whether the connection of the last listing has broken.
func (v *view) isBroken() bool {
	v.mu.Lock()
	defer v.unlock()
	return v.listed > 0 && closed(v.broken)
}

// begin records that a listing is sent now: what is learned from here on is to be taken
// out of it. The connection was taken before that.
func (v *view) begin() {
	v.mu.Lock()
	defer v.unlock()
	v.sent, v.facts = v.tick(), nil
}

// onListed records the answer to a listing. broken was taken before that was sent. If
// another one is needed, it comes next.
func (v *view) onListed(children []string, broken <-chan struct{}, err error) {
	names, others := znode.Split(children, v.kinds...)
	names, duplicates := v.withoutDuplicates(names)
	for _, name := range duplicates {
		kit.Of(v.client).DeleteInBackground(v.path + "/" + name.Node)
	}
	v.mu.Lock()
	defer v.unlock()
	switch {
	case v.closed || closed(v.session.Done()):
	case err != nil:
		v.fail(err)
	case closed(broken):
		v.listed, v.broken = v.sent, broken
		v.dropJoining()
	default:
		v.accept(names, others, broken)
	}
	v.listing = !v.closed && !closed(v.session.Done()) && len(v.wanting) > 0
	switch {
	case v.listing && err != nil:
		v.run(v.listAgain)
	case v.listing:
		v.listDue = true
	}
}

// fail has the listing tried again for those that wait for it, once: the first one is
// sent behind a create, which has not failed. The caller has the lock.
func (v *view) fail(err error) {
	v.failure = err
	tooLarge := errors.Is(err, framework.ErrReplyTooLarge) // the next one would be, too
	if !tooLarge {
		v.dropJoining()
	}
	for p := range v.wanting {
		if p.unlisted || tooLarge {
			delete(v.wanting, p)
			p.failed = err
			p.notify()
		}
		p.unlisted = true
	}
}

// dropJoining drops the positions whose create has not been answered. It was on the
// connection that the listing failed on, and is sent again with a listing behind it, or
// found; then the position asks for one. The caller has the lock.
func (v *view) dropJoining() {
	for p := range v.wanting {
		if p.answered == 0 {
			delete(v.wanting, p)
		}
	}
}

// onFailure keeps the error of an attempt that is repeated.
func (v *view) onFailure(err error) {
	v.mu.Lock()
	defer v.unlock()
	v.failure = err
}

// accept replaces the listing. The caller has the lock.
func (v *view) accept(names []znode.Name, others []string, broken <-chan struct{}) {
	v.tick()
	v.failure = nil
	v.listed, v.broken, v.gone = v.sent, broken, nil
	v.names, v.others, v.reduced, v.rechecks = names, others, false, nil
	for _, d := range v.facts {
		v.remove(d)
	}
	maps.DeleteFunc(v.over, func(_ string, slot slotOver) bool { // its deletion may have been known before
		_, listed := v.find(slot.name)
		return !listed
	})
	for _, name := range v.names {
		if n := v.nodes[name.Node]; n != nil {
			n.listed = v.listed
		}
	}
	for _, n := range v.nodes {
		if n.listed != v.listed || v.isGone(n.name) {
			v.forget(n)
			v.dropUnused(n) // its event may never come
			if heir := n.heir.Load(); heir != nil {
				(*heir)(framework.Event{Type: framework.EventDeleted})
			}
		}
	}
	v.crowd.locate(v.names)
	v.trim()
	for p, after := range v.wanting {
		if v.listed > after {
			delete(v.wanting, p)
			p.unlisted = false
			p.notify()
		}
	}
}

// trim drops what the listing shows behind all positions that may be admitted soon, and
// those that want it. The caller has the lock.
func (v *view) trim() {
	v.size, v.end = len(v.names), znode.Name{}
	end, some := v.crowd.last()
	if !some {
		return
	}
	for p := range v.wanting {
		if p.answered > 0 && end.Before(p.self) {
			end = p.self
		}
	}
	if at, found := v.find(end); found {
		v.names, v.end = slices.Clone(v.names[:at+1]), end
	}
}

// shows reports whether the listing would show a contender if there was one of that
// name when it was answered.
func (v *view) shows(name znode.Name) bool { return v.end.Node == "" || !v.end.Before(name) }

// withoutDuplicates takes out of a listing the nodes that have the id of a position of
// this session, but are not its node. They can only come from creates that were taken
// for dropped and were carried out after all, and have to be deleted.
func (v *view) withoutDuplicates(names []znode.Name) (kept, duplicates []znode.Name) {
	v.mu.Lock()
	defer v.unlock()
	kept = names[:0]
	for _, name := range names {
		if p := v.own[protection.Cut(name.Node)]; p != nil && p.self.Node != name.Node {
			duplicates = append(duplicates, name)
		} else {
			kept = append(kept, name)
		}
	}
	return kept, duplicates
}
