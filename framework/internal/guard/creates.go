package guard

// Of creates the guard collects what only the wire shows: when each is sent, and its
// zxid. The answer to a write carries the zxid of that write, which for a create is the
// czxid of the new node; the library throws it away.

// ExpectCreate makes f be called when the next create of that path is sent.
func (g *Guard) ExpectCreate(path string, f func()) {
	if f == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.onSent[path] = append(g.onSent[path], f)
}

// sending is called when a create is about to be written.
func (g *Guard) sending(path string) {
	g.mu.Lock()
	waiting := g.onSent[path]
	delete(g.onSent, path)
	g.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// ForgetCreate ends what ExpectCreate began, for a create that was never sent.
func (g *Guard) ForgetCreate(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.onSent, path)
}

// TakeZxid returns the zxid of the create that made the node at path, 0 if it is not
// known, and forgets it.
func (g *Guard) TakeZxid(path string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	zxid := g.zxids[path]
	delete(g.zxids, path)
	return zxid
}

// created notes the zxid of a request that made a node, which its answer begins with: a
// create, or a Multi whose first operation was one. The answer was checked.
func (g *Guard) created(op int32, zxid int64, body []byte) {
	switch op {
	case opCreate, opContainer, opCreateTTL:
	case opMulti:
		if be32(body) != opCreate || body[4] != 0 {
			return // a check or a delete, or all failed, or the end
		}
		body = body[multiHeader:]
	default:
		return
	}
	r := answerReader{rest: body}
	path := string(r.text())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.zxids[path] = zxid
}
