package guard

// An IdleWatch is a watch that no caller waits for any more.
type IdleWatch struct {
	Path     string            // of the node
	Children bool              // it watches the children of the node
	Kept     func(always bool) // called if the watch stays; always: this server cannot remove watches
}

// RemoveWatch has the server remove a watch, and the library forget it, unless a
// removal is under way already. Events.Wake reports its end. next chooses the watch
// while nothing else can be written to the connection; it returns false if there is
// none.
//
// The request has a number that the library does not use. The library would set the
// watch again on the next connection. So the guard hands it an event that it has made
// itself in place of the answer, and that makes the library forget the watch.
func (g *Guard) RemoveWatch(next func() (IdleWatch, bool)) {
	if c := g.Live(); c != nil && c.removing.CompareAndSwap(false, true) {
		g.events.Start(func() { c.send(func() { c.removeWatch(next) }) }) // in a goroutine, because it writes
	}
}

// removeWatch asks the server to remove a watch. The caller has the slot, so nothing
// else is written before the request.
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

// onRemoved handles the answer to the request of removeWatch.
func (c *Conn) onRemoved(code int32) {
	c.mu.Lock()
	w := c.taken
	c.taken = nil
	c.mu.Unlock()
	if w == nil {
		return
	}
	c.removing.Store(false)
	if code == 0 || code == codeNoWatcher { // the watch has fired meanwhile
		c.frame = forgetEvent(*w) // in place of the answer
		c.guard.events.Wake()
		return
	}
	w.Kept(code == codeUnimplemented) // do not try again at once
}

// By IdleWatch.Children: the kind of watch in the request, and the kind of event that
// makes the library forget it. The library keeps several kinds of watches on a node's
// data; an event of a data change ends all of them.
var (
	removedKind   = map[bool]int32{true: 1, false: 2}
	forgottenKind = map[bool]int32{true: 4, false: 3}
)

// stateForgotten is the connection state in such an event. No server sends it.
const stateForgotten = -1000

func removeWatchRequest(w IdleWatch) []byte {
	return newMessage(xidRemoveWatch, opRemoveWatches).text(w.Path).numbers(removedKind[w.Children]).done()
}

func forgetEvent(w IdleWatch) []byte {
	m := newMessage(xidEvent, 0).numbers(0, 0) // no zxid, no error
	return m.numbers(forgottenKind[w.Children], stateForgotten).text(w.Path).done()
}
