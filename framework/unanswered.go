package framework

import (
	"context"
	"maps"
	"sync"
)

// A write that the program has given up, or whose connection broke, may be carried out
// later. If its caller's lease is of the same session, that is before the delete of the
// lease's node, or never. Between two sessions there is no such order. So what a recipe
// deletes in a further session waits, if there are such writes of the main one, until
// that has had a transaction committed, or is over on the server.
//
// A write that is under way counts only when its caller has returned: who releases a
// lease while others still use it has no order to expect.

// unanswered are writes that sessions may still carry out.
type unanswered struct {
	mu    sync.Mutex
	count uint64              // of all that were given up
	of    map[*Session]uint64 // that at the last one, of each session where it is not settled
}

// add counts one. While no lease was granted in a further session none waits for it.
func (u *unanswered) add(s *Session) {
	if s.further || s.core.grants.Load() == 0 {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[*Session]uint64{}
	}
	u.count++
	u.of[s] = u.count
}

// any reports whether there are some.
func (u *unanswered) any() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.of) > 0
}

// all returns the last one of each session.
func (u *unanswered) all() map[*Session]uint64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.of)
}

// settled forgets those of a session up to the last one that was known, unless there
// are later ones by now.
func (u *unanswered) settled(s *Session, last uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of[s] == last {
		delete(u.of, s)
	}
}

// disposed forgets those of a session that is over.
func (u *unanswered) disposed(s *Session) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.of, s)
}

// settleWrites waits until none of them can be carried out any more.
func (c *Client) settleWrites(ctx context.Context) error {
	for s, last := range c.core.unanswered.all() {
		if err := c.settleWritesOf(ctx, s); err != nil {
			return notSentError{err}
		}
		c.core.unanswered.settled(s, last)
	}
	return nil
}

func (c *Client) settleWritesOf(ctx context.Context, s *Session) error {
	if err := s.commit(ctx, c); err == nil || s.Err() == nil {
		return err
	}
	select {
	case <-s.disposed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitDisposed waits until the sessions of all of them are over on the server: Close
// has begun.
func (u *unanswered) awaitDisposed(ctx context.Context) {
	for s := range u.all() {
		select {
		case <-s.disposed:
		case <-ctx.Done():
		}
	}
}
