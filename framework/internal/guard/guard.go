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
// host provider: it finds servers, backs off between attempts, and lets the library
// attach to one session only. Once sealed it lets the library do nothing any more. Its
// methods are safe for concurrent use, except Supervise, which one goroutine calls.
type Guard struct {
	cfg     *Config
	servers *Servers
	trust   trust
	events  Events
	relied  reliedNodes

	// For Supervise: the newest round trip through the leader.
	roundTripAt   time.Time // when it began
	roundTripOver *Conn
	underWay      atomic.Bool

	library *zk.Conn
	stopped <-chan zk.Event // the library's event channel; its end is the library's end

	zxid    atomic.Int64          // the greatest seen
	told    atomic.Int64          // the newest of an answer to a request of package framework: all events until then have come
	vouches atomic.Int32          // how many checks were sent
	xids    atomic.Uint32         // how many requests of package framework
	broken  atomic.Pointer[error] // why the last connection broke

	mu       sync.Mutex
	conn     *Conn // the present connection, nil between two
	latest   *Conn // the newest one, also after it was closed
	id       int64 // 0 until the first handshake
	password []byte

	ctx     context.Context // ends with the session, with the reason as cause
	cancel  context.CancelCauseFunc
	parked  *signal.Signal // the session is over, and the library waits in the dialer
	release *signal.Signal // the library may leave the dialer
	closed  *signal.Signal // the server has answered our close request
}

// Events are how a guard notifies its session, and what it asks it. They must not
// block.
type Events struct {
	Ended       func(cause error)             // the session is over; the session must call Guard.End
	Refused     func(err error)               // a server refuses a credential
	Watched     func() Watched                // the watches to set on a new connection; called under a lock
	WatchesLost func()                        // they are not set
	Attached    func(c *Conn)                 // requests may be sent over a connection
	Suspended   func()                        // the connection is gone
	Event       func(kind int32, path string) // a watch has fired
	Wake        func()                        // Supervise may have something to do
	IsOpen      func() bool                   // whether requests may be sent
}

// New returns the guard of a new session. Open starts it.
func New(servers *Servers, events Events) *Guard {
	g := &Guard{
		cfg: &servers.cfg, servers: servers, events: events,
		parked: signal.New(), release: signal.New(), closed: signal.New(),
	}
	g.ctx, g.cancel = context.WithCancelCause(context.Background())
	return g
}

// Context ends with the session. Its cause is the reason for the end.
func (g *Guard) Context() context.Context { return g.ctx }

// End ends the session with a cause, or, if its trust deadline has passed, with that as
// the cause. Only the first cause counts. No further connection is made.
func (g *Guard) End(cause error) {
	g.cancel(cmp.Or(g.trust.expired(time.Now()), cause))
}

// Err checks the clock. It returns nil until the trust deadline or another end of the
// session, and then the reason for the end.
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

// Timeout returns the shortest timeout that was negotiated, 0 before the first
// handshake.
func (g *Guard) Timeout() time.Duration { return g.trust.least() }

// TrustedUntil returns the trust deadline.
func (g *Guard) TrustedUntil() time.Time { return g.trust.until() }

// Ready records that the session can be used over the newest connection.
func (g *Guard) Ready() { g.servers.ready(g.lastAddr()) }

// NotReady records that it cannot, and why.
func (g *Guard) NotReady(err error) { g.servers.failed(g.lastAddr(), err) }

// lastAddr returns the address of the newest connection. There must have been one.
func (g *Guard) lastAddr() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.latest.addr
}

// Broken returns why the last connection broke, nil if none has.
func (g *Guard) Broken() error {
	if why := g.broken.Load(); why != nil {
		return *why
	}
	return nil
}

// detached records that a connection is gone.
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

// recordZxid records a zxid that was seen. The client must not attach again to a server
// that has not seen it: that server may follow a leader of an earlier epoch. The
// library records only the zxids that it reads.
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

// Seal ends all traffic for good when the session is over. It is idempotent.
func (g *Guard) Seal() {
	if c := g.present(); c != nil {
		_ = c.Close()
	}
}
