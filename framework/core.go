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
	names     []string       // of the servers
	servers   *guard.Servers // for the main sessions, one after another
	states    *timeline
	observers observers
	ctx       context.Context // ends when Close begins, with ErrClosed
	cancel    context.CancelCauseFunc
	sessions  tasks // of the further ones
	tasks     tasks
	done      chan struct{} // closed when Close is complete

	closeLimit   atomic.Int64 // nanoseconds that an orderly end may take
	keepsWatches atomic.Bool  // a server cannot remove one
	parents      parents
	grants       atomic.Uint64 // in further sessions
	unanswered   unanswered
	kept         kept
	closing      closing

	mu      sync.Mutex
	session *Session      // the main one
	further []*Session    // the others, in the order in which they were opened
	opening *opening      // of one more, nil if there is none
	changed chan struct{} // closed and replaced when session changes
}

// run makes one main session after another until the client is closed.
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
	c.sessions.wait()
	c.states.add(StateChange{State: Closed, At: time.Now()})
	c.tasks.wait()
	c.servers.AwaitCallbacks()
}
