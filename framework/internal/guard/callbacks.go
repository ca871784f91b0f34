package guard

import (
	"context"
	"errors"
	"net"
	"time"
)

// Functions of the caller's should come back at once, or when their context ends, and
// may not: Config.Dial and the Close of a connection that came from there. They have
// goroutines of their own, for which nothing else waits, so that they cannot delay what
// a session's end means to others; Close does, for so long.

// callbackLimit is how long Close waits for functions that do not come back.
const callbackLimit = 3 * time.Second

// start runs f, and returns a channel that is closed when it has come back.
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

// AwaitCallbacks waits for Config.Dial, and what closes its connections, to come back,
// for some seconds; for those that begin meanwhile, too.
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

// callbackDelay is how much later than it should a function may come back, where what
// it has to say, or what comes after it, is worth a moment.
const callbackDelay = 250 * time.Millisecond

var errStuckDial = errors.New("config.Dial has not come back although its context has ended")

// dial opens a connection, encrypted if so configured. It comes back when ctx has
// ended, whatever Config.Dial does.
func (s *Servers) dial(ctx context.Context, t target) (net.Conn, error) {
	var conn net.Conn
	var err error
	back := s.start(func() { conn, err = s.open(ctx, t) })
	select {
	case <-back:
	case <-ctx.Done():
		if !comesBack(back) {
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

// comesBack waits a moment for a function that should have come back.
func comesBack(back <-chan struct{}) bool {
	select {
	case <-back:
		return true
	case <-time.After(callbackDelay):
		return false
	}
}

// hangUp closes a connection that nobody uses any more. What reads or writes there
// comes back at once, also if closing does not. ended is closed when that has come
// back.
func (s *Servers) hangUp(conn net.Conn) (ended <-chan struct{}) {
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.NetConn() // which does not try to say good-bye first
	}
	return s.start(func() {
		_ = conn.SetDeadline(longAgo)
		_ = conn.Close()
	})
}

var longAgo = time.Unix(1, 0)
