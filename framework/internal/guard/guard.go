package guard

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/internal/signal"
)

// A Guard makes a zk.Conn serve exactly one session. It is the library's dialer and
// host provider: it finds servers, paces attempts, lets the library attach to one
// session only, and once sealed lets it do nothing any more. Its methods are safe for
// concurrent use, but Supervise, which one goroutine calls.
type Guard struct {
	cfg     *Config
	servers *Servers
	trust   trust
	events  Events
	relied  reliedNodes

	// For Supervise. The newest round trip:
	roundTripAt   time.Time // when it began
	roundTripOver *Conn
	underWay      atomic.Bool

	library *zk.Conn
	stopped <-chan zk.Event // the library's event channel; its end is the library's end

	zxid    atomic.Int64          // the greatest that was seen
	vouches atomic.Int32          // how often a quorum was asked to vouch
	broken  atomic.Pointer[error] // why the newest connection that has broken did

	mu       sync.Mutex
	conn     *Conn // the present connection, nil between two
	latest   *Conn // the newest, also when it is closed
	id       int64 // 0 until the first handshake
	password []byte
	onSent   map[string][]func() // by the path of a create, in the order of the calls
	zxids    map[string]int64    // of creates, by the path of the new node

	ctx     context.Context // ends with the session, with the reason as cause
	cancel  context.CancelCauseFunc
	parked  *signal.Signal // the library has come to the dialer after that
	release *signal.Signal // it may leave it for good
	closed  *signal.Signal // the server has answered our close request
}

// Events are what a guard tells its session, and asks it. They must not block.
type Events struct {
	Ended           func(cause error)   // the session is over, which Guard.End has to be told
	Suspended       func()              // the connection is gone
	SettingWatches  func()              // the library sets watches again
	WatchesRestored func(ok bool)       // the server has answered that
	Wake            func()              // Supervise may have something to do
	IsOpen          func() bool         // whether requests may be sent
	Start           func(f func()) bool // runs f in a goroutine, unless the session is over
}

// New returns the guard of a session that is to be, which Open begins.
func New(servers *Servers, events Events) *Guard {
	g := &Guard{
		cfg: &servers.cfg, servers: servers, events: events,
		onSent: map[string][]func(){}, zxids: map[string]int64{},
		parked: signal.New(), release: signal.New(), closed: signal.New(),
	}
	g.ctx, g.cancel = context.WithCancelCause(context.Background())
	return g
}

// Context ends with the session, with the reason for its end as cause.
func (g *Guard) Context() context.Context { return g.ctx }

// End makes the session over for a reason, or, if its trust deadline has passed, for
// that. Only the first reason counts. The present connection is the last one then.
func (g *Guard) End(cause error) {
	g.cancel(cmp.Or(g.trust.expired(time.Now()), cause))
}

// Err looks at the clock. It returns nil until the trust deadline, and then the reason
// for the session's end.
func (g *Guard) Err() error {
	g.checkTrust(time.Now())
	return context.Cause(g.ctx)
}

func (g *Guard) checkTrust(now time.Time) {
	if missing := g.trust.expired(now); missing != nil {
		g.events.Ended(missing)
	}
}

// ID returns the session's id, 0 before the first handshake.
func (g *Guard) ID() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.id
}

// Timeout returns the least timeout that was negotiated, 0 before the first handshake.
func (g *Guard) Timeout() time.Duration { return g.trust.least() }

// TrustedUntil returns the trust deadline.
func (g *Guard) TrustedUntil() time.Time { return g.trust.until() }

// Ready notes that the session can be used over the newest connection.
func (g *Guard) Ready() { g.servers.ready(g.lastAddr()) }

// NotReady notes that it cannot, and why.
func (g *Guard) NotReady(err error) { g.servers.failed(g.lastAddr(), err) }

// lastAddr returns the address of the newest connection, which there must have been.
func (g *Guard) lastAddr() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.latest.addr
}

// Broken returns why the newest connection that has broken did, nil if none has.
func (g *Guard) Broken() error {
	if why := g.broken.Load(); why != nil {
		return *why
	}
	return nil
}

// detached notes that a connection is gone.
func (g *Guard) detached(c *Conn) {
	g.mu.Lock()
	present := g.conn == c
	if present {
		g.conn = nil
	}
	g.mu.Unlock()
	if present {
		g.events.Suspended()
	}
}

// saw notes a zxid. A server that has not come as far is not to be attached to again:
// it may follow a leader of the past. The library remembers only what it reads.
func (g *Guard) recordZxid(zxid int64) {
	for {
		if seen := g.zxid.Load(); zxid <= seen || g.zxid.CompareAndSwap(seen, zxid) {
			return
		}
	}
}

// present returns the present connection, nil between two.
func (g *Guard) present() *Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.conn
}

// Live returns the present connection if its handshake is complete.
func (g *Guard) Live() *Conn {
	if c := g.present(); c != nil && c.isAttached() {
		return c
	}
	return nil
}

// Seal ends all traffic for good, when the session is over. It is idempotent.
func (g *Guard) Seal() {
	if c := g.present(); c != nil {
		_ = c.Close()
	}
}
