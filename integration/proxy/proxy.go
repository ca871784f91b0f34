package proxy

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/integration/internal/ports"
)

// A Proxy forwards the connections made to Addr to one server. Its methods may be
// called at any time and from several goroutines.
type Proxy struct {
	tb     testing.TB
	target string
	block  *ports.Block // reserves the port while connections are refused
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup // every goroutine of the proxy

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	links    map[*link]struct{}
	hooks    []*hook
	delay    time.Duration
	gate     chan struct{} // closed while traffic flows
}

// New starts a proxy in front of the server at target, "host:port". It is closed when
// the test ends.
func New(tb testing.TB, target string) *Proxy {
	tb.Helper()
	block, err := ports.Reserve()
	if err != nil {
		tb.Fatalf("proxy: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{
		tb: tb, target: target, block: block, ctx: ctx, cancel: cancel,
		links: map[*link]struct{}{}, gate: make(chan struct{}),
	}
	close(p.gate)
	tb.Cleanup(p.Close)
	p.Refuse(false)
	return p
}

// Addr returns the address for clients, "host:port". It never changes.
func (p *Proxy) Addr() string { return p.block.Address(0) }

// Cut closes all connections. New ones are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	var links []*link
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.close()
	}
}

// Refuse chooses whether new connections are refused, as if nothing listened. Existing
// ones go on.
func (p *Proxy) Refuse(on bool) {
	p.tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ctx.Err() != nil:
	case on && p.listener != nil:
		_ = p.listener.Close()
		p.listener = nil
	case !on && p.listener == nil:
		l, err := net.Listen("tcp", p.Addr())
		if err != nil {
			p.tb.Errorf("proxy: %v", err)
			return
		}
		p.listener = l
		p.all.Go(func() { p.accept(l) })
	}
}

// Stall chooses whether traffic is held: connections stay open and are accepted, but
// nothing arrives at the other side, not even a close. What was held arrives when the
// stall ends. A frame that is being forwarded when a stall begins may still arrive.
func (p *Proxy) Stall(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
		if on {
			p.gate = make(chan struct{})
		}
	default:
		if !on {
			close(p.gate)
		}
	}
}

// Delay makes each frame that arrives from now on, in either direction, wait for d. The
// order is kept.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Close closes the proxy and its connections and waits for its goroutines. Further
// calls do nothing.
func (p *Proxy) Close() {
	p.mu.Lock()
	first := p.ctx.Err() == nil
	p.cancel()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	p.Cut()
	p.all.Wait()
	if first {
		p.block.Release()
	}
}

// accept serves the connections that l accepts until l is closed.
func (p *Proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until it ends.
func (p *Proxy) serve(client net.Conn) {
	l := newLink(p, client)
	defer l.close()
	p.mu.Lock()
	p.links[l] = struct{}{}
	p.mu.Unlock()

	if l.dial() {
		l.run()
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

func (p *Proxy) currentDelay() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

func (p *Proxy) currentGate() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gate
}
