package framework

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/retry"
)

// A Client keeps a session with a ZooKeeper ensemble and offers its operations.
// It is safe for concurrent use. Views made by Namespace and In share its
// session; closing one closes all. Connect makes it; the zero value is of no use.
type Client struct {
	core   *core
	prefix string   // chroot and namespace
	pinned *Session // nil: whatever session is present
	once   bool     // nothing is repeated
}

// core is what all views of a client share.
type core struct {
	cfg     Config
	servers *guard.Servers
	states  *timeline
	ctx     context.Context // ends when Close begins, with ErrClosed
	cancel  context.CancelCauseFunc
	tasks   tasks
	done    chan struct{} // closed when Close is complete

	patience     atomic.Int64 // nanoseconds that an orderly end may take
	keepsWatches atomic.Bool  // a server does not know how to remove one

	mu      sync.Mutex
	session *Session
	changed chan struct{} // closed and replaced when session changes
}

// Connect starts a client and waits for its first session. When ctx ends first
// the error says which addresses were tried and why each failed, is an
// ErrNotConnected, and also is the cause of ctx. A Config that makes no sense is
// refused at once with the name of the field, and so is a credential that the
// server refuses (ErrAuthFailed).
//
// ctx bounds the connecting only, not the client's life; Close ends that.
func Connect(ctx context.Context, cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	names, chroot, err := cfg.addresses()
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	c := &core{states: newTimeline(), done: make(chan struct{}), changed: make(chan struct{})}
	c.cfg = cfg
	c.patience.Store(int64(closePatience))
	c.servers = guard.NewServers(cfg.forGuard(), names)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	client := &Client{core: c, prefix: chroot}
	if cfg.Namespace != "" {
		client.prefix += "/" + cfg.Namespace
	}
	first := make(chan error, 1)
	changes := client.States(context.Background()) // before there are any
	c.tasks.start(func() { c.report(changes) })
	go c.run(first)
	select {
	case err = <-first:
	case <-ctx.Done():
		err = c.waitedInVain(ctx)
	}
	if err == nil {
		err = client.makeRoot(ctx)
	}
	if err != nil {
		c.patience.Store(int64(failedPatience))
		_ = client.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return client, nil
}

// makeRoot creates chroot and namespace when they are missing. They are plain
// persistent nodes: a chroot must not vanish because nobody uses it for a minute.
func (c *Client) makeRoot(ctx context.Context) error {
	if c.prefix == "" {
		return nil
	}
	bare := *c
	bare.prefix = ""
	if err := bare.makePath(ctx, c.prefix, Persistent); err != nil {
		return fmt.Errorf("create root %s: %w", quote.Path(c.prefix), err)
	}
	return nil
}

// Close ends all leases with a loss that is an ErrClosed, then waits for them to be
// released, but at most for Config.CloseGrace, and then ends the session on the server,
// which frees their places, if it can be reached within a second. From its beginning
// nothing is acquired any more, and operations fail with ErrClosed, except those of
// leases and of views that are pinned to the session (In), which end with it.
//
// It waits for everything that runs in the client's name. Only for functions of the
// caller's that do not come back it does not wait for ever: Config.Dial, and the Close
// of a connection that came from there, are left behind after some seconds.
//
// It is idempotent and must not be called from an Observer or from a function run by
// Session.Go.
func (c *Client) Close() error {
	c.core.cancel(ErrClosed)
	<-c.core.done
	return nil
}

// Session returns the present session, or the last one if it is over and its
// successor does not exist yet.
func (c *Client) Session() *Session {
	if c.pinned != nil {
		return c.pinned
	}
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	return c.core.session
}

// AwaitSession waits until a session is attached to a server and returns it. It
// fails when ctx ends, the client is closed, or the view is pinned to a session
// that is over.
func (c *Client) AwaitSession(ctx context.Context) (*Session, error) {
	if c.pinned != nil {
		return c.pinned, c.pinned.await(ctx)
	}
	return c.core.await(ctx)
}

// Reachable returns nil while the present session is attached to a server. Else the
// error is a *ConnectError, an ErrNotConnected, which says which addresses were tried and
// why each failed, or ErrClosed, or on a view that is pinned to a session the reason for
// its end. It asks no server.
func (c *Client) Reachable() error {
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
	return notConnected(c.core.servers.Attempts())
}

// WhileOpen returns a context that also ends when Close begins, with ErrClosed, for what
// must not go on while leases are given up. The function must be called when it is no
// longer used.
func (c *Client) WhileOpen(ctx context.Context) (context.Context, context.CancelFunc) {
	bare := *c
	bare.pinned = nil
	return bare.lifetime(ctx)
}

// In returns a view of the client that is pinned to a session: its operations
// fail with ErrSessionLost once that session is over, and are never sent or
// repeated in another.
func (c *Client) In(s *Session) *Client {
	view := *c
	view.pinned = s
	return &view
}

// Once returns a view of the client that repeats nothing: what fails is not tried
// again, nor are reads whose answer is lost.
func (c *Client) Once() *Client {
	view := *c
	view.once = true
	return &view
}

// StopOnSuspend reports the setting of that name.
func (c *Client) StopOnSuspend() bool { return c.core.cfg.StopOnSuspend }

// Logger returns the one of the configuration.
func (c *Client) Logger() *slog.Logger { return c.core.cfg.Logger }

// SameEnsemble reports whether two clients share one session, so that equal
// full paths name the same znode to them.
func (c *Client) SameEnsemble(other *Client) bool { return c.core == other.core }

// run makes one session after the other until the client is closed. It is the
// owner of all of them.
func (c *core) run(first chan<- error) {
	defer close(c.done)
	for c.ctx.Err() == nil {
		s, err := newSession(c)
		if err == nil {
			err = s.establish(c.ctx)
			if err == nil {
				c.publish(s)
				offer(first, nil)
				c.live(s)
			} else {
				if !errors.Is(err, ErrSessionLost) && !errors.Is(err, ErrClosed) {
					s.guard.NotReady(err)
				}
				s.shutDown(err)
			}
			c.dispose(s)
		}
		if err != nil && c.ctx.Err() == nil && !errors.Is(err, ErrSessionLost) {
			// Refused credentials: Connect gives up at once. Later it may be the
			// servers' configuration that changes, so it is tried again.
			offer(first, err)
			c.cfg.Logger.Error("no zookeeper session", "error", err)
			_ = retry.Sleep(c.ctx, time.Second)
		}
	}
	c.states.add(StateChange{State: Closed, At: time.Now()})
	c.tasks.wait()
	c.servers.AwaitCallbacks()
}

func offer(first chan<- error, err error) {
	select {
	case first <- err:
	default:
	}
}

// live waits for a session's end, or brings it about when the client closes.
func (c *core) live(s *Session) {
	select {
	case <-s.Done():
		c.lost(s)
		return
	case <-c.ctx.Done():
	}
	s.part(c.cfg.CloseGrace)
	if s.Err() != nil { // lost meanwhile: who worked there is given the time that he was promised
		c.lost(s)
		return
	}
	s.shutDown(ErrClosed)
}

func (c *core) lost(s *Session) {
	c.states.add(StateChange{State: Lost, Session: s.ID(), At: time.Now(), Err: context.Cause(s.ctx)})
}

// dispose waits for all that belongs to a session that is over. A session that
// the server may still hold is closed there, so that its ephemeral nodes go at
// once and not only when it times out.
func (c *core) dispose(s *Session) {
	c.tasks.start(func() {
		defer close(s.disposed)
		s.guard.Seal()
		s.guard.Finish()
		s.tasks.wait()
		if errors.Is(context.Cause(s.ctx), ErrTrustExpired) {
			s.guard.Bury(c.ctx)
		}
	})
}

func (c *core) publish(s *Session) {
	c.mu.Lock()
	c.session = s
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	s.gate.tell(gatePresented)
}

// connected and suspended are called under the lock of the present session's gate.

func (c *core) connected(s *Session) {
	c.states.add(StateChange{State: Connected, Session: s.ID(), At: time.Now()})
}

func (c *core) suspended(s *Session, cause error) {
	if context.Cause(s.ctx) != nil {
		return
	}
	c.states.add(StateChange{State: Suspended, Session: s.ID(), At: time.Now(), Err: cause})
}

// waitedInVain is the error of a wait for a connection that ctx has ended: it is
// both the cause of ctx and the failures at the addresses.
func (c *core) waitedInVain(ctx context.Context) error {
	return fmt.Errorf("%w: %w", context.Cause(ctx), notConnected(c.servers.Attempts()))
}

// lastFailure tells of the newest attempt that has failed.
func (c *core) lastFailure() error {
	if all := c.servers.Attempts(); len(all) > 0 {
		return notConnected(all[len(all)-1:])
	}
	return ErrNotConnected
}

// await waits for a session to which requests may be sent.
func (c *core) await(ctx context.Context) (*Session, error) {
	for {
		if err := context.Cause(c.ctx); err != nil {
			return nil, err
		}
		c.mu.Lock()
		s, changed := c.session, c.changed
		c.mu.Unlock()
		if s != nil {
			err := s.await(ctx)
			switch {
			case err == nil:
				return s, nil
			case ctx.Err() == nil:
			case s.Err() == nil:
				return nil, err
			default: // over, and there is no other
				return nil, c.waitedInVain(ctx)
			}
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, c.waitedInVain(ctx)
		}
	}
}

// report passes state changes to the log and the observer.
func (c *core) report(changes iter.Seq[StateChange]) {
	for change := range changes {
		attrs := []any{"state", change.State.String()}
		if change.Session != 0 {
			attrs = append(attrs, "session", fmt.Sprintf("0x%x", uint64(change.Session)))
		}
		if change.Err != nil {
			attrs = append(attrs, "error", change.Err)
		}
		if change.State == Suspended || change.State == Lost {
			c.cfg.Logger.Warn("zookeeper session", attrs...)
		} else {
			c.cfg.Logger.Info("zookeeper session", attrs...)
		}
		if f := c.cfg.Observer.StateChanged; f != nil {
			f(change)
		}
	}
}
