package main

import (
	"context"
	"time"

	"github.com/zkrecipes/zkrecipes/bench/proxy"
	"github.com/zkrecipes/zkrecipes/bench/servers"
)

// A stage is a holder with a network of its own, and another process that waits for
// what it holds.
type stage struct {
	session      time.Duration
	network      *proxy.Proxy
	holder, next *child
	switchOver   func() error // for a failover
	ends         []func()
}

// set starts what a fault needs.
func (r *run) set(ctx context.Context, at *stage, f fault, s system) (err error) {
	server := r.servers[s.server]
	if f == failover {
		if server, err = at.replicated(ctx, r.dir); err != nil {
			return err
		}
	}
	if at.network, err = proxy.Start(server.Addr, 0); err != nil {
		return err
	}
	at.ends = append(at.ends, at.network.Close)
	others := server.Addr
	if f == failover {
		others = at.network.Addr() // it leads to the primary, whichever that is
	}
	if at.holder, err = r.actor(ctx, at, s, at.network.Addr()); err == nil {
		at.next, err = r.actor(ctx, at, s, others)
	}
	return err
}

func (r *run) actor(ctx context.Context, at *stage, s system, addr string) (*child, error) {
	command, err := r.program(ctx, s.name, addr, at.session)
	if err != nil {
		return nil, err
	}
	c, err := startChild(ctx, command)
	if err == nil {
		at.ends = append(at.ends, c.kill)
	}
	return c, err
}

// replicated starts a Redis with a replica, which it then cuts off.
func (at *stage) replicated(ctx context.Context, dir string) (primary *servers.Server, err error) {
	primary, err = servers.Start(ctx, "redis", dir)
	if err != nil {
		return nil, err
	}
	at.ends = append(at.ends, func() { _ = primary.Close() })
	link, err := proxy.Start(primary.Addr, 0)
	if err != nil {
		return nil, err
	}
	at.ends = append(at.ends, link.Close)
	replica, err := servers.StartReplica(link.Addr(), dir)
	if err != nil {
		return nil, err
	}
	at.ends = append(at.ends, func() { _ = replica.Close() })
	link.Stall()
	at.switchOver = func() error {
		if err := primary.Close(); err != nil {
			return err
		}
		at.network.Redirect(replica.Addr)
		return servers.Promote(replica)
	}
	return primary, nil
}

func (at *stage) close() {
	if at == nil {
		return
	}
	for _, end := range at.ends {
		end()
	}
}
