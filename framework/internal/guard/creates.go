package guard

// For creates the guard records what only it can see: when each is sent, and its zxid.
// The answer to a write carries the zxid of that write, which for a create is the czxid
// of the new node. The library discards it.

// ExpectCreate has f called when the next create of that path is sent.
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

// ForgetCreate undoes ExpectCreate for a create that was never sent.
func (g *Guard) ForgetCreate(path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.onSent, path)
}

// TakeZxid returns the zxid of the create that made the node at path, and forgets it.
// It returns 0 if the zxid is not known.
func (g *Guard) TakeZxid(path string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	zxid := g.zxids[path]
	delete(g.zxids, path)
	return zxid
}

// created records the zxid of a request that made a node: a create, or a Multi whose
// first operation was one. The answer, which begins with the path, was checked.
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
