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

// fullShare is what a server that does not answer can take of the time to connect if
// nobody says otherwise: the client gives it up then.
const maxDialTime = 2 * time.Second

// leastShares is for how many servers the time has to do, however few are named: a name
// can have many addresses.
const minShares = 3

// shareTime makes the servers share the time in which a session has to be had, if it is
// short: else one that is down, when it is tried first, uses up all of it.
func shareConnectTime(cfg *framework.Config, limit time.Duration) {
	servers := 0
	for _, list := range cfg.Servers {
		servers += strings.Count(list, ",") + 1
	}
	share := limit / time.Duration(max(servers, minShares))
	if share >= maxDialTime {
		return
	}
	// One that is reached but says nothing uses up no more than its part, either. Here
	// only those count that are named: one alone, which is slow, may need all the time.
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

// A hurriedConn is a connection on which a session has to be had by some time, whatever
// later deadline the client sets. When there is a session the client lifts its
// deadline, and with it this one.
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

// A nameDialer dials names: a client that is given a function to dial with does not
// look them up.
type nameDialer struct {
	lookUp func(ctx context.Context, host string) ([]string, error)

	mu    sync.Mutex
	known map[string][]string // for when names cannot be looked up
}

// dial dials one of the addresses of a name, any of them.
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

// addresses looks a name up, and falls back on what it found before.
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
