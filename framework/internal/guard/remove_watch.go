package guard

// An IdleWatch is one that nobody waits for any more.
type IdleWatch struct {
	Path     string            // of the node
	Children bool              // it is one on the children of the node
	Kept     func(always bool) // it is still there; always: this server removes none
}

// RemoveWatch has the server remove a watch, and the library forget it, unless that goes
// on already; Events.Wake tells when it is over. Which watch, next says while nothing
// else can be written to the connection, and false if there is none.
//
// The request has a number that the library does not use, and the library, which would
// set the watch again after a break, is told by an event of the guard's making in place
// of the answer.
func (g *Guard) RemoveWatch(next func() (IdleWatch, bool)) {
	if c := g.Live(); c != nil && c.removing.CompareAndSwap(false, true) {
		g.events.Start(func() { c.send(func() { c.removeWatch(next) }) }) // writes, so not here
	}
}

// removeWatch asks the server to remove a watch. The caller has the slot, so that nothing
// else is written until that is.
func (c *Conn) removeWatch(next func() (IdleWatch, bool)) {
	w, ok := next()
	if !ok {
		c.removing.Store(false)
		return
	}
	c.mu.Lock()
	over := c.gone.Given()
	if !over {
		c.taken = &w
	}
	c.mu.Unlock()
	if over {
		w.Kept(false)
		return
	}
	c.write(removeWatchRequest(w))
}

// onRemoved looks at the answer to what removeWatch has sent.
func (c *Conn) onRemoved(code int32) {
	c.mu.Lock()
	w := c.taken
	c.taken = nil
	c.mu.Unlock()
	if w == nil {
		return
	}
	c.removing.Store(false)
	if code == 0 || code == codeNoWatcher { // which has fired meanwhile
		c.frame = forgetEvent(*w) // in place of the answer
		c.guard.events.Wake()
		return
	}
	w.Kept(code == codeUnimplemented) // not again at once
}

// The numbers of the kinds in the request, by IdleWatch.Children, and of the events
// that make the library forget them: it has kinds of its own, which an event of a
// change of the data ends together.
var (
	removedKind   = map[bool]int32{true: 1, false: 2}
	forgottenKind = map[bool]int32{true: 4, false: 3}
)

// stateForgotten is what such an event says of the connection, and no server does.
const stateForgotten = -1000

func removeWatchRequest(w IdleWatch) []byte {
	return newMessage(xidRemoveWatch, opRemoveWatches).text(w.Path).numbers(removedKind[w.Children]).done()
}

func forgetEvent(w IdleWatch) []byte {
	m := newMessage(xidEvent, 0).numbers(0, 0) // no zxid, no error
	return m.numbers(forgottenKind[w.Children], stateForgotten).text(w.Path).done()
}
