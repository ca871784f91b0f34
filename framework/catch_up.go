package framework

import (
	"context"
	"errors"
	"sync/atomic"
)

// A program is granted leases in further sessions, and reads and writes in the main
// one. ZooKeeper orders what is done in one session, not what is done in two: the
// server of the main one may lag behind that which has shown a contender to be
// admitted, and the delete of a slot that was handed over may still be under way. So
// the first operation in the main session that follows such a grant waits until these
// deletes are confirmed, and has a transaction committed. Then the holder sees all that
// was done before the grant, and what it sends comes behind the delete, as if its lease
// were one of the main session. See unanswered.go for how its lease ends.
//
// What recipes do themselves does not wait: all steps of an acquire are made in one
// session.

// catchingUp is how far a main session has caught up with the grants of others.
type catchingUp struct {
	upTo atomic.Uint64 // that many grants
	turn chan struct{} // full while one operation does it for all
}

// granted counts a grant. The operations of its holder begin later.
func (s *Session) granted() {
	if s.further {
		s.core.grants.Add(1)
	}
}

// HasGrantedInFurther reports whether leases were granted in further sessions.
func (v recipeView) HasGrantedInFurther() bool { return v.core.grants.Load() > 0 }

// catchUp waits until the session is up to date with all grants in further sessions.
func (s *Session) catchUp(ctx context.Context, c *Client) error {
	before := s.core.grants.Load() // those that come later are of no concern to this operation
	if s.further || s.caught.upTo.Load() >= before {
		return nil
	}
	if err := s.take(ctx, s.caught.turn); err != nil {
		return err
	}
	defer func() { <-s.caught.turn }()
	if s.caught.upTo.Load() >= before {
		return nil
	}
	grants := s.core.grants.Load()
	for _, other := range s.core.furtherSessions() {
		if err := other.awaitReleased(ctx); err != nil {
			return err
		}
	}
	if err := s.commit(ctx, c); err != nil {
		return notSentError{err}
	}
	s.caught.upTo.Store(grants)
	return nil
}

// commit has a transaction of the session committed, which changes nothing. Then its
// server has all that was committed before, and what the session has sent before is
// carried out, or never will be. A sync would not show that: a leader that is without a
// quorum, and does not know it, answers one.
func (s *Session) commit(ctx context.Context, c *Client) error {
	_, err := (recipeView{c}).Within(s).Multi(ctx, Op{kind: opChecks, path: "/", absolute: true, version: AnyVersion})
	if errors.Is(err, ErrNoAuth) { // what is refused is committed, too
		return nil
	}
	return err
}

// notSentError is why an operation was not sent. That the outcome of something else is
// unknown says nothing of the operation.
type notSentError struct{ err error }

func (e notSentError) Error() string { return e.err.Error() }

func (e notSentError) Is(target error) bool {
	return target != ErrUnknownOutcome && errors.Is(e.err, target)
}

func (e notSentError) As(target any) bool {
	switch target.(type) {
	case **OpError, *leftError: // of the something else
		return false
	}
	return errors.As(e.err, target)
}

// awaitReleased waits until all releases are confirmed, refused, or pointless.
func (s *Session) awaitReleased(ctx context.Context) error {
	for _, r := range s.releases.all() {
		if r.await(ctx) != nil {
			return context.Cause(ctx) // nil if it is the session that is over
		}
	}
	return nil
}

func (c *core) furtherSessions() []*Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.further
}
