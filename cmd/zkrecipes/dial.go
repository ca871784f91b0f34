package main

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// maxDialTime is how long the client itself waits for a server that does not answer.
const maxDialTime = 2 * time.Second

// minShares is the least number of shares of the time to connect: one name can have
// many addresses.
const minShares = 3

// shareConnectTime divides the time to connect among the servers if it is short.
// Otherwise a server that is down, if it is tried first, uses all of it.
func shareConnectTime(cfg *framework.Config, limit time.Duration) {
	servers := 0
	for _, list := range cfg.Servers {
		servers += strings.Count(list, ",") + 1
	}
	share := limit / time.Duration(max(servers, minShares))
	if share >= maxDialTime {
		return
	}
	// A server that accepts connections but does not answer gets a share too. Here only
	// named servers count: a slow one alone may need all the time.
	answer := limit / time.Duration(servers)
	dial := cfg.Dial
	if dial == nil {
		dial = (&nameDialer{lookUp: net.DefaultResolver.LookupHost}).dial
	}
	until := time.Now().Add(limit)
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		start := time.Now()
		if !start.Before(until) { // later connections have more time
			return dial(ctx, network, addr)
		}
		ctx, cancel := context.WithTimeout(ctx, share)
		defer cancel()
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return withDeadline(conn, start.Add(answer))
	}
}

// A deadlineConn is a connection that must get a session by some time, even if the
// client sets a later deadline. With a session the client removes its deadline, and
// with it this one.
type deadlineConn struct {
	net.Conn
	by time.Time

	mu   sync.Mutex
	done bool
}

func withDeadline(conn net.Conn, by time.Time) (net.Conn, error) {
	if err := conn.SetDeadline(by); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &deadlineConn{Conn: conn, by: by}, nil
}

// SetDeadline sets the deadline, or an earlier one.
func (c *deadlineConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = c.done || t.IsZero()
	if !c.done && t.After(c.by) {
		t = c.by
	}
	return c.Conn.SetDeadline(t)
}

// A nameDialer dials names: a client with a function to dial with does not resolve
// them.
type nameDialer struct {
	lookUp func(ctx context.Context, host string) ([]string, error)

	mu    sync.Mutex
	known map[string][]string // used when a lookup fails
}

// dial dials one of the addresses of a name, at random.
func (d *nameDialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	all, err := d.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(all[rand.IntN(len(all))], port))
}

// addresses looks a name up. If that fails, it returns what it found before.
func (d *nameDialer) addresses(ctx context.Context, host string) ([]string, error) {
	found, err := d.lookUp(ctx, host)
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.known[host]; err != nil && len(known) > 0 {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	if d.known == nil {
		d.known = map[string][]string{}
	}
	d.known[host] = found
	return found, nil
}
