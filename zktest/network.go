package zktest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Network is an in-memory network on which servers listen ([WithNetwork]) and clients
// dial ([Server.Dial] or [Network.DialContext]). Without faults it has no delays. The
// zero value is an empty network, ready to use. It must not be copied. Its methods may
// be called concurrently.
type Network struct {
	mu      sync.Mutex
	servers map[string]*Server
	hosts   int // number of made-up server addresses
	ports   int // number of client connections
}

// DialContext connects to a server of the network. The client's name is its made-up
// address; [Server.Dial] gives it a name.
func (n *Network) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	return n.dial(ctx, "", addr)
}

// listen registers a server under an address, a made-up one if addr is empty.
func (n *Network) listen(s *Server, addr string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.servers == nil {
		n.servers = map[string]*Server{}
	}
	if addr == "" {
		n.hosts++
		addr = fmt.Sprintf("10.0.0.%d:2181", n.hosts)
	}
	if n.servers[addr] != nil {
		return "", fmt.Errorf("zktest: listen on %s: %w", addr, syscall.EADDRINUSE)
	}
	n.servers[addr] = s
	return addr, nil
}

func (n *Network) unlisten(addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.servers, addr)
}

// dial connects a named client to the server at an address.
func (n *Network) dial(ctx context.Context, client, addr string) (net.Conn, error) {
	n.mu.Lock()
	s := n.servers[addr]
	n.ports++
	local := fmt.Sprintf("10.1.0.1:%d", n.ports)
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: "mem", Source: memAddr(local), Addr: memAddr(addr), Err: syscall.ECONNREFUSED}
	if s == nil {
		return nil, refused
	}
	name := client
	if name == "" {
		name = local
	}
	if err := s.reach(ctx, name); err != nil {
		refused.Err = err
		return nil, refused
	}
	near, far := newMemConns(memAddr(local), memAddr(addr))
	if !s.accept(far, name) {
		return nil, refused
	}
	return near, nil
}
