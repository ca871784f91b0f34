package proxy

import (
	"context"
	"net"
	"sync"
	"time"
)

// held is how many frames of one direction a link holds during a stall or a delay
// before it stops reading.
const held = 1024

// A link is one client connection and its connection to the server.
type link struct {
	proxy  *Proxy
	ctx    context.Context // ends with the link
	cancel context.CancelFunc
	client net.Conn

	mu      sync.Mutex
	server  net.Conn        // nil before dial
	swallow map[int32]*hook // by xid: the replies that end the link
}

func newLink(p *Proxy, client net.Conn) *link {
	ctx, cancel := context.WithCancel(p.ctx)
	return &link{proxy: p, ctx: ctx, cancel: cancel, client: client, swallow: map[int32]*hook{}}
}

// dial connects to the server, unless the link ends before.
func (l *link) dial() bool {
	var d net.Dialer
	server, err := d.DialContext(l.ctx, "tcp", l.proxy.target)
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
	if l.ctx.Err() != nil {
		_ = server.Close()
		return false
	}
	return true
}

// close ends the link at once, and drops what was not forwarded. Further calls do
// nothing.
func (l *link) close() {
	l.cancel()
	_ = l.client.Close()
	l.mu.Lock()
	server := l.server
	l.mu.Unlock()
	if server != nil {
		_ = server.Close()
	}
}

// run forwards both directions until the link ends.
func (l *link) run() {
	var both sync.WaitGroup
	both.Go(func() { l.forward(l.server, l.client, l.request) })
	both.Go(func() { l.forward(l.client, l.server, l.reply) })
	both.Wait()
}

// A delivery is a frame on its way: what was read, when it may arrive, and whether it
// is the last.
type delivery struct {
	frame frame
	due   time.Time
	last  bool
}

// forward forwards frames from src to dst, in order. It calls inspect for each; if that
// returns a hook, it drops the frame and cuts the link. The end of src ends the link
// after the frames before it.
func (l *link) forward(dst, src net.Conn, inspect func(frame) *hook) {
	queue := make(chan delivery, held)
	var reader sync.WaitGroup
	reader.Go(func() { l.read(queue, src) })
	defer reader.Wait()
	defer l.close() // before the wait, because it ends the reader

	for {
		select {
		case d := <-queue:
			if !l.wait(d.due) {
				return
			}
			if h := inspect(d.frame); h != nil {
				if h.refuse {
					l.proxy.Refuse(true) // before the client notices, so that it cannot reconnect first
				}
				l.close()
				close(h.fired)
				return
			}
			if _, err := dst.Write(d.frame.bytes); err != nil || d.last {
				return
			}
		case <-l.ctx.Done():
			return
		}
	}
}

// read puts the frames of src into queue until src ends.
func (l *link) read(queue chan<- delivery, src net.Conn) {
	frames := newFrameReader(src)
	for {
		f, err := frames.next()
		d := delivery{frame: f, due: time.Now().Add(l.proxy.currentDelay()), last: err != nil}
		select {
		case queue <- d:
		case <-l.ctx.Done():
			return
		}
		if d.last {
			return
		}
	}
}

// wait waits until a delivery may go on: its time has come and traffic is not stalled.
// It returns false if the link is over.
func (l *link) wait(due time.Time) bool {
	if pause := time.Until(due); pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			return false
		}
	}
	select {
	case <-l.proxy.currentGate():
		return true
	case <-l.ctx.Done():
		return false
	}
}

// request inspects a frame for the server. It returns the hook that cuts the link
// before it.
func (l *link) request(f frame) *hook {
	r, ok := f.request()
	if !ok {
		return nil
	}
	h := l.proxy.match(r)
	if h == nil || !h.after {
		return h
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swallow[r.xid] = h
	return nil
}

// reply inspects a frame for the client. It returns the hook that cuts the link instead
// of it.
func (l *link) reply(f frame) *hook {
	xid, ok := f.replyTo()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.swallow[xid]
}
