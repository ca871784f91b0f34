package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// A node is one node of a queue that a session watches. There is one watch for all its
// positions: for those that wait for the node, and for the one whose node it is.
type node struct {
	view *view
	name znode.Name

	// Guarded by view.mu.
	owner   *Position   // whose node it is, while that waits
	waiters []*Position // woken when it is deleted
	watch   watchState
	stop    func() // ends the watch
	dead    bool   // it is deleted
	listed  uint64 // the last listing that has shown it
	data    []byte // by the last read, with stat
	stat    framework.Stat
	missed  bool // an event came that its hold has not received

	heir atomic.Pointer[func(framework.Event)] // the hold that has taken over the watch of its node
}

type watchState int

const (
	unwatched watchState = iota
	queued               // it is to be read
	setting              // the read that sets the watch is under way
	fired                // the event came before the answer to that read
	watched              // it is set and has not fired
)

// node returns the entry of a name, which it makes if there is none. The caller has the
// lock.
func (v *view) node(name znode.Name) *node {
	n := v.nodes[name.Node]
	if n == nil {
		if v.nodes == nil {
			v.nodes = map[string]*node{}
		}
		n = &node{view: v, name: name}
		v.nodes[name.Node] = n
	}
	return n
}

// known reports whether a node is watched, or about to be. The caller has the lock.
func (v *view) known(name znode.Name) bool {
	n := v.nodes[name.Node]
	return n != nil && n.watch != unwatched
}

// read sets the watch on a node, unless there is one. It is urgent if a position may be
// admitted by it. The caller has the lock.
func (n *node) read(urgent bool) {
	v := n.view
	switch {
	case n.dead || n.watch > queued || n.watch == queued && !urgent:
		return
	case urgent:
		v.urgent = append(v.urgent, n)
	default:
		v.toRead = append(v.toRead, n)
	}
	n.watch = queued
}

// maxReads is how many nodes are read at once. So a crowd that joins does not keep
// other requests of the session waiting.
const maxReads = 32

// nextRead returns the next node to read, nil if there is none or enough are being
// read. The caller has the lock.
func (v *view) nextRead() *node {
	if v.reading == maxReads {
		return nil
	}
	for _, from := range []*[]*node{&v.urgent, &v.toRead} {
		for len(*from) > 0 {
			n := (*from)[0]
			if *from = (*from)[1:]; n.watch == queued && !n.dead {
				n.watch = setting
				v.reading++
				return n
			}
		}
		*from = nil
	}
	return nil
}

// send reads the node, or has a goroutine read it.
func (n *node) send() {
	if !kit.Of(n.view.client).SendGet(n.path(), n.onEvent, func(data []byte, stat framework.Stat, stop func(), err error) {
		if err != nil && !errors.Is(err, framework.ErrNoNode) {
			n.view.run(n.readAgain)
			return
		}
		n.onRead(data, stat, stop, err)
	}) {
		n.view.run(n.readAgain)
	}
}

// readAgain reads the node where it takes longer: after a failure, or when there is a
// connection.
func (n *node) readAgain(ctx context.Context) {
	n.onRead(kit.Of(n.view.client).GetNotify(ctx, n.path(), n.onEvent))
}

func (n *node) path() string { return n.view.path + "/" + n.name.Node }

// onRead records the answer.
func (n *node) onRead(data []byte, stat framework.Stat, stop func(), err error) {
	v := n.view
	v.mu.Lock()
	v.reading--
	unused := n.record(data, stat, stop, err)
	v.unlock()
	if unused != nil {
		unused()
	}
}

// record is onRead for a caller that has the lock. It returns the function that ends
// the watch if nothing needs it.
func (n *node) record(data []byte, stat framework.Stat, stop func(), err error) (unused func()) {
	v := n.view
	switch {
	case n.dead:
		return stop
	case errors.Is(err, framework.ErrNoNode):
		n.watch = unwatched
		v.learn(n.name.Node)
		return nil
	case err != nil:
		n.fail(err)
		return nil
	case n.watch == setting:
		n.watch, n.stop = watched, stop
	default:
		n.watch, unused = unwatched, stop
	}
	n.data, n.stat = data, stat
	if p := n.owner; p != nil {
		p.onOwnData(data, stat)
	}
	n.renew()
	v.dropUnused(n)
	return unused
}

// fail gives the positions the error of the read.
func (n *node) fail(err error) {
	n.watch = unwatched
	if p := n.owner; p != nil {
		p.failed = err
		p.notify()
	}
	if errors.Is(err, framework.ErrNoAuth) { // its deletion would send no event
		err = fmt.Errorf("the contender ahead cannot be waited for, its acl must let others read: %w", err)
	}
	for _, p := range n.waiters {
		p.failed = err
		p.notify()
	}
	n.view.dropUnused(n)
}

// onEvent gets the event of the watch. A deletion reaches the view in another way.
func (n *node) onEvent(ev framework.Event) {
	if ev.Type != framework.EventSessionEnded { // may come under any lock; the positions wait for that themselves
		n.onChange()
	}
	if heir := n.heir.Load(); heir != nil { // after that: see Take
		(*heir)(ev)
	}
}

// onChange records that the watch has fired.
func (n *node) onChange() {
	n.view.mu.Lock()
	defer n.view.unlock()
	n.missed = true
	if n.watch == setting {
		n.watch = fired // the answer comes next
		return
	}
	n.watch, n.stop = unwatched, nil
	n.renew()
}

// renew sets a watch that has fired again, if a position needs it: only data has
// changed, or the watch could not be kept. The caller has the lock.
func (n *node) renew() {
	if n.owner != nil || len(n.waiters) > 0 {
		n.read(true)
	}
}

// forget removes the entry of a node that is deleted, and wakes all that it concerns.
// The caller has the lock.
func (v *view) forget(n *node) {
	n.dead = true
	delete(v.nodes, n.name.Node)
	if p := n.owner; p != nil {
		p.evicted = true
		p.notify()
	}
	for _, p := range n.waiters {
		p.notify()
	}
	n.owner, n.waiters = nil, nil
}

// dropUnused removes the entry of a node that nothing needs. While the view is used and
// the node exists, the next position to wait may need the watch. The caller has the
// lock.
func (v *view) dropUnused(n *node) {
	if _, listed := v.find(n.name); n.watch == watched && listed && !v.closed && !n.dead {
		return
	}
	if n.owner != nil || len(n.waiters) > 0 || n.watch == setting || n.watch == fired || n.heir.Load() != nil {
		return
	}
	n.dead = true
	if v.nodes[n.name.Node] == n {
		delete(v.nodes, n.name.Node)
	}
	if n.stop != nil {
		n.stop()
		n.stop = nil
	}
}

// leave ends the wait of a position for the node. The caller has the lock.
func (n *node) leave(p *Position) {
	if i := slices.Index(n.waiters, p); i >= 0 {
		n.waiters = slices.Delete(n.waiters, i, i+1)
	}
	if !n.dead {
		n.view.dropUnused(n)
	}
}

// inherit delivers further events of the watch to a function as well.
func (n *node) inherit(notify func(framework.Event)) { n.heir.Store(&notify) }

// Take makes a function the one that gets further events. If there was one before, or
// may have been, it returns one: an event looks for the function after it was recorded,
// and Take asks for a record after it has set the function.
func (n *node) Take(notify func(framework.Event)) (before framework.Event, fired bool) {
	n.inherit(notify)
	n.view.mu.Lock()
	defer n.view.unlock()
	switch {
	case n.dead:
		return framework.Event{Type: framework.EventDeleted}, true
	case n.watch != watched || n.missed:
		return framework.Event{Type: framework.EventRecheck}, true
	}
	return framework.Event{}, false
}

// Stop says that the hold needs the watch no more.
func (n *node) Stop() {
	n.heir.Store(nil)
	n.view.mu.Lock()
	defer n.view.unlock()
	n.view.dropUnused(n)
}
