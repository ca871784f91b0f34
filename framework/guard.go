package framework

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A guard makes a zk.Conn serve exactly one session. It is the library's dialer
// and host provider: it finds servers, paces attempts, lets the library attach
// to one session only, and once sealed lets it do nothing any more.
type guard struct {
	cfg    *Config
	book   *addressBook
	trust  *trust
	events guardEvents

	creates createWatch
	zxid    atomic.Int64          // the greatest that was seen
	vouches atomic.Int32          // how often a quorum was asked to vouch
	broken  atomic.Pointer[error] // why the newest connection that has broken did

	mu       sync.Mutex
	conn     *guardConn // the present connection, nil between two
	latest   *guardConn // the newest, also when it is closed
	id       int64      // 0 until the first handshake
	password []byte
	isSealed bool

	parked      chan struct{}   // closed when the library has come to the dialer after that
	release     chan struct{}   // closed when it may leave it for good
	closed      chan struct{}   // closed when the server has answered our close request
	ctx         context.Context // ends with retire
	cancel      context.CancelFunc
	parkedOnce  sync.Once
	closedOnce  sync.Once
	releaseOnce sync.Once
}

// guardEvents is what a guard tells its session. The functions must not block.
type guardEvents interface {
	established(id int64, timeout time.Duration, asked time.Time)
	ended(cause error)
	suspended(cause error)
	settingWatches()
	watchesRestored(ok bool)
	reliedNext() []*reliedNode // those to be checked next, none if nothing relies on the session
	notThere(n *reliedNode, err error)
	watchKept(key watchKey, always bool) // it was not removed, or never will be any
	wake()
}

func newGuard(cfg *Config, book *addressBook, t *trust, events guardEvents) *guard {
	g := &guard{
		cfg: cfg, book: book, trust: t, events: events,
		parked: make(chan struct{}), release: make(chan struct{}), closed: make(chan struct{}),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// handshakeLimit bounds dialing and handshake together, so that one paused
// server costs at most a sixth of the session.
func (g *guard) handshakeLimit() time.Duration {
	t := g.cfg.SessionTimeout
	if n := g.trust.least(); n != 0 {
		t = n
	}
	return min(t/6, 2*time.Second)
}

var errSealed = errors.New("session is over")

// dial is the library's dialer. The address it asks for is a placeholder: which
// server is next, and how long to wait before trying it, is the book's business.
func (g *guard) dial(_, _ string, _ time.Duration) (net.Conn, error) {
	addr, err := g.book.next(g.ctx)
	if err != nil {
		return nil, g.refuse()
	}
	deadline := time.Now().Add(g.handshakeLimit())
	ctx, cancel := context.WithDeadline(g.ctx, deadline)
	defer cancel()
	g.book.trying(addr.String())
	conn, err := g.book.dial(ctx, addr)
	if err != nil {
		if g.ctx.Err() != nil {
			return nil, g.refuse()
		}
		g.book.failed(addr.String(), err)
		return nil, err
	}
	gc := newGuardConn(g, addr.String(), conn, deadline)
	g.mu.Lock()
	old := g.latest
	g.mu.Unlock()
	if old != nil {
		// The library may be back before it has closed what broke. The session must
		// hear of the end of one connection before the beginning of the next.
		_ = old.Close()
		<-old.told
		old.awaitEnd()
	}
	g.mu.Lock()
	sealed := g.isSealed
	if !sealed {
		g.conn, g.latest = gc, gc
	}
	g.mu.Unlock()
	if sealed {
		_ = gc.Close()
		return nil, g.refuse()
	}
	return gc, nil
}

// refuse parks the library until Close has been called on it; see Session.finish.
func (g *guard) refuse() error {
	g.parkedOnce.Do(func() { close(g.parked) })
	<-g.release
	return errSealed
}

// Init, Len, Next and Connected make the guard a zk.HostProvider. Next says
// "start over", which makes the library fail what it has queued and look whether
// it was closed, only when the library was let go; its fixed pause of a second
// between rounds is thus never taken.

// Init does nothing.
func (g *guard) Init([]string) error { return nil }

// Len returns 1: there is one placeholder.
func (g *guard) Len() int { return 1 }

// Next returns the placeholder.
func (g *guard) Next() (server string, retryStart bool) {
	select {
	case <-g.release:
		return "zookeeper", true
	default:
		return "zookeeper", false
	}
}

// Connected does nothing; the handshake tells more.
func (g *guard) Connected() {}

// leastTimeout is the least that a server may negotiate: the library's and our
// timers are fractions of it.
const leastTimeout = 10 * time.Millisecond

// handshake decides on a connect reply.
func (g *guard) handshake(c *guardConn, r connectReply, asked time.Time) error {
	timeout := time.Duration(r.timeoutMillis) * time.Millisecond
	if r.session != 0 && timeout < leastTimeout {
		return fmt.Errorf("%w: session timeout %v", errShortFrame, timeout)
	}
	g.mu.Lock()
	known := g.id
	switch {
	case g.isSealed:
		g.mu.Unlock()
		return errSealed
	case r.session != 0 && known == 0:
		g.id, g.password = r.session, r.password
	}
	g.mu.Unlock()
	switch {
	case r.session == 0:
		g.events.ended(ErrSessionExpired)
		return ErrSessionExpired
	case known != 0 && r.session != known:
		g.events.ended(ErrSessionReplaced)
		return ErrSessionReplaced
	}
	g.book.attached(c.addr)
	g.events.established(r.session, timeout, asked)
	return nil
}

// lastAddr returns the address of the newest connection, "" if there was none.
func (g *guard) lastAddr() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.latest == nil {
		return ""
	}
	return g.latest.addr
}

// broke notes why the connection broke. If we did that, it is our reason: the
// socket only knows that it was closed. What shows after it was closed is no reason.
func (c *guardConn) broke(err error) {
	if c.isClosed.Load() {
		return
	}
	if cause := c.dropped.Load(); cause != nil {
		err = *cause
	} else if !c.isAttached() {
		err = c.explainHandshake(err)
	}
	refused := c.isAttached() && c.guard.book.refuses(c.addr) // which then hangs up
	if c.guard.ctx.Err() == nil && !refused {
		c.guard.book.failed(c.addr, err)
	}
	err = fmt.Errorf("connection to %s broke: %v", c.addr, err) //nolint:errorlint // as text: see ConnectError
	c.guard.broken.Store(&err)
}

// detached notes that a connection is gone.
func (g *guard) detached(c *guardConn) {
	g.mu.Lock()
	present := g.conn == c
	if present {
		g.conn = nil
	}
	g.mu.Unlock()
	if present {
		g.events.suspended(g.book.lastFailure())
	}
}

// saw notes a zxid. A server that has not come as far is not to be attached to again: it
// may follow a leader of the past. The library remembers only what it reads.
func (g *guard) saw(zxid int64) {
	for {
		if seen := g.zxid.Load(); zxid <= seen || g.zxid.CompareAndSwap(seen, zxid) {
			return
		}
	}
}

func (g *guard) watchesSet(code int32) { g.events.watchesRestored(code == 0) }

func (g *guard) closeAnswered() { g.closedOnce.Do(func() { close(g.closed) }) }

// live returns the present connection if its handshake is complete.
func (g *guard) live() *guardConn {
	g.mu.Lock()
	c := g.conn
	g.mu.Unlock()
	if c == nil || !c.isAttached() {
		return nil
	}
	return c
}

// drop breaks the present connection; the library attaches anew.
func (g *guard) drop(cause error) {
	g.mu.Lock()
	c := g.conn
	g.mu.Unlock()
	if c != nil {
		c.dropped.Store(&cause)
		c.broke(cause)
		_ = c.Close()
	}
}

// retire makes the present connection the last one.
func (g *guard) retire() {
	g.mu.Lock()
	g.isSealed = true
	g.mu.Unlock()
	g.cancel()
}

// seal ends all traffic for good. It is idempotent.
func (g *guard) seal() {
	g.retire()
	g.mu.Lock()
	c := g.conn
	g.mu.Unlock()
	if c != nil {
		_ = c.Close()
	}
}

// letGo lets the parked library run into the end of its loop.
func (g *guard) letGo() { g.releaseOnce.Do(func() { close(g.release) }) }

// credentials returns what is needed to re-attach the session.
func (g *guard) credentials() (id int64, password []byte, timeout time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.id, g.password, g.trust.least()
}
