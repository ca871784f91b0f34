package framework

import (
	"slices"
	"strings"
	"sync"
)

// deletions tell recipes which nodes the session knows to be deleted: by the event of a
// watch, or by the answer to a delete.
type deletions struct {
	mu        sync.RWMutex
	listeners map[string][]*deletionListener // by the parent, with its whole path
}

type deletionListener struct{ deleted func(name string) }

// listen calls deleted with the name of each child of a node that is deleted, until
// stop.
func (d *deletions) listen(parent string, deleted func(name string)) (stop func()) {
	l := &deletionListener{deleted}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listeners == nil {
		d.listeners = map[string][]*deletionListener{}
	}
	d.listeners[parent] = append(slices.Clip(d.listeners[parent]), l)
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		left := slices.DeleteFunc(slices.Clone(d.listeners[parent]), func(other *deletionListener) bool { return other == l })
		if d.listeners[parent] = left; len(left) == 0 {
			delete(d.listeners, parent)
		}
	}
}

// of says that the node with that whole path is deleted.
func (d *deletions) of(path string) {
	slash := strings.LastIndexByte(path, '/')
	d.mu.RLock()
	listeners := d.listeners[path[:max(slash, 0)]]
	d.mu.RUnlock()
	for _, l := range listeners {
		l.deleted(path[slash+1:])
	}
}

// gone records that a node is deleted.
func (s *Session) gone(path string) {
	s.quota.gone(path)
	s.deletions.of(path)
}
