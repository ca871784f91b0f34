package framework

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// Besides its main session, of which there is always one, a client has further ones for
// contenders that the main one has no room for. Each is opened when it is needed. When
// it is over no other takes its place: contenders choose anew.

// An opening is the making of a further session.
type opening struct {
	servers *guard.Servers
	done    chan struct{} // closed when it has succeeded or failed
	err     error         // why it has failed
}

// unusedLimit is after how long a further session is closed if it holds nothing and no
// contender has chosen it, or up to twice as long.
const unusedLimit = time.Minute

// errUnused is why such a session is over. A contender that has chosen it a long time
// ago, and only now goes on, chooses anew.
var errUnused = fmt.Errorf("%w: closed because it was not used", ErrSessionLost)

// errNotOpened is why an opening is given up: servers may accept no more connections,
// and there may be room in another session meanwhile.
var errNotOpened = fmt.Errorf("%w, and no further session could be opened", ErrTooManyEphemerals)

// open begins to open a further session, with core.mu.
func (c *core) open() *opening {
	o := &opening{servers: guard.NewServers(c.cfg.forGuard(), c.names), done: make(chan struct{})}
	c.opening = o
	if !c.sessions.start(func() { c.oneFurther(o) }) {
		c.opened(o, nil, ErrClosed)
	}
	return o
}

// opened records how an opening has ended, with core.mu.
func (c *core) opened(o *opening, s *Session, err error) {
	if err == nil {
		c.further = append(slices.Clip(c.further), s)
	}
	o.err, c.opening = err, nil
	close(o.done)
}

// await waits until an opening has succeeded or failed.
func (o *opening) await(ctx, closed context.Context) error {
	select {
	case <-o.done:
		return nil
	case <-closed.Done():
		return context.Cause(closed)
	case <-ctx.Done():
		return waitEnded(ctx, o.servers)
	}
}

// oneFurther makes a further session, and returns when that has ended.
func (c *core) oneFurther(o *opening) {
	s, err := c.establishFurther(o)
	c.mu.Lock()
	c.opened(o, s, err)
	c.mu.Unlock()
	if err != nil {
		return
	}
	defer c.dispose(s)
	s.gate.publish()
	if c.awaitEnd(s) {
		c.conclude(s)
		return
	}
	c.states.forget(s.ID())
	c.cfg.Logger.Info("closed unused zookeeper session", "session", sessionName(s.ID()))
	s.shutDown(errUnused)
}

func (c *core) establishFurther(o *opening) (*Session, error) {
	s, err := newSession(c, o.servers)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.cfg.SessionTimeout, errNotOpened)
	defer cancel()
	if err := s.establish(ctx); err != nil {
		c.dispose(s)
		return nil, fmt.Errorf("%w: %w", err, notConnected(o.servers.Attempts()))
	}
	return s, nil
}

// awaitEnd waits until a further session is over, or Close has begun, and takes it out
// of those that contenders choose from. It returns false if the session is not used.
func (c *core) awaitEnd(s *Session) (used bool) {
	ticker := time.NewTicker(unusedLimit)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if c.drop(s, false) {
				return false
			}
		case <-s.Done():
			return c.drop(s, true)
		case <-c.ctx.Done():
			return c.drop(s, true)
		}
	}
}

// drop takes a further session out of those that contenders choose from. One that is
// used is only dropped if it must be: it holds something, or was chosen since the last
// call.
func (c *core) drop(s *Session, must bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := s.chosen || s.quota.holds()
	if s.chosen = false; used && !must {
		return false
	}
	c.further = slices.DeleteFunc(slices.Clone(c.further), func(other *Session) bool { return other == s })
	return true
}
