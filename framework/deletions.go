package framework

import (
	"slices"
	"strings"
	"sync"

	"github.com/zkrecipes/zkrecipes/internal/kit/bridge"
)

// deletions tell recipes which nodes the session knows to be deleted: by the event of a
// watch, or by the answer to a delete; and which ones it is deleting because their
// slots are over.
type deletions struct {
	mu        sync.RWMutex
	listeners map[string][]*listening // by the parent, with its whole path
}

// A listening is one call of listen.
type listening struct{ bridge.DeletionListener }

// listen tells a listener of the children of a node, until stop.
func (d *deletions) listen(parent string, listener bridge.DeletionListener) (stop func()) {
	l := &listening{listener}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listeners == nil {
		d.listeners = map[string][]*listening{}
	}
	d.listeners[parent] = append(slices.Clip(d.listeners[parent]), l)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(d.listeners[parent]), func(other *listening) bool { return other == l })
		if d.listeners[parent] = left; len(left) == 0 {
			delete(d.listeners, parent)
		}
	}
}

// of says that the node with that whole path is deleted.
func (d *deletions) of(path string) {
	listeners, name := d.listenersTo(path)
	for _, l := range listeners {
		l.Deleted(name)
	}
}

// over says that the slot of the node with that whole path is over, and that its delete
// has its place on the connection for which broken is; nil if the server refuses it.
func (d *deletions) over(path string, broken <-chan struct{}) {
	listeners, name := d.listenersTo(path)
	for _, l := range listeners {
		l.Over(name, broken)
	}
}

// awaits says that the slot of a node is over, and reports whether that matters.
func (d *deletions) awaits(path string) (matters bool) {
	listeners, name := d.listenersTo(path)
	for _, l := range listeners {
		matters = l.Waits(name) || matters
	}
	return matters
}

// listenersTo returns those that want to know of a node, and its name.
func (d *deletions) listenersTo(path string) (listeners []*listening, name string) {
	slash := strings.LastIndexByte(path, '/')
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.listeners[path[:max(slash, 0)]], path[slash+1:]
}

// gone records that a node is deleted.
func (s *Session) gone(path string) {
	s.quota.gone(path)
	s.releases.deleted(path)
	s.deletions.of(path)
}
