package framework

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// A choice is that of a session by a contender.
type choice struct {
	bytes   int             // that the paths of its nodes take, and room is needed for
	parents func() []string // of its nodes, on the server
	except  []*Session      // those that have turned out to be full
}

// nameBytes is at least as much as the name of a contender's node takes, with a folder.
const nameBytes = 80

// AwaitRoom waits for a session with room for another contender.
func (v recipeView) AwaitRoom(ctx context.Context, path string, folders []string, nodes int, full []*Session) (*Session, error) {
	if !v.mayChoose() {
		if s := v.Session(); slices.Contains(full, s) && s.Err() == nil {
			return nil, ErrTooManyEphemerals
		}
		return v.AwaitSession(ctx)
	}
	return v.core.awaitRoom(ctx, choice{
		bytes: nodes * v.contenderBytes(path), except: full,
		parents: func() (all []string) {
			for _, folder := range folders {
				all = append(all, v.full(path+folder))
			}
			return all
		},
	})
}

// HasRoom reports whether there is still room in a session that was chosen.
func (v recipeView) HasRoom(s *Session, paths ...string) bool {
	bytes := 0
	for _, path := range paths {
		bytes += v.contenderBytes(path)
	}
	return !v.mayChoose() || s.quota.fits(bytes, len(paths) == 1)
}

// mayChoose reports whether there can be more than one session for a contender.
func (v recipeView) mayChoose() bool { return v.pinned == nil && v.core.cfg.Sessions != 1 }

// contenderBytes is how much the path of a contender's node takes.
func (v recipeView) contenderBytes(path string) int { return len(v.prefix) + len(path) + nameBytes }

func (c *core) awaitRoom(ctx context.Context, of choice) (*Session, error) {
	for failed := error(nil); ; {
		s, o := c.choose(of, failed == nil)
		switch {
		case o != nil:
			if err := o.await(ctx, c.ctx); err != nil {
				return nil, err
			}
			if failed = o.err; failed != nil {
				of.except = nil // there may be room again
			}
		case s == nil:
			return nil, cmp.Or(failed, fmt.Errorf("%w, and %d sessions are all that Config.Sessions allows", ErrTooManyEphemerals, c.cfg.Sessions))
		case !s.further:
			return c.await(ctx)
		default:
			err := s.await(ctx)
			if err == nil || s.Err() == nil {
				return s, err
			}
			if err := cmp.Or(context.Cause(c.ctx), context.Cause(ctx)); err != nil {
				return nil, err
			}
		}
	}
}

// choose returns the session that a contender should use: one with room, and if it can
// be one where others contend for the same, so that they share views and hand over;
// else the oldest, so that the others can be closed some day. If there is none it
// returns the opening of another to wait for, or nothing if there can be none either.
func (c *core) choose(of choice, mayOpen bool) (*Session, *opening) {
	c.mu.Lock()
	defer c.mu.Unlock()
	main := c.session
	if len(c.further) == 0 && of.suits(main) {
		return main, nil
	}
	if s := c.among(of); s != nil {
		s.chosen = true
		return s, nil
	}
	switch {
	case context.Cause(main.ctx) != nil: // another takes its place
		return main, nil
	case !mayOpen:
	case c.opening != nil:
		return nil, c.opening
	case c.living() < c.cfg.Sessions:
		return nil, c.open()
	}
	return nil, nil
}

// among returns the best of the sessions, nil if none suits, with core.mu. One that is
// attached is better than one that is not.
func (c *core) among(of choice) *Session {
	var attached, others []*Session
	for _, s := range append([]*Session{c.session}, c.further...) {
		switch {
		case !of.suits(s):
		case s.gate.isOpen():
			attached = append(attached, s)
		default:
			others = append(others, s)
		}
	}
	parents := of.parents()
	for _, some := range [][]*Session{attached, others} {
		if at := slices.IndexFunc(some, func(s *Session) bool { return s.quota.hasBelow(parents) }); at >= 0 {
			return some[at]
		}
		if len(some) > 0 {
			return some[0]
		}
	}
	return nil
}

// living counts the sessions that are not over, with core.mu.
func (c *core) living() int {
	n := 1
	for _, s := range c.further {
		if context.Cause(s.ctx) == nil {
			n++
		}
	}
	return n
}

// suits reports whether there is room in a session.
func (of *choice) suits(s *Session) bool {
	return context.Cause(s.ctx) == nil && !slices.Contains(of.except, s) && s.quota.fits(of.bytes, true)
}
