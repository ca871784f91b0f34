// Package proxy stands between clients and a server. It counts requests of the
// ZooKeeper protocol by kind, delays what passes, lets nothing pass for a while, or changes the
// server.
package proxy

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// A Proxy forwards the connections made to Addr.
type Proxy struct {
	listener net.Listener
	delay    time.Duration

	mu     sync.Mutex
	target string
	open   chan struct{} // closed while bytes pass
	counts map[string]int
	conns  map[net.Conn]bool
	closed bool
	group  sync.WaitGroup
}

// Start starts a proxy. What passes takes so much longer, either way; the order is
// kept, and what is sent meanwhile does not wait for it.
func Start(target string, delay time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, delay: delay, counts: map[string]int{}, conns: map[net.Conn]bool{}, open: make(chan struct{})}
	close(p.open)
	p.group.Go(p.accept)
	return p, nil
}

// Addr is the address for clients.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Counts returns how many requests have passed since the last call, by kind. Pings do
// not count.
func (p *Proxy) Counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.counts
	p.counts = map[string]int{}
	return counts
}

// Stall lets nothing pass any more, in either direction, not even that a side has
// closed its connection: to both it is as if the network dropped all packets.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open = make(chan struct{})
	}
}

// Resume ends a Stall. What was sent meanwhile passes, as if it were sent again.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume()
}

func (p *Proxy) resume() {
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

// pass returns when bytes may pass, and where to.
func (p *Proxy) pass() string {
	p.mu.Lock()
	open, target := p.open, p.target
	p.mu.Unlock()
	<-open
	return target
}

// A gate is what is read from one side, when it may pass.
type gate struct {
	io.Reader
	proxy *Proxy
}

func (g gate) Read(b []byte) (int, error) {
	n, err := g.Reader.Read(b)
	g.proxy.pass()
	return n, err
}

// Redirect ends all connections; new ones are to another server.
func (p *Proxy) Redirect(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	p.disconnect()
}

func (p *Proxy) disconnect() {
	for conn := range p.conns {
		_ = conn.Close()
	}
	clear(p.conns)
}

// Close ends all connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.resume()
	p.disconnect()
	p.mu.Unlock()
	_ = p.listener.Close()
	p.group.Wait()
}

func (p *Proxy) accept() {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := dialer.DialContext(context.Background(), "tcp", p.pass())
		if err != nil {
			_ = client.Close()
			continue
		}
		if p.keep(client, server) {
			p.group.Go(func() { p.forward(server, gate{io.TeeReader(client, &frames{seen: p.count}), p}, client) })
			p.group.Go(func() { p.forward(client, gate{server, p}, server) })
		}
	}
}

// keep records connections for Close, or ends them if it was called.
func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		if p.closed {
			_ = conn.Close()
		}
		p.conns[conn] = true
	}
	return !p.closed
}

// forward copies until either side ends, and then ends both.
func (p *Proxy) forward(to net.Conn, src io.Reader, from net.Conn) {
	defer from.Close()
	defer to.Close()
	if p.delay == 0 {
		_, _ = io.Copy(to, src)
		return
	}
	chunks := make(chan chunk, 4096)
	p.group.Go(func() { deliver(chunks, to, from) })
	defer close(chunks)
	for {
		buffer := make([]byte, 16<<10)
		n, err := src.Read(buffer)
		if n > 0 {
			chunks <- chunk{buffer[:n], time.Now().Add(p.delay)}
		}
		if err != nil {
			return
		}
	}
}

// A chunk is what was read at once, and when it is to arrive.
type chunk struct {
	bytes []byte
	due   time.Time
}

// deliver writes chunks when it is time.
func deliver(chunks <-chan chunk, to, from net.Conn) {
	for c := range chunks {
		time.Sleep(time.Until(c.due))
		if _, err := to.Write(c.bytes); err != nil {
			_ = from.Close() // its reader ends, and with it this loop
		}
	}
}

func (p *Proxy) count(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[kind]++
}

// frames reads what a client sends, and tells the kind of each request.
type frames struct {
	seen    func(kind string)
	head    []byte // of the frame that is being read, up to its opcode
	left    int    // bytes of the frame that are still to come, behind its head
	started bool   // the first frame, which connects, has begun
	foreign bool   // it is another protocol
}

// headBytes are the length, the number and the opcode of a request.
const headBytes = 12

// Write takes the next bytes.
func (f *frames) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && !f.foreign {
		if f.left > 0 {
			skip := min(f.left, len(b))
			f.left -= skip
			b = b[skip:]
			continue
		}
		take := min(headBytes-len(f.head), len(b))
		f.head = append(f.head, b[:take]...)
		b = b[take:]
		if len(f.head) == headBytes {
			f.begin()
		}
	}
	return n, nil
}

func (f *frames) begin() {
	size := binary.BigEndian.Uint32(f.head)
	f.foreign = size > 64<<20 || size < headBytes-4
	kind := int32(binary.BigEndian.Uint32(f.head[8:])) //nolint:gosec // opcodes are signed
	if f.started && !f.foreign && kind != opPing {
		f.seen(name(kind))
	}
	f.left, f.started, f.head = int(size)-(headBytes-4), true, f.head[:0]
}

const opPing = 11

var names = map[int32]string{
	1: "create", 2: "delete", 3: "exists", 4: "get", 5: "set", 8: "list", 9: "sync", 12: "list", 13: "check", 14: "multi",
	15: "create", 19: "container", 21: "ttl", 22: "multiread", 18: "remove", 17: "remove", 100: "auth", 101: "setwatches",
	105: "setwatches", -11: "close",
}

// name is what a kind of request is called.
func name(kind int32) string {
	if n := names[kind]; n != "" {
		return n
	}
	return fmt.Sprint("op", kind)
}
