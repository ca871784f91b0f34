package framework

import (
	"reflect"
	"unsafe"
)

// TakeTurns makes further requests in a session wait until it ends.
func TakeTurns(s *Session) {
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
}

// KeptWatches tells how many watches the session of a client and the library remember.
func KeptWatches(c *Client) (ours, library int) {
	s := c.Session()
	s.watch.mu.Lock()
	ours = len(s.watch.entries)
	s.watch.mu.Unlock()
	conn := reflect.ValueOf(s.conn).Elem()
	lock := reflect.NewAt(conn.FieldByName("watchersLock").Type(), unsafe.Pointer(conn.FieldByName("watchersLock").UnsafeAddr()))
	lock.MethodByName("Lock").Call(nil)
	defer lock.MethodByName("Unlock").Call(nil)
	return ours, conn.FieldByName("watchers").Len()
}

// KeepNoIdleWatches makes a client's session remove watches as soon as they have no
// waiter.
func KeepNoIdleWatches(c *Client) {
	t := &c.Session().watch
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = 0
}

// IdleLimit is how many idle watches are kept in a session.
const IdleLimit = idleLimit

// HoldWrites keeps a client from writing anything until release is called.
func HoldWrites(c *Client) (release func()) {
	field := reflect.ValueOf(c.Session().guard.Live()).Elem().FieldByName("slot")
	slot := *(*chan struct{})(unsafe.Pointer(field.UnsafeAddr()))
	slot <- struct{}{}
	return func() { <-slot }
}

// ParentsLimit is how many parents a client remembers at least.
const ParentsLimit = parentsLimit

// RememberedParents is how many parents a client remembers.
func RememberedParents(c *Client) int {
	p := &c.core.parents
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.recent) + len(p.older)
}
