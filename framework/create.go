package framework

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

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
	onSent func() // called when the request is about to be written, for every attempt
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
	o, err := c.createOptions(path, data, mode, false, opts)
	if err != nil {
		return Created{}, err
	}
	return c.create(ctx, path, data, mode, o, nil)
}

func (c *Client) createOptions(path string, data []byte, mode Mode, protected bool, opts []CreateOption) (createOptions, error) {
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
	return o, c.checkSize("create", path, data, o.acl)
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
func (c *Client) create(ctx context.Context, path string, data []byte, mode Mode, o createOptions, late func(made Created, err error)) (Created, error) {
	made, err := do(ctx, c, request[Created]{
		op: "create", path: path, sequential: mode.sequential(), late: late,
		send: func(s *Session, path string) (Created, error) { return s.create(path, data, mode, o) },
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

// create makes the library's call, and counts the node if it is ephemeral.
func (s *Session) create(path string, data []byte, mode Mode, o createOptions) (Created, error) {
	if mode.ephemeral() {
		if err := s.quota.reserve(path); err != nil {
			return Created{}, err
		}
	}
	s.guard.ExpectCreate(path, o.onSent)
	made, err := sendCreate(s.conn, path, data, mode, o, s.convertACL(o.acl))
	zxid := s.guard.CreateEnded(path, made)
	if err != nil {
		made = ""
	}
	if mode.ephemeral() {
		s.quota.replace(path, made)
	}
	return Created{Path: made, Czxid: zxid, Session: s.ID()}, err
}

// sendCreate chooses the library's call. Its Create silently makes a persistent node
// when asked for a container.
func sendCreate(conn *zk.Conn, path string, data []byte, mode Mode, o createOptions, acl []zk.ACL) (string, error) {
	switch {
	case o.ttl != 0 && mode == PersistentSequential:
		return conn.CreateTTL(path, data, zk.FlagPersistentSequentialWithTTL, acl, o.ttl)
	case o.ttl != 0:
		return conn.CreateTTL(path, data, zk.FlagTTL, acl, o.ttl)
	case mode == Container:
		return conn.CreateContainer(path, data, zk.FlagContainer, acl)
	}
	return conn.Create(path, data, createFlags[mode], acl)
}

var createFlags = map[Mode]int32{
	Persistent:           zk.FlagPersistent,
	PersistentSequential: zk.FlagSequence,
	Ephemeral:            zk.FlagEphemeral,
	EphemeralSequential:  zk.FlagEphemeralSequential,
}

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
		default:
			return err
		}
	}
}
