package framework

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
)

// core is what all views of a client share.
type core struct {
	cfg       Config
	servers   *guard.Servers
	states    *timeline
	observers observers
	ctx       context.Context // ends when Close begins, with ErrClosed
	cancel    context.CancelCauseFunc
	tasks     tasks
	done      chan struct{} // closed when Close is complete

	closeLimit   atomic.Int64 // nanoseconds that an orderly end may take
	keepsWatches atomic.Bool  // a server cannot remove one
	parents      parents

	mu      sync.Mutex
	session *Session
	changed chan struct{} // closed and replaced when session changes
}

// run makes one session after another until the client is closed.
func (c *core) run(first chan<- error) {
	defer close(c.done)
	for c.ctx.Err() == nil {
		if err := c.oneSession(first); err != nil && c.ctx.Err() == nil && !errors.Is(err, ErrSessionLost) {
			// Refused credentials: Connect fails at once. Later the servers'
			// configuration may change again, so this goes on.
			offer(first, err)
			c.cfg.Logger.Error("no zookeeper session", "error", err)
			_ = retry.Sleep(c.ctx, time.Second)
		}
	}
	c.states.add(StateChange{State: Closed, At: time.Now()})
	c.tasks.wait()
	c.servers.AwaitCallbacks()
}

// oneSession makes a session and returns when it has ended. The error says why there
// was none.
func (c *core) oneSession(first chan<- error) error {
	s, err := newSession(c)
	if err != nil {
		return err
	}
	defer c.dispose(s)
	if err := s.establish(c.ctx); err != nil {
		if !errors.Is(err, ErrSessionLost) && !errors.Is(err, ErrClosed) {
			s.guard.NotReady(err)
		}
		s.shutDown(err)
		return err
	}
	c.publish(s)
	offer(first, nil)
	c.live(s)
	return nil
}

// offer sends a value unless the channel is full.
func offer[T any](to chan<- T, value T) {
	select {
	case to <- value:
	default:
	}
}

// live waits until a session ends, and ends it when the client is closed.
func (c *core) live(s *Session) {
	select {
	case <-s.Done():
	case <-c.ctx.Done():
		s.endHolds(c.cfg.CloseGrace)
	}
	if s.Err() != nil { // also if lost meanwhile: work under its leases has the time that was promised
		s.became(Lost, context.Cause(s.ctx))
		return
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
				return nil, c.waitEnded(ctx)
			}
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, c.waitEnded(ctx)
		}
	}
}
