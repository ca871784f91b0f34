package framework

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/zkrecipes/zkrecipes/internal/protection"
	"github.com/zkrecipes/zkrecipes/retry"
)

// CreateProtected makes an ephemeral or sequential node, and leaves none behind on
// failure. The name begins with "_c_" and a random id, by which the node is found again
// when the server's answer was dropped. If ctx or the session has ended meanwhile, the
// node is removed in the background. All of that happens in one session, the present
// one or that of the view.
//
// Besides the errors of Create it returns ErrSessionLost, with nothing left that
// outlives that session, and the cause of ctx. The source of the method is
// ZOOKEEPER-1262 and Curator's protected mode; unlike the latter it searches only after
// a sync, only in the session of the create, and checks the owner.
//
// With credentials in Config.Auth, and without Config.ACL, an ephemeral node belongs to
// those credentials, and other clients may only read it.
func (c *Client) CreateProtected(ctx context.Context, path string, data []byte, mode Mode, opts ...CreateOption) (Created, error) {
	return c.createProtected(ctx, path, data, mode, opts, nil, nil)
}

// CreateSent is CreateProtected that says when each attempt is sent, for WithParents.
func (v recipeView) CreateSent(ctx context.Context, path string, data []byte, mode Mode, sent, behind func()) (Created, error) {
	return v.createProtected(ctx, path, data, mode, nil, sent, behind)
}

// createProtected calls sent and behind for every attempt, unless they are nil.
func (c *Client) createProtected(ctx context.Context, path string, data []byte, mode Mode, opts []CreateOption, sent, behind func()) (Created, error) {
	if !mode.sequential() && !mode.ephemeral() {
		err := invalid("a protected node must be ephemeral or sequential")
		return Created{}, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	p, err := c.protect(ctx, path, mode)
	if err != nil {
		return Created{}, err
	}
	o, err := c.createOptions(p.path, mode, true, opts)
	if err != nil {
		return Created{}, err
	}
	o.onSent, o.behind, o.guess = sent, behind, sent != nil
	made, err := p.create(ctx, data, o)
	if err == nil {
		return made, nil
	}
	all, err := p.untilKnown(ctx, err, func() ([]Created, error) {
		made, err := p.create(ctx, data, o)
		return []Created{made}, err
	})
	if err != nil {
		return Created{}, err
	}
	return p.first(all), nil
}

// create makes one attempt to make one node. What may have been carried out before does
// not join a group.
func (p *protected) create(ctx context.Context, data []byte, o createOptions) (Created, error) {
	o.joins = p.pauses == nil
	return p.client.create(ctx, p.path, data, p.mode, o, p.lateNode)
}

// CreateProtectedAll makes n nodes under one random id, in one transaction.
func (v recipeView) CreateProtectedAll(ctx context.Context, path string, data []byte, n int, behind func(), others ...Op) ([]Created, error) {
	if n < 1 {
		err := invalid("%d nodes", n)
		return nil, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	p, err := v.protect(ctx, path, EphemeralSequential)
	if err != nil {
		return nil, err
	}
	each := CreateOp(p.path, data, EphemeralSequential, WithACL(v.core.cfg.protectedACL(v.full(p.path))))
	ops := append(slices.Repeat([]Op{each}, n), others...)
	attempt := func() ([]Created, error) {
		zxid, results, err := p.client.multi(ctx, ops, behind, p.late)
		if err != nil {
			return nil, err
		}
		made := make([]Created, n)
		for i := range made {
			made[i] = Created{Path: results[i].Path, Czxid: zxid, Session: p.session.ID()}
		}
		return made, nil
	}
	made, err := attempt()
	if err != nil {
		made, err = p.untilKnown(ctx, err, attempt)
	}
	if err == nil && len(made) != n { // found again, but not all of them
		p.client.removeInBackground(p.parent, p.id, p.mode)
		return nil, &OpError{Op: "create", Path: path, Session: p.session.ID(), Outcome: Failed, Err: ErrNoNode}
	}
	if err == nil {
		p.removed(others)
	}
	return made, err
}

// removed counts the nodes that were removed in the same transaction, whose answer may
// have been dropped.
func (p *protected) removed(others []Op) {
	for _, op := range others {
		if op.kind == opRemoves {
			p.session.gone(p.client.full(op.path))
		}
	}
}

// A protected is the making of nodes under one id, in one session.
type protected struct {
	client  *Client // pinned to session
	session *Session
	id      protection.ID
	parent  string
	path    string // to ask for
	mode    Mode
	pauses  *retry.Schedule // nil until an attempt had an unknown outcome
}

func (c *Client) protect(ctx context.Context, path string, mode Mode) (*protected, error) {
	if err := validatePath(path, true); err != nil {
		return nil, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	s, err := c.AwaitSession(ctx)
	if err != nil {
		return nil, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	id, err := protection.New(c.core.cfg.random)
	if err != nil {
		return nil, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	if c.pinned != s {
		c = c.In(s)
	}
	name := strings.LastIndexByte(path, '/') + 1
	return &protected{
		client: c, session: s, id: id, mode: mode,
		parent: parentOf(path), path: id.Path(path[:name], path[name:]),
	}, nil
}

// untilKnown attempts to make the nodes, after a first attempt that has failed, until
// it is known that they are made, or that they are not and never will be, or leaves
// them to late or to the background.
func (p *protected) untilKnown(ctx context.Context, err error, attempt func() ([]Created, error)) (made []Created, _ error) {
	for left := (leftError{}); ; made, err = attempt() {
		outcome := OutcomeOf(err)
		if outcome == Done || outcome == Failed && p.pauses == nil || errors.As(err, &left) {
			return made, err
		}
		// After an attempt without an answer, a refusal may mean that the attempt was
		// carried out: the name is taken, or what else it was to remove is gone.
		over := p.session.Err()
		if p.pauses == nil {
			p.pauses = p.client.core.cfg.Reconnect.Start()
		} else { // a server may answer at once, each time
			over = p.client.pause(ctx, p.pauses)
		}
		if ctx.Err() != nil || over != nil {
			p.client.removeInBackground(p.parent, p.id, p.mode)
			// The attempt may have ended before the session was known to be over.
			return nil, errors.Join(err, over)
		}
		found, lookErr := p.client.listProtected(ctx, p.parent, p.id, p.mode)
		switch {
		case lookErr != nil:
			p.client.removeInBackground(p.parent, p.id, p.mode)
			return nil, errors.Join(err, lookErr)
		case len(found) > 0:
			return found, nil
		case outcome == Failed && !errors.Is(err, ErrNodeExists), unreadable(err):
			return nil, err
		}
	}
}

// first returns the one node that counts. There are several if a create whose answer
// was dropped was carried out after all; the others are removed.
func (p *protected) first(all []Created) Created {
	first := all[0]
	for _, other := range all[1:] {
		p.client.deleteInBackground(other.Path)
	}
	return first
}

// lateNode removes the node that was made for a call that has returned already.
func (p *protected) lateNode(made Created, outcome Outcome) { p.late([]string{made.Path}, outcome) }

// late does that for several nodes. If any may have been made without an answer, also
// by an earlier attempt, they are searched for. So are those that outlive the session:
// their deletion may end with it. But when Close has begun, only that still works.
func (p *protected) late(made []string, outcome Outcome) {
	switch {
	case outcome == Failed && p.pauses == nil:
		return
	case outcome == Done:
		for _, path := range made {
			p.client.deleteInBackground(p.client.local(path))
		}
	}
	if outcome != Done || p.pauses != nil || !p.mode.ephemeral() {
		p.client.removeInBackground(p.parent, p.id, p.mode)
	}
}

// listProtected returns the nodes made under an id, the oldest first, as a server shows
// them that knows every write before the call.
func (c *Client) listProtected(ctx context.Context, parent string, id protection.ID, mode Mode) ([]Created, error) {
	if err := c.Sync(ctx, parent); err != nil {
		return nil, err
	}
	names, _, err := c.Children(ctx, parent)
	if errors.Is(err, ErrNoNode) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Created
	for _, name := range names {
		if !id.Marks(name) {
			continue
		}
		path := join(parent, name)
		exists, stat, err := c.Exists(ctx, path)
		if err != nil {
			return nil, err
		}
		if !exists || (mode.ephemeral() && stat.EphemeralOwner != c.pinned.ID()) {
			continue
		}
		if mode.ephemeral() {
			c.pinned.quota.found(c.full(path))
		}
		found = append(found, Created{Path: path, Czxid: stat.Czxid, Session: stat.EphemeralOwner})
	}
	slices.SortFunc(found, func(a, b Created) int {
		return cmp.Or(cmp.Compare(a.Czxid, b.Czxid), strings.Compare(a.Path, b.Path))
	})
	return found, nil
}
