package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A Config says what a Queue is a queue for.
type Config struct {
	// Client is any client; the queue picks sessions itself.
	Client *framework.Client
	// Path is the parent of the contenders' nodes.
	Path string
	// Root is the path of the recipe for errors; "" if it is Path.
	Root string
	// Recipe names the recipe, for re-entering; "" if its places are not entered
	// again.
	Recipe string
	// Shared is set if its places do not exclude each other.
	Shared bool
	// Kind is the kind of node this queue makes.
	Kind string
	// Kinds are all kinds that contend.
	Kinds []string
	// Policy decides who is admitted.
	Policy Policy
	// Size tells the size that the policy is given. It may be nil.
	Size SizeFunc
	// Who labels the holder; "" is the program's name.
	Who string
	// ID, if it is not "", is all that the nodes say about their holder.
	ID string
	// MaxHold bounds each hold; 0 is no limit.
	MaxHold time.Duration
}

// A SizeFunc tells the size of a recipe, with a watch on it if asked for one. Its
// error ends a wait.
type SizeFunc func(ctx context.Context, c *framework.Client, ask SizeAsk) (int, *framework.Watch, error)

// SizeAsk says what a size is asked for.
type SizeAsk int

// What a size can be asked for.
const (
	// Peek is for somebody who has no place in line.
	Peek SizeAsk = iota
	// Decide is for a place in line that may be admitted by the answer.
	Decide
	// Await is for a place in line that waits: the answer needs a watch.
	Await
)

// A Queue admits contenders in order. It has no state of its own and is safe for
// concurrent use.
type Queue struct {
	cfg  Config
	self lease.Holder
}

// New returns the queue. The parent is not made before somebody joins.
func New(cfg Config) *Queue { return &Queue{cfg: cfg, self: self(cfg.Who)} }

// Named returns the queue with another kind of node to make.
func (q *Queue) Named(name string) *Queue {
	named := *q
	named.cfg.Kind = name
	return &named
}

// Sized returns the queue with another way to learn the size.
func (q *Queue) Sized(size SizeFunc) *Queue {
	sized := *q
	sized.cfg.Size = size
	return &sized
}

// Key is the one of the places in this queue.
func (q *Queue) Key() hold.Key {
	return hold.Key{Client: q.cfg.Client, Path: q.fullPath(), Kind: q.cfg.Recipe, Shared: q.cfg.Shared}
}

func (q *Queue) fullPath() string { return q.cfg.Client.FullPath(q.cfg.Path) }

// root is the path of the recipe, with chroot and namespace.
func (q *Queue) root() string {
	if q.cfg.Root != "" {
		return q.cfg.Client.FullPath(q.cfg.Root)
	}
	return q.fullPath()
}

// title is root for a text.
func (q *Queue) title() string { return quote.Path(q.root()) }

// Enter re-enters the hold that ctx owns; a fork of its owner waits there for up to
// timeout until the forks before it have left. It returns nil if there is none.
func (q *Queue) Enter(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	handle, turn, err := hold.Enter(ctx, q.Key())
	if turn != nil {
		handle, err = q.await(ctx, timeout, turn)
	}
	if handle == nil || ctx.Err() == nil {
		return handle, err
	}
	_ = handle.Release() // an ended context enters nothing
	return nil, fmt.Errorf("acquire %s: %w", q.title(), context.Cause(ctx))
}

// await waits for the turn of a fork.
func (q *Queue) await(ctx context.Context, timeout time.Duration, turn *hold.Turn) (*lease.Lease, error) {
	w, cancel := q.begin(ctx, timeout)
	defer cancel()
	if w.atOnce {
		cancel()
	}
	handle, err := turn.Await(w.ctx)
	if err == nil {
		return handle, nil
	}
	switch {
	case errors.Is(err, lease.ErrLost):
		return nil, fmt.Errorf("acquire %s: %w", q.title(), err)
	case w.atOnce && ctx.Err() == nil:
		err = ErrNotFree
	}
	w.ahead, w.holder = turn.Ahead(), q.self
	return nil, w.explain(err)
}

// Acquire re-enters the hold that ctx owns, or waits for a place for up to
// timeout; 0 or less takes it only if it is free now.
func (q *Queue) Acquire(ctx context.Context, timeout time.Duration) (*lease.Lease, error) {
	if handle, err := q.Enter(ctx, timeout); handle != nil || err != nil {
		return handle, err
	}
	return q.acquire(ctx, timeout, nil)
}

// AcquireThrough waits for the first place in line, and there for the door to let
// it pass; the policy must be InLine. Without a door it waits for a place as
// Acquire does. It does not re-enter.
func (q *Queue) AcquireThrough(ctx context.Context, timeout time.Duration, door Door) (*lease.Lease, error) {
	return q.acquire(ctx, timeout, door)
}

func (q *Queue) acquire(ctx context.Context, timeout time.Duration, door Door) (*lease.Lease, error) {
	w, cancel := q.begin(ctx, timeout)
	defer cancel()
	if ctx.Err() != nil {
		return nil, w.explain(context.Cause(ctx))
	}
	w.door = door
	return w.run()
}

// begin starts the clock of a wait.
func (q *Queue) begin(ctx context.Context, timeout time.Duration) (*wait, context.CancelFunc) {
	w := &wait{queue: q, work: ctx, start: time.Now(), ahead: -1}
	ctx, stop := q.cfg.Client.WhileOpen(ctx)
	cancel := context.CancelFunc(func() {})
	switch {
	case timeout <= 0:
		w.atOnce = true
		ctx, cancel = context.WithTimeoutCause(ctx, q.patience(), errWaitOver)
	case timeout != lease.Forever:
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, errWaitOver)
	}
	w.ctx = ctx
	return w, func() {
		cancel()
		stop()
	}
}

// patience bounds an acquire that does not wait for others: it still has to ask
// the server, and a server that does not answer must not hold it up.
func (q *Queue) patience() time.Duration {
	if s := q.cfg.Client.Session(); s != nil && s.Timeout() > 0 {
		return s.Timeout() / 3
	}
	return time.Second
}

// Parse returns the contenders in a listing, in order.
func (q *Queue) Parse(children []string) []znode.Name { return q.contenders(children) }

// Names lists the contenders, in order.
func (q *Queue) Names(ctx context.Context, c *framework.Client) ([]znode.Name, error) {
	children, _, err := c.Children(ctx, q.cfg.Path)
	if err != nil && !errors.Is(err, framework.ErrNoNode) {
		return nil, err
	}
	return q.contenders(children), nil
}

// contenders are those in a listing, in order.
func (q *Queue) contenders(children []string) []znode.Name {
	return znode.Contenders(children, q.cfg.Kinds...)
}

func (q *Queue) node(name string) string {
	if q.cfg.Path == "/" {
		return "/" + name
	}
	return q.cfg.Path + "/" + name
}

// data is what a node made now says about its holder.
func (q *Queue) data() []byte {
	if q.cfg.ID != "" {
		return []byte(q.cfg.ID)
	}
	return encodeNow(q.self)
}

func (q *Queue) parseHolder(data []byte) lease.Holder { return holderOf(q.cfg.Kind, data) }
