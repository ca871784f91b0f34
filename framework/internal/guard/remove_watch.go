package guard

import "github.com/zkrecipes/zkrecipes/internal/jute"

// An IdleWatch is a watch that no caller waits for any more.
type IdleWatch struct {
	Path     string            // of the node
	Children bool              // it watches the children of the node
	Kept     func(always bool) // called if the server refuses; always: it cannot remove watches
}

// RemoveWatch has the server remove a watch, unless a removal is under way already.
// Events.Wake reports its end. next chooses the watch while nothing else can be sent
// before the request; it returns false if there is none.
func (g *Guard) RemoveWatch(next func() (IdleWatch, bool)) {
	c := g.Live()
	if c == nil || !c.removing.CompareAndSwap(false, true) {
		return
	}
	r := &removal{conn: c}
	if !c.place(r.record(next), OpRemoveWatches, r) {
		c.removing.Store(false)
	}
}

// By IdleWatch.Children: the kind of watch in the request.
var removedKind = map[bool]int32{true: 1, false: 2}

// A removal is the request to remove a watch.
type removal struct {
	conn  *Conn
	watch IdleWatch
}

// record returns a function that chooses the watch.
func (r *removal) record(next func() (IdleWatch, bool)) func() []byte {
	return func() []byte {
		var ok bool
		if r.watch, ok = next(); !ok {
			return nil
		}
		e := jute.NewEncoder(8 + len(r.watch.Path))
		e.String(r.watch.Path)
		e.Int32(removedKind[r.watch.Children])
		return e.Bytes()
	}
}

// Sent does nothing.
func (r *removal) Sent() {}

// Answered lets the next watch be removed.
func (r *removal) Answered(a Answer) {
	refused := a.Code != 0 && a.Code != codeNoWatcher // which has fired meanwhile
	if refused {
		r.watch.Kept(a.Code == codeUnimplemented)
	}
	r.conn.removing.Store(false)
	if !refused { // else do not try again at once
		r.conn.guard.events.Wake()
	}
}
