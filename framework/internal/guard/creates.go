package guard

import "sync"

// createWatch collects what only the wire shows of creates: when each is sent,
// and its zxid. The answer to a write carries the zxid of that write, which for a
// create is the czxid of the new node; the library throws it away.
type createWatch struct {
	mu     sync.Mutex
	onSent map[string][]func() // by the path asked for, in the order of the calls
	zxids  map[string]int64    // by the path of the new node
}

// ExpectCreate makes f be called when the next create of that path is sent.
func (w *createWatch) ExpectCreate(path string, f func()) {
	if f == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onSent[path] = append(w.onSent[path], f)
}

// sending is called when a create is about to be written.
func (w *createWatch) sending(path string) {
	w.mu.Lock()
	waiting := w.onSent[path]
	delete(w.onSent, path)
	w.mu.Unlock()
	for _, f := range waiting {
		f()
	}
}

// ForgetCreate ends what ExpectCreate began, for a create that was never sent.
func (w *createWatch) ForgetCreate(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.onSent, path)
}

// TakeZxid returns the zxid of the create that made the node at path, 0 if it is not
// known, and forgets it.
func (w *createWatch) TakeZxid(path string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	zxid := w.zxids[path]
	delete(w.zxids, path)
	return zxid
}

// created notes the zxid of a request that made a node, which its answer begins with:
// a create, or a Multi whose first operation was one. The answer was checked.
func (w *createWatch) created(op int32, zxid int64, body []byte) {
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
	w.mu.Lock()
	defer w.mu.Unlock()
	w.zxids[path] = zxid
}
