package main

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A line is the connection of an instance to ZooKeeper, which can be cut.
type line struct {
	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

// dial is for framework.Config.
func (l *line) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, errors.Join(errors.New("the line is cut"), conn.Close())
	}
	l.open = append(l.open, conn)
	return conn, nil
}

// set cuts the line, or ends that.
func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		for _, conn := range l.open {
			_ = conn.Close() // the client closes it as well
		}
		l.open = nil
	}
}
