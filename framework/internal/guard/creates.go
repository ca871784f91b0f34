package guard

import "sync"

// For creates the guard records what only it can see: when each is sent, and its zxid.
// The answer to a write carries the zxid of that write, which for a create is the czxid
// of the new node. The library discards it.

// creates are those under way. A lock of their own keeps them from waiting for what
// else the guard does.
type creates struct {
	mu    sync.Mutex
	sent  map[string]func() // called when the create of that path is sent
	zxids map[string]int64  // by the path of the new node
}

// ExpectCreate has f called when the create of that path is sent. No two creates of one
// path may be expected at a time.
func (g *Guard) ExpectCreate(path string, f func()) {
	if f == nil {
		return
	}
	g.creates.mu.Lock()
	defer g.creates.mu.Unlock()
	g.creates.sent[path] = f
}

// sending is called when a create is about to be written.
func (g *Guard) sending(path []byte) {
	g.creates.mu.Lock()
	f := g.creates.sent[string(path)]
	g.creates.mu.Unlock()
	if f != nil {
		f()
	}
}

// CreateEnded ends what ExpectCreate began for the path that was asked for, and returns
// what TakeZxid does for the path of the node that was made.
func (g *Guard) CreateEnded(asked, made string) int64 {
	g.creates.mu.Lock()
	defer g.creates.mu.Unlock()
	delete(g.creates.sent, asked)
	return g.creates.take(made)
}

// TakeZxid returns the zxid of the create that made the node at path, and forgets it.
// It returns 0 if the zxid is not known.
func (g *Guard) TakeZxid(path string) int64 {
	g.creates.mu.Lock()
	defer g.creates.mu.Unlock()
	return g.creates.take(path)
}

func (c *creates) take(path string) int64 {
	zxid := c.zxids[path]
	delete(c.zxids, path)
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
	g.creates.mu.Lock()
	defer g.creates.mu.Unlock()
	g.creates.zxids[path] = zxid
}
