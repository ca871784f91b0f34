package framework

import (
	"bufio"
	"errors"
	"sync"
)

// createWatch collects what only the wire shows of creates: when each is sent,
// and its zxid. The answer to a write carries the zxid of that write, which for a
// create is the czxid of the new node; the library throws it away.
type createWatch struct {
	mu     sync.Mutex
	onSent map[string][]func() // by the path asked for, in the order of the calls
	zxids  map[string]int64    // by the path of the new node
}

// expect makes f be called when the next create of that path is sent.
func (w *createWatch) expect(path string, f func()) {
	if f == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.onSent == nil {
		w.onSent = map[string][]func(){}
	}
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

// forget ends what expect began, for a create that was never sent.
func (w *createWatch) forget(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.onSent, path)
}

// answered notes the zxid of a create that has made the node at path.
func (w *createWatch) answered(path string, zxid int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.zxids == nil {
		w.zxids = map[string]int64{}
	}
	w.zxids[path] = zxid
}

// take returns the zxid of the create that made the node at path, 0 if it is not
// known, and forgets it.
func (w *createWatch) take(path string) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	zxid := w.zxids[path]
	delete(w.zxids, path)
	return zxid
}

// createdFirst notes the zxid of a Multi whose first operation made a node. Its
// answer begins with that operation's type, a flag and an error code.
func (c *guardConn) createdFirst(zxid int64) error {
	const start, skipped = frameHeader + replyHeader, 4 + 1 + 4
	if c.remaining < start+skipped+4 {
		return nil // only checks and deletes, or too short, which the library will say
	}
	frame, err := c.read.Peek(start + skipped)
	if err != nil {
		return err
	}
	if be32(frame[start:]) != opCreate {
		return nil
	}
	return c.created(zxid, skipped)
}

// created notes the zxid of a create that succeeded; its answer begins with the
// path of the node, behind so many bytes.
func (c *guardConn) created(zxid int64, skipped int) error {
	start := frameHeader + replyHeader + skipped
	frame, err := c.read.Peek(min(c.remaining, start+4))
	if err != nil || len(frame) < start+4 {
		return errors.Join(err, errShortFrame)
	}
	n := int(be32(frame[start:]))
	if n < 0 || n > c.remaining-start-4 {
		return errShortFrame
	}
	frame, err = c.read.Peek(start + 4 + n)
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil // a path of 16 KiB: whoever wants its czxid has to ask for it
	}
	if err != nil {
		return err
	}
	c.guard.creates.answered(string(frame[start+4:]), zxid)
	return nil
}
