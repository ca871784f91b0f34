package framework

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/quote"
)

// A Client keeps a session with a ZooKeeper ensemble and offers its operations. It is
// safe for concurrent use. Views made by Namespace and In share its session; closing
// one closes all. Connect makes it. Methods of a zero or nil Client return an
// ErrInvalidArgument, or panic with it if they return no error.
type Client struct {
	core    *core
	prefix  string      // chroot and namespace
	pinned  *Session    // nil: the present main session
	recipe  bool        // of a recipe, in one session: see catch_up.go
	once    bool        // nothing is repeated
	failing func(error) // is called for each attempt that is repeated; nil for nothing
}

// Connect starts a client and waits for its first session. When ctx ends first the
// error is an ErrNotConnected that says which addresses were tried and why each failed,
// and also the cause of ctx. Two errors come at once: a *ConfigError for a Config that
// makes no sense, and ErrAuthFailed for a credential that the server refuses.
//
// ctx bounds the connecting only, not the client's life; Close ends that.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	names, chroot, err := cfg.addresses()
	if err := errors.Join(err, cfg.validateRest()); err != nil {
		return nil, err
	}
	c := &core{
		cfg: cfg.withDefaults(), names: names, states: newTimeline(), observers: newObservers(cfg.Observers),
		done: make(chan struct{}), changed: make(chan struct{}),
	}
	c.closeLimit.Store(int64(closeLimit))
	c.servers = guard.NewServers(c.cfg.forGuard(), names)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	client := &Client{core: c, prefix: chroot}
	if cfg.Namespace != "" {
		client.prefix += "/" + cfg.Namespace
	}
	first := make(chan error, 1)
	begun := c.states.last // before there are others
	c.tasks.start(func() { c.report(begun) })
	go c.run(first)
	select {
	case err = <-first:
	case <-ctx.Done():
		err = waitEnded(ctx, c.servers)
	}
	if err == nil {
		err = client.makeRoot(ctx)
	}
	if err != nil {
		c.closeLimit.Store(int64(failedCloseLimit))
		_ = client.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return client, nil
}

// makeRoot creates chroot and namespace when they are missing. They are plain
// persistent nodes: a chroot must not vanish when it is not used for a minute.
func (c *Client) makeRoot(ctx context.Context) error {
	if c.prefix == "" {
		return nil
	}
	if err := c.bare().makePath(ctx, c.prefix, Persistent); err != nil {
		return fmt.Errorf("create root %s: %w", quote.Path(c.prefix), err)
	}
	return nil
}

// Close ends all leases with a loss that is an ErrClosed. Then it waits until they are
// released, but at most for Config.CloseGrace. Then it ends the session on the server,
// which frees what the leases held, if the server can be reached within a second. As
// soon as it begins nothing is acquired any more, and operations fail with ErrClosed,
// except those of leases and of views that are pinned to the session (In), which end
// with it.
//
// It waits for all goroutines of the client. Only functions of the caller's that do not
// return are not waited for without limit: Config.Dial, and the Close of a connection
// that came from there, are left behind after some seconds.
//
// It is idempotent and must not be called from an Observer or from a function run by
// Session.Go.
func (c *Client) Close() error {
	if err := c.usable(); err != nil {
		return err
	}
	c.core.cancel(ErrClosed)
	c.core.closing.begin(ErrClosed)
	<-c.core.done
	return nil
}

// Session returns the present main session, or the last one if it is over and the next
// does not exist yet. AwaitSession waits for the next.
func (c *Client) Session() *Session {
	c.mustBeUsable()
	if c.pinned != nil {
		return c.pinned
	}
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.session
}

// AwaitSession waits until the main session is attached to a server and returns it. It
// fails when ctx ends, the client is closed, or the view is pinned to a session that is
// over.
func (c *Client) AwaitSession(ctx context.Context) (*Session, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	if c.pinned != nil {
		return c.pinned, c.pinned.await(ctx)
	}
	return c.core.await(ctx)
}

// Reachable returns nil while the main session is attached to a server. Else it
// returns a *ConnectError, which says which addresses were tried and why each failed,
// or ErrClosed, or on a view that is pinned to a session that is over the reason for
// its end. It sends nothing, so it suits a readiness probe.
func (c *Client) Reachable() error {
	if err := c.usable(); err != nil {
		return err
	}
	if err := context.Cause(c.core.ctx); err != nil {
		return err
	}
	s := c.Session()
	switch {
	case s != nil && s.gate.isOpen():
		return nil
	case c.pinned != nil && s.Err() != nil:
		return s.Err()
	}
	if c.pinned != nil {
		return notConnected(s.servers.Attempts())
	}
	return notConnected(c.core.servers.Attempts())
}

// In returns a view of the client that is pinned to a session: its operations fail with
// ErrSessionLost once that session is over. They are never sent in another. In(nil)
// returns one that is not pinned.
func (c *Client) In(s *Session) *Client {
	c.mustBeUsable()
	view := *c
	view.pinned = s
	return &view
}

// bare returns a view without chroot and namespace.
func (c *Client) bare() *Client {
	view := *c
	view.prefix = ""
	return &view
}
