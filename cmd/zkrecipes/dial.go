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
const fullShare = 2 * time.Second

// leastShares is for how many servers the time has to do, however few are named: a
// name can have many addresses.
const leastShares = 3

// shareTime makes the servers share the time in which a session has to be had, if it
// is short: else one that is down, when it is tried first, uses up all of it.
func shareTime(cfg *framework.Config, patience time.Duration) {
	servers := 0
	for _, list := range cfg.Servers {
		servers += strings.Count(list, ",") + 1
	}
	share := patience / time.Duration(max(servers, leastShares))
	if share >= fullShare {
		return
	}
	dial := cfg.Dial
	if dial == nil {
		dial = (&nameDialer{lookUp: net.DefaultResolver.LookupHost}).dial
	}
	until := time.Now().Add(patience)
	cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if time.Now().Before(until) { // later connections have more time
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, share)
			defer cancel()
		}
		return dial(ctx, network, addr)
	}
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
