package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// Mode is the kind of node that a create makes.
type Mode int

// The modes of a create.
const (
	// Persistent nodes stay until deleted.
	Persistent Mode = iota
	// PersistentSequential is Persistent, with a number appended to the name.
	PersistentSequential
	// Ephemeral nodes vanish with the session that made them.
	Ephemeral
	// EphemeralSequential is Ephemeral, with a number appended to the name.
	EphemeralSequential
	// Container nodes are removed by the server some time after their last child was.
	Container
)

// String returns the mode's name.
func (m Mode) String() string {
	return nameOf(m, "mode", "persistent", "persistent sequential", "ephemeral", "ephemeral sequential", "container")
}

func (m Mode) sequential() bool { return m == PersistentSequential || m == EphemeralSequential }
func (m Mode) ephemeral() bool  { return m == Ephemeral || m == EphemeralSequential }

// A Created is the result of a create.
type Created struct {
	// Path is the node's path, with the number appended if it is sequential.
	Path string
	// Czxid is the id of the transaction that created the node.
	Czxid int64
	// Session is the id of the session that created it, and owns it if it is ephemeral.
	Session int64
}

// A CreateOption changes what a create does.
type CreateOption func(*createOptions)

type createOptions struct {
	acl    []ACL
	ttl    time.Duration
	onSent func() // called when the request has its place among others, for every attempt
	behind func() // called after that, without a lock
	joins  bool   // it may join a group
	guess  bool   // also if the parent is not known
}

func chosen(opts []CreateOption) createOptions {
	if len(opts) == 0 {
		return createOptions{}
	}
	var o createOptions
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithACL gives the node this ACL instead of the one Config.ACL returns.
func WithACL(acl []ACL) CreateOption { return func(o *createOptions) { o.acl = acl } }

// WithTTL lets the server delete a Persistent or PersistentSequential node when it has
// had no children and no change for that time, in milliseconds precision. Servers must
// be configured to allow it; others answer ErrUnsupported.
func WithTTL(ttl time.Duration) CreateOption { return func(o *createOptions) { o.ttl = ttl } }

// Create makes a node. Errors: ErrNodeExists, ErrNoNode if the parent is missing (see
// CreateParents), ErrNoChildrenForEphemerals, ErrTooLarge, ErrTooManyEphemerals,
// ErrUnsupported. After an unknown outcome the node may exist; CreateProtected finds
// out for ephemeral and sequential ones.
func (c *Client) Create(ctx context.Context, path string, data []byte, mode Mode, opts ...CreateOption) (Created, error) {
	o, err := c.createOptions(path, mode, false, opts)
	if err != nil {
		return Created{}, err
	}
	return c.create(ctx, path, data, mode, o, nil)
}

func (c *Client) createOptions(path string, mode Mode, protected bool, opts []CreateOption) (createOptions, error) {
	o := chosen(opts)
	err := cmp.Or(c.usable(), validatePath(path, mode.sequential()))
	switch {
	case err != nil || o.acl != nil:
	case protected && mode.ephemeral():
		o.acl = c.core.cfg.protectedACL(c.full(path))
	default:
		o.acl = c.core.cfg.ACL(c.full(path))
	}
	if err = cmp.Or(err, validateACL(o.acl), o.validate(mode)); err != nil {
		return o, &OpError{Op: "create", Path: path, Outcome: Failed, Err: err}
	}
	return o, nil
}

func (o createOptions) validate(mode Mode) error {
	switch {
	case mode < Persistent || mode > Container:
		return invalid("mode %d", int(mode))
	case o.ttl == 0:
	case mode != Persistent && mode != PersistentSequential:
		return invalid("a %v node cannot have a time to live", mode)
	case o.ttl < time.Millisecond || o.ttl.Milliseconds() > maxTTLMillis:
		return invalid("time to live %v", o.ttl)
	}
	return nil
}

// maxTTLMillis is the largest time to live that the server can encode.
const maxTTLMillis = 0x00ffffffffff

// create sends one create request, and repeats it only if it certainly had no effect.
// late gets the node, by its path on the server, if the call has returned already.
func (c *Client) create(ctx context.Context, path string, data []byte, mode Mode, o createOptions, late func(made Created, outcome Outcome)) (Created, error) {
	made, err := do(ctx, c, request[Created]{
		op: "create", path: path, sequential: mode.sequential(), late: late,
		start: func(s *Session, path string) (attempt[Created], error) { return s.create(path, data, mode, o) },
	})
	if err != nil {
		var op *OpError
		if errors.As(err, &op) {
			op.Err = explainACL(op.Err, o.acl)
		}
		return Created{}, err
	}
	made.Path = c.local(made.Path)
	return made, nil
}

// create is an attempt to create a node, which counts if it is ephemeral.
func (s *Session) create(path string, data []byte, mode Mode, o createOptions) (a attempt[Created], err error) {
	if mode.ephemeral() {
		if err := s.quota.reserve(path); err != nil {
			return a, err
		}
	}
	a.code, a.record = createRequest(path, data, mode, o)
	a.sent, a.behind = o.onSent, o.behind
	if o.joins {
		a.joins = s.core.parents.joins(path, mode, o.guess)
	}
	a.finish = func(a guard.Answer, err error) (made Created, _ error) {
		if err == nil {
			made = Created{Path: jute.NewDecoder(a.Body).String(), Czxid: a.Zxid, Session: s.ID()}
		}
		if mode.ephemeral() {
			s.quota.replace(path, made.Path)
		}
		return made, err
	}
	return a, nil
}

// createRequest returns the operation and the record of a create.
func createRequest(path string, data []byte, mode Mode, o createOptions) (code int32, record []byte) {
	if o.ttl != 0 {
		e := createRecord(path, data, o.acl, ttlFlags[mode])
		e.Int64(o.ttl.Milliseconds())
		return guard.OpCreateTTL, e.Bytes()
	}
	if code = guard.OpCreate; mode == Container {
		code = guard.OpContainer
	}
	return code, createRecord(path, data, o.acl, createFlags[mode]).Bytes()
}

// The numbers of the protocol for what is created.
var (
	createFlags = map[Mode]int32{Persistent: 0, Ephemeral: 1, PersistentSequential: 2, EphemeralSequential: 3, Container: 4}
	ttlFlags    = map[Mode]int32{Persistent: 5, PersistentSequential: 6}
)

// CreateParents makes all missing nodes above path, as containers if the server knows
// them, so that they go when they are not used any more.
func (c *Client) CreateParents(ctx context.Context, path string) error {
	if err := cmp.Or(c.usable(), validatePath(path, true)); err != nil {
		return &OpError{Op: "create parents of", Path: path, Outcome: Failed, Err: err}
	}
	parent := parentOf(c.full(path))
	if parent == "/" {
		return nil
	}
	if err := c.bare().makePath(ctx, parent, c.core.parents.mode()); err != nil { // above the namespace, too
		return fmt.Errorf("create parents of %s: %w", quote.Path(path), err)
	}
	c.core.parents.remember(parent)
	return nil
}

// makePath creates a node and what is missing above it. It tries the bottom first, so
// that it needs no permission on nodes that exist. A container may be removed between
// the creation of two levels; then it starts again.
func (c *Client) makePath(ctx context.Context, path string, mode Mode) error {
	for {
		err := c.makeNode(ctx, path, mode)
		if !errors.Is(err, ErrNoNode) || path == "/" {
			return err
		}
		if err := c.makePath(ctx, parentOf(path), mode); err != nil {
			return err
		}
	}
}

// makeNode creates a node without data unless it exists. A create whose outcome is
// unknown may be repeated: that it exists is all that matters.
func (c *Client) makeNode(ctx context.Context, path string, mode Mode) error {
	pauses := c.core.cfg.Reconnect.Start()
	for unknown := 0; ; {
		if exists, _, err := c.Exists(ctx, path); err != nil || exists {
			return err
		}
		_, err := c.Create(ctx, path, nil, mode)
		switch {
		case err == nil, errors.Is(err, ErrNodeExists):
			return nil
		case ctx.Err() != nil:
			return err
		case mode == Container && errors.Is(err, ErrUnsupported):
			mode = Persistent
			c.core.parents.plain.Store(true)
		case errors.Is(err, ErrUnknownOutcome) && !c.endedBy(err):
			// A server that does not know the operation may also just hang up.
			if unknown++; unknown >= 3 && mode == Container {
				mode = Persistent
			}
			if over := c.pause(ctx, pauses); over != nil {
				return errors.Join(err, over)
			}
		default:
			return err
		}
	}
}
