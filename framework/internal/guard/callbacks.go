package guard

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// callbacks are goroutines that run functions of the caller's which should come back at
// once, or when their context ends, and may not: Config.Dial and the Close of a connection
// that came from there. Nothing else waits for those, so that they cannot delay what a
// session's end means to others; Close does, for so long.
type callbacks struct {
	mu    sync.Mutex
	n     int
	alone chan struct{} // closed when there are none; nil if nobody waits for that
}

// callbackPatience is how long Close waits for functions that do not come back.
const callbackPatience = 3 * time.Second

// start runs f, and returns a channel that is closed when it has come back.
func (s *callbacks) start(f func()) <-chan struct{} {
	back := make(chan struct{})
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
	go func() {
		f()
		close(back)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.n--
		if s.n == 0 && s.alone != nil {
			close(s.alone)
			s.alone = nil
		}
	}()
	return back
}

// wait waits until all have come back, or ctx ends.
func (s *callbacks) wait(ctx context.Context) {
	s.mu.Lock()
	if s.n == 0 {
		s.mu.Unlock()
		return
	}
	if s.alone == nil {
		s.alone = make(chan struct{})
	}
	alone := s.alone
	s.mu.Unlock()
	select {
	case <-alone:
	case <-ctx.Done():
	}
}

// callbackDelay is how much later than it should a function may come back, where what it
// has to say, or what comes after it, is worth a moment.
const callbackDelay = 250 * time.Millisecond

var errStuckDial = errors.New("config.Dial has not come back although its context has ended")

// dial opens a connection, encrypted if so configured. It comes back when ctx has ended,
// whatever Config.Dial does.
func (b *Servers) dial(ctx context.Context, t target) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	results, left := make(chan result), make(chan struct{})
	defer close(left)
	b.callbacks.start(func() {
		conn, err := b.open(ctx, t)
		select {
		case results <- result{conn, err}:
		case <-left:
			if err == nil {
				_ = conn.Close()
			}
		}
	})
	select {
	case r := <-results:
		return r.conn, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(callbackDelay)
	defer late.Stop()
	select {
	case r := <-results:
		return r.conn, r.err
	case <-late.C:
		return nil, errStuckDial
	}
}

// hangUp closes a connection that nobody uses any more. What reads or writes there comes
// back at once, also if closing does not. ended is closed when that has come back.
func (s *callbacks) hangUp(conn net.Conn) (ended <-chan struct{}) {
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.NetConn() // which does not try to say good-bye first
	}
	return s.start(func() {
		_ = conn.SetDeadline(longAgo)
		_ = conn.Close()
	})
}

var longAgo = time.Unix(1, 0)
