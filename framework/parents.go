package framework

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// Recipes make their nodes below containers, which servers remove when they are not
// used, so often one has to be made first. A client remembers which it has used lately.
// For another it sends a create of the parent ahead of that of the node, over the same
// connection: that costs no round trip, and a refused transaction if the parent exists.
// Then it tries the next one without, which costs a round trip and a refused
// transaction if the parent is missing.
//
// Nothing relies on what is remembered, nor on how a create ahead ends. The server
// refuses a node without a parent; if that happens although a create was sent ahead,
// CreateParents finds out what else is missing.

// WithParents carries out the creation of a node, and makes the parents that it needs.
func (v recipeView) WithParents(ctx context.Context, path string, create func() error) error {
	all, parent := &v.core.parents, v.full(path)
	for missing := false; ; missing = true {
		ahead, known := all.look(parent, missing)
		err := v.behind(ctx, parent, ahead, known, create)
		if guessed := !known && ahead == nil; guessed && (err == nil || errors.Is(err, ErrNoNode)) {
			all.found(err == nil)
		}
		switch {
		case err == nil && (ahead != nil || !known):
			all.remember(parent)
			return nil
		case !errors.Is(err, ErrNoNode):
			return err
		case known: // it was removed since
			all.forget(parent, ahead)
		case ahead != nil:
			if err := v.CreateParents(ctx, join(path, "x")); err != nil {
				return err
			}
		}
	}
}

// behind carries out the creation of a node behind that of its parent, which another
// caller sends if the parent is known. There is none if ahead is nil.
func (c *Client) behind(ctx context.Context, parent string, ahead *ahead, known bool, create func() error) error {
	if ahead == nil {
		return create()
	}
	var answered sync.WaitGroup
	defer answered.Wait() // for what was answered before, unless ctx has ended
	if !known {
		answered.Go(func() { c.createAhead(ctx, parent, ahead) })
	}
	select {
	case <-ahead.sent.Done():
	case <-ctx.Done():
	}
	return create()
}

// createAhead makes a parent, and gives the signal when the request is on its way, or
// will not be sent.
func (c *Client) createAhead(ctx context.Context, parent string, ahead *ahead) {
	defer ahead.sent.Give()
	view := recipeView{c.bare()}.Once()
	all := &c.core.parents
	_, err := view.Create(ctx, parent, nil, all.mode(), func(o *createOptions) { o.onSent, o.joins = ahead.sent.Give, ahead.joins })
	exists := errors.Is(err, ErrNodeExists)
	switch {
	case err == nil, exists:
		all.found(exists)
	case errors.Is(err, ErrUnsupported):
		all.plain.Store(true)
	case errors.Is(err, ErrNoNode):
		all.shorten(0)
	case errors.Is(err, ErrNoAuth), OutcomeOf(err) == Unknown && ctx.Err() == nil:
		all.shorten(-1) // the server may have closed the connection because it does not know containers
	}
	if err != nil && !exists {
		all.forget(parent, ahead)
	}
}

// RecordParent records what a read has shown.
func (v recipeView) RecordParent(path string, exists bool) {
	if exists {
		v.core.parents.remember(v.full(path))
	} else {
		v.core.parents.forget(v.full(path), nil)
	}
}

// parentsLimit is how many parents a client remembers at least; at most twice as many.
// A session can have about so many ephemeral nodes.
const parentsLimit = 1 << 13

// An ahead is a create of a parent that may be under way.
type ahead struct {
	sent  signal.Signal // given when it is on its way
	joins bool          // it may join a group, and so may what is below it
}

// parents are those that a client has used lately, by a hash of their whole paths. The
// entry of one that exists is nil.
type parents struct {
	mu            sync.Mutex
	recent, older map[uint64]*ahead

	// streak counts how many that the client did not know were missing, one after
	// another; if it is negative, how many were there. While it is negative the client
	// refrains from creates ahead.
	streak int
	// plain is set if the server does not know containers, for sure.
	plain atomic.Bool
}

// longStreak is the streak from which on the client takes it for granted what is true
// of the next one, and has its create join a group. If that is wrong the whole group is
// refused.
const longStreak = 8

// found counts a parent that the client did not know.
func (p *parents) found(there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if there {
		p.streak = max(min(p.streak, 0)-1, -longStreak)
	} else {
		p.streak = min(max(p.streak, 0)+1, longStreak)
	}
}

// shorten ends a streak of missing ones: a create ahead was of no use. Below 0, the
// client refrains from the next.
func (p *parents) shorten(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streak = min(p.streak, most)
}

// joins returns the parent that a create concerns, its own path if it makes a parent:
// if it may join a group, else "". As far as the client can tell the server will not
// refuse it. Only what WithParents carries out may guess: that counts if it was right.
func (p *parents) joins(path string, mode Mode, guess bool) (parent string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch mode {
	case Container:
		return path
	case EphemeralSequential:
		parent = parentOf(path)
		ahead, known := p.find(hashOf(parent))
		if known && (ahead == nil || ahead.joins) || !known && guess && p.streak == -longStreak {
			return parent
		}
	}
	return ""
}

// find returns the entry of a parent, and whether there is one. The caller has the
// lock.
func (p *parents) find(key uint64) (entry *ahead, known bool) {
	if entry, known = p.recent[key]; !known {
		entry, known = p.older[key]
	}
	return entry, known
}

// mode returns that of a parent which is to be made.
func (p *parents) mode() Mode {
	if p.plain.Load() {
		return Persistent
	}
	return Container
}

// look returns the entry of a parent, and whether it was there. If not, there is one
// from now on, and the caller sends the create; but if the parent need not be missing,
// the client may refrain from that.
func (p *parents) look(parent string, missing bool) (entry *ahead, known bool) {
	key := hashOf(parent)
	p.mu.Lock()
	defer p.mu.Unlock()
	if entry, known = p.recent[key]; known {
		return entry, true
	}
	if entry, known = p.older[key]; !known {
		if p.streak < 0 && !missing {
			return nil, false
		}
		entry = &ahead{joins: p.streak == longStreak}
	}
	p.put(key, entry)
	return entry, known
}

// put forgets what was not used for longest when there is no more room.
func (p *parents) put(key uint64, entry *ahead) {
	if p.recent == nil || len(p.recent) >= parentsLimit {
		p.recent, p.older = map[uint64]*ahead{}, p.recent
	}
	delete(p.older, key)
	p.recent[key] = entry
}

// remember records that a parent exists.
func (p *parents) remember(parent string) {
	key := hashOf(parent)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(key, nil)
}

// forget removes the entry of a parent, unless another caller has replaced it.
func (p *parents) forget(parent string, entry *ahead) {
	key := hashOf(parent)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, entries := range []map[uint64]*ahead{p.recent, p.older} {
		if entries[key] == entry {
			delete(entries, key)
		}
	}
}
