package framework

import (
	"context"
	"errors"
)

// oneSession makes a session and returns when it has ended. The error says why there
// was none.
func (c *core) oneSession(first chan<- error) error {
	s, err := newSession(c, c.servers)
	if err != nil {
		return err
	}
	defer c.dispose(s)
	if err := s.establish(c.ctx); err != nil {
		return err
	}
	c.publish(s)
	offer(first, nil)
	select {
	case <-s.Done():
	case <-c.ctx.Done():
	}
	c.conclude(s)
	return nil
}

// offer sends a value unless the channel is full.
func offer[T any](to chan<- T, value T) {
	select {
	case to <- value:
	default:
	}
}

// conclude is called when a session is over, or Close has begun. Then it ends the
// session.
func (c *core) conclude(s *Session) {
	if c.ctx.Err() != nil && context.Cause(s.ctx) == nil {
		s.endHolds(c.cfg.CloseGrace)
	}
	if s.Err() != nil { // also if lost meanwhile: work under its leases has the time that was promised
		s.became(Lost, context.Cause(s.ctx))
		return
	}
	if s.further {
		limit, cancel := c.limitOfClose()
		c.unanswered.awaitDisposed(limit)
		cancel()
	}
	s.shutDown(ErrClosed)
}

// dispose waits for all that belongs to a session that is over. If the server may still
// have the session it is closed there, so that its ephemeral nodes go at once and not
// only when it times out.
func (c *core) dispose(s *Session) {
	c.tasks.start(func() {
		defer close(s.disposed)
		s.guard.Seal()
		s.guard.Finish()
		s.tasks.wait()
		if errors.Is(context.Cause(s.ctx), ErrTrustExpired) {
			s.guard.CloseOrphan(c.ctx)
		}
		c.unanswered.disposed(s)
		if s.further {
			s.servers.AwaitCallbacks()
		}
	})
}

func (c *core) publish(s *Session) {
	c.mu.Lock()
	c.session = s
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	s.gate.publish()
}

// await waits for a session to which requests may be sent.
func (c *core) await(ctx context.Context) (*Session, error) {
	for {
		if err := context.Cause(c.ctx); err != nil {
			return nil, err
		}
		c.mu.Lock()
		s, changed := c.session, c.changed
		c.mu.Unlock()
		if s != nil {
			err := s.await(ctx)
			switch {
			case err == nil:
				return s, nil
			case ctx.Err() == nil:
			case s.Err() == nil:
				return nil, err
			default: // over, and there is no other
				return nil, waitEnded(ctx, c.servers)
			}
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, waitEnded(ctx, c.servers)
		}
	}
}
