package guard

import (
	"context"
	"errors"
	"net"
	"time"
)

// Config.Dial, and the Close of a connection that it returned, are functions of the
// caller. They should return at once, or when their context ends, but may not. Each
// call runs in its own goroutine, and only Close waits for it, for a limited time. So
// it cannot delay the end of a session.

// callbackLimit is how long Close waits for functions of the caller that do not return.
const callbackLimit = 3 * time.Second

// start runs f, and returns a channel that is closed when f has returned.
func (s *Servers) start(f func()) <-chan struct{} {
	back := make(chan struct{})
	s.callbacks.Store(back, nil)
	go func() {
		f()
		s.callbacks.Delete(back)
		close(back)
	}()
	return back
}

// AwaitCallbacks waits some seconds for calls of Config.Dial, and of the Close of its
// connections, to return; also for calls that begin meanwhile.
func (s *Servers) AwaitCallbacks() {
	limit, cancel := context.WithTimeout(context.Background(), callbackLimit)
	defer cancel()
	for some := true; some && limit.Err() == nil; {
		some = false
		for back := range s.callbacks.Range {
			some = true
			select {
			case <-back.(chan struct{}):
			case <-limit.Done():
			}
		}
	}
}

// callbackDelay is how much later than it should a function may return, where its
// result, or what follows it, is worth a short wait.
const callbackDelay = 250 * time.Millisecond

var errStuckDial = errors.New("the dial has not returned although its context has ended")

// dial opens a connection, encrypted if so configured. It returns when ctx has ended,
// whatever Config.Dial does.
func (s *Servers) dial(ctx context.Context, t target) (net.Conn, error) {
	var conn net.Conn
	var err error
	back := s.start(func() { conn, err = s.open(ctx, t) })
	select {
	case <-back:
	case <-ctx.Done():
		if !returnsSoon(back) {
			s.start(func() {
				if <-back; err == nil {
					_ = conn.Close()
				}
			})
			return nil, errStuckDial
		}
	}
	return conn, err
}

// returnsSoon waits a moment for a function that should have returned.
func returnsSoon(back <-chan struct{}) bool {
	select {
	case <-back:
		return true
	case <-time.After(callbackDelay):
		return false
	}
}

// closeAside closes a connection that is no longer used. Reads and writes on it return
// at once, even if closing blocks. ended is closed when closing has returned.
func (s *Servers) closeAside(conn net.Conn) (ended <-chan struct{}) {
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.NetConn() // which sends no TLS alert first
	}
	return s.start(func() {
		_ = conn.SetDeadline(longAgo)
		_ = conn.Close()
	})
}

var longAgo = time.Unix(1, 0)
