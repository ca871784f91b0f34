package framework

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// A Session is one ZooKeeper session. Ephemeral nodes belong to it and vanish
// with it; once over it never comes back. Its methods are safe for concurrent
// use. It comes from a Client; the zero value is of no use.
type Session struct {
	core    *core
	guard   *guard
	trust   trust
	conn    *zk.Conn
	closed  <-chan zk.Event // the library's event channel; its end is the library's end
	slots   chan struct{}   // one per request that may await its answer
	watch   watchTable
	relied  reliedNodes
	parting parting
	quota   ephemeralQuota
	looked  lookedPaths

	ctx    context.Context // ends with the session, with the reason as cause
	cancel context.CancelCauseFunc
	tasks  tasks

	disposed chan struct{} // closed when it is over on the server, too, as far as can be done

	gate  *gate
	nudge chan struct{} // wakes supervise

	mu sync.Mutex
	id int64
}

// ID returns the session's id.
func (s *Session) ID() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// Timeout returns the timeout that was negotiated with the ensemble, the least if
// servers granted different ones.
func (s *Session) Timeout() time.Duration { return s.trust.least() }

// Done returns a channel that is closed when the session is over.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err returns nil until the trust deadline, by the clock at the moment of the call,
// and then the reason for the session's end: an ErrSessionLost or ErrClosed.
func (s *Session) Err() error {
	s.checkTrust(time.Now())
	return context.Cause(s.ctx)
}

// TrustedUntil returns the trust deadline: while work relies on the session
// ([Client.Rely]), no server can have expired it until then, nor for another sixth of
// the timeout. It moves forward while the ensemble answers, and is then about half a
// timeout away, or more if the session was made just now. Once it was reached it stays.
func (s *Session) TrustedUntil() time.Time { return s.trust.until() }

// Suspended returns a channel that is closed when the connection breaks; if it
// is broken now the channel is closed already.
func (s *Session) Suspended() <-chan struct{} {
	_, down := s.gate.signals()
	return down.Done()
}

// Go runs f in a goroutine that Client.Close waits for, with a context that ends
// with the session. It reports false, and does not run f, if the session is over.
func (s *Session) Go(f func(ctx context.Context)) bool {
	return s.tasks.start(func() { f(s.ctx) })
}

func newSession(c *core) (*Session, error) {
	s := &Session{
		core: c, slots: make(chan struct{}, c.cfg.MaxOutstanding),
		nudge: make(chan struct{}, 1), disposed: make(chan struct{}), relied: reliedNodes{turn: make(chan struct{}, 1)},
	}
	s.gate = newGate(s)
	s.quota.limit = c.cfg.MaxEphemeralBytes
	s.watch.limit, s.watch.full = idleLimit, s.wake
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.guard = newGuard(&c.cfg, c.book, &s.trust, s)
	conn, events, err := connectLibrary(s.guard, &c.cfg, s.onEvent)
	if err != nil {
		return nil, err
	}
	s.conn, s.closed = conn, events
	return s, nil
}

// established implements guardEvents: a handshake succeeded.
func (s *Session) established(id int64, timeout time.Duration, asked time.Time) {
	now := time.Now()
	s.checkTrust(now) // before the handshake counts, not after
	s.trust.begin(asked, now, timeout)
	s.mu.Lock()
	s.id = id
	s.mu.Unlock()
	s.wake() // what it waits for may be due sooner now
}

// onEvent is the library's event callback. It runs on the library's goroutines,
// sometimes under the library's locks: it must not block or call an operation.
func (s *Session) onEvent(ev zk.Event) {
	switch {
	case ev.Type == zk.EventSession && ev.State == zk.StateHasSession:
		s.gate.attached()
	case ev.State == stateForgotten: // the library, not the server, is told something
	case ev.Type > 0:
		if ev.Type == zk.EventNodeDeleted {
			s.quota.gone(ev.Path) // whoever deleted it
		}
		s.watch.fire(ev)
	}
}

// suspended implements guardEvents: the connection is gone.
func (s *Session) suspended(cause error) { s.gate.broke(cause) }

// settingWatches implements guardEvents.
func (s *Session) settingWatches() { s.gate.settingWatches() }

// watchesRestored implements guardEvents.
func (s *Session) watchesRestored(ok bool) {
	if !ok { // nobody will hear of changes any more: let all look for themselves
		s.watch.fireAll(Event{Type: EventRecheck})
	}
	s.gate.watchesSet(ok)
}

// ended implements guardEvents: the server said that the session is over.
func (s *Session) ended(cause error) { s.end(cause) }

// wake needs no lock.
func (s *Session) wake() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

// await waits until requests may be sent. It fails when the session or ctx ends.
func (s *Session) await(ctx context.Context) error {
	for {
		if err := s.Err(); err != nil {
			return err
		}
		up, _ := s.gate.signals()
		if up.Given() {
			return context.Cause(ctx)
		}
		select {
		case <-up.Done():
		case <-s.ctx.Done():
		case <-ctx.Done():
			return s.core.book.waitedInVain(ctx)
		}
	}
}

// supervise keeps the session trusted, ends it at its trust deadline, breaks
// connections that do not answer, and opens the gate if no watches had to be set
// again.
func (s *Session) supervise(ctx context.Context) {
	trips := tripMaker{last: time.Now(), conn: s.guard.live()} // the handshake was one
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		s.checkTrust(now)
		timeout := s.Timeout() // which may become less
		limit := cmp.Or(s.core.cfg.RequestTimeout, timeout/3*2)
		// A server that is silent although it was asked something is left while
		// there is time to attach to another.
		silence := min(limit, max(timeout/6, min(500*time.Millisecond, timeout/3)))
		if c := s.guard.live(); c != nil && c.stuck(now, silence, min(limit, timeout/4), limit) {
			s.guard.drop(errSilent)
		} else if c != nil && c.leaderless(now, timeout/4) {
			s.guard.drop(errNoLeader) // others may have one
		}
		next := min(s.trust.until().Sub(now), silence/4, trips.make(s, now), s.checkGate(now), s.checkVouch(now), s.checkIdle(now))
		timer.Reset(max(next, time.Millisecond))
		select {
		case <-timer.C:
		case <-s.nudge:
		case <-ctx.Done():
			return
		}
	}
}

// A tripMaker sends a sync, which is a round trip through the leader, every twelfth
// of the timeout and at once on each further connection, one at a time.
type tripMaker struct {
	last     time.Time
	conn     *guardConn // on which that was
	underWay atomic.Bool
}

// make sends a sync if one is due and returns the time until the next is.
func (m *tripMaker) make(s *Session, now time.Time) time.Duration {
	period := s.Timeout() / 12
	c := s.guard.live()
	if wait := m.last.Add(period).Sub(now); wait > 0 && c == m.conn {
		return wait
	}
	if c == nil || !s.gate.isOpen() || !m.underWay.CompareAndSwap(false, true) {
		return period / 2
	}
	m.last, m.conn = now, c
	s.tasks.start(func() {
		_, _ = s.conn.Sync("/") // what it proves, the guard sees
		m.underWay.Store(false)
	})
	return period
}

var (
	errSilent   = errors.New("no answer in time")
	errNoLeader = errors.New("no answer from the leader in time")
)

// checkTrust ends the session if its trust deadline has passed. The end is for
// good: an answer that comes later does not revive it.
func (s *Session) checkTrust(now time.Time) {
	if missing := s.trust.expired(now); missing != nil {
		s.end(missing)
	}
}

// end makes the session over, once, for the given reason, unless its trust deadline has
// passed, which was before that.
func (s *Session) end(cause error) {
	if missing := s.trust.expired(time.Now()); missing != nil {
		cause = missing
	}
	s.cancel(cause) // only the first cause counts
	s.gate.tell(gateEnded)
	s.watch.fireAll(Event{Type: EventSessionEnded, Err: context.Cause(s.ctx)})
	s.guard.seal()
}
