package framework

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// A Session is one ZooKeeper session. Ephemeral nodes belong to it and vanish with it;
// once over it never comes back. Its methods are safe for concurrent use. It comes from
// a Client. Methods of a zero or nil Session panic with an ErrInvalidArgument; Err
// returns it.
type Session struct {
	core      *core
	guard     *guard.Guard
	gate      *gate
	conn      *zk.Conn
	slots     chan struct{} // one per request that may await its answer
	answers   answerChannels
	watch     watchTable
	vouching  chan struct{} // full while a transaction is made because the newest is too old
	holders   holders
	quota     ephemeralQuota
	checked   checkedPaths
	acl       atomic.Pointer[[]zk.ACL] // the last one of a create
	kept      kept
	deletions deletions

	ctx   context.Context // the guard's; ends with the session, with the reason as cause
	tasks tasks

	disposed chan struct{} // closed when it is over on the server too, if that could be done

	nudge chan struct{} // wakes supervise
}

// ID returns the id that the ensemble has given the session.
func (s *Session) ID() int64 {
	s.mustBeUsable()
	return s.guard.ID()
}

// Timeout returns the timeout that was negotiated with the ensemble, the least if
// servers granted different ones.
func (s *Session) Timeout() time.Duration {
	s.mustBeUsable()
	return s.guard.Timeout()
}

// Done returns a channel that is closed when the session is over.
func (s *Session) Done() <-chan struct{} {
	s.mustBeUsable()
	return s.ctx.Done()
}

// Err returns nil until the trust deadline, by the clock at the moment of the call, and
// then the reason for the session's end: an ErrSessionLost or ErrClosed.
func (s *Session) Err() error {
	if s == nil || s.guard == nil {
		return errZeroSession
	}
	return s.guard.Err()
}

// TrustedUntil returns the trust deadline: while a lease relies on the session, no
// server can have expired it until then, nor for another sixth of the timeout. While
// the ensemble answers the deadline moves forward and is about half a timeout away, or
// more if the session is new. Once it was reached it stays.
func (s *Session) TrustedUntil() time.Time {
	s.mustBeUsable()
	return s.guard.TrustedUntil()
}

// Suspended returns a channel that is closed when the connection breaks; if it is
// broken now the channel is closed already.
func (s *Session) Suspended() <-chan struct{} {
	s.mustBeUsable()
	_, down := s.gate.signals()
	return down.Done()
}

// Go runs f in a goroutine that Client.Close waits for, with a context that ends with
// the session. It reports false, and does not run f, if the session is over.
func (s *Session) Go(f func(ctx context.Context)) bool {
	s.mustBeUsable()
	return s.tasks.start(func() { f(s.ctx) })
}

func newSession(c *core) (*Session, error) {
	s := &Session{
		core: c, slots: make(chan struct{}, c.cfg.MaxOutstanding),
		nudge: make(chan struct{}, 1), disposed: make(chan struct{}), vouching: make(chan struct{}, 1),
	}
	s.tasks.idle = make(chan *worker, idleTasks)
	s.gate = newGate(s)
	s.quota.limit, s.quota.paths = c.cfg.MaxEphemeralBytes, map[string]struct{}{}
	s.watch.limit, s.watch.full = idleLimit, s.wake
	s.guard = guard.New(c.servers, s.guardEvents())
	s.ctx = s.guard.Context()
	var err error
	s.conn, err = s.guard.Open(s.onEvent)
	return s, err
}

func (s *Session) guardEvents() guard.Events {
	return guard.Events{
		Ended: s.end, Suspended: s.suspended, SettingWatches: s.gate.settingWatches, WatchesRestored: s.watchesRestored,
		Wake: s.wake, IsOpen: s.gate.isOpen, Start: s.tasks.start,
	}
}

// onEvent is the library's event callback. It runs on the library's goroutines,
// sometimes under the library's locks: it must not block or call an operation.
func (s *Session) onEvent(ev zk.Event) {
	switch {
	case ev.Type == zk.EventSession && ev.State == zk.StateHasSession:
		s.gate.attached()
	case ev.Type > 0:
		if ev.Type == zk.EventNodeDeleted {
			s.gone(ev.Path) // also if another client deleted it
		}
		s.watch.fire(ev)
	}
}

// suspended is called when the connection is gone.
func (s *Session) suspended() { s.gate.broke(s.core.lastFailure()) }

// watchesRestored is called when the request to set watches again was answered.
func (s *Session) watchesRestored(ok bool) {
	if !ok { // no event will come any more: all who wait must read again
		s.watch.fireAll(Event{Type: EventRecheck})
	}
	s.gate.watchesSet(ok)
}

// wake needs no lock.
func (s *Session) wake() { offer(s.nudge, struct{}{}) }

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
			return s.core.waitEnded(ctx)
		}
	}
}

// supervise has the guard keep the session trusted, opens the gate if no watches had to
// be set again, has idle watches removed, and ends goroutines that are not needed.
func (s *Session) supervise(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for trimmed := time.Now(); ; {
		now := time.Now()
		if now.Sub(trimmed) >= s.Timeout() {
			trimmed = now
			s.tasks.trim()
		}
		timer.Reset(max(min(s.guard.Supervise(now), s.checkGate(now), s.checkIdle(now)), time.Millisecond))
		select {
		case <-timer.C:
		case <-s.nudge:
		case <-ctx.Done():
			return
		}
	}
}

// end makes the session over for the given reason, and its connection.
func (s *Session) end(cause error) {
	s.over(cause)
	s.guard.Seal()
}

// over makes the session over here, once, for the given reason, unless its trust
// deadline has passed, which was before that.
func (s *Session) over(cause error) {
	s.guard.End(cause)
	s.gate.handle(gateEnded)
	s.watch.fireAll(Event{Type: EventSessionEnded, Err: context.Cause(s.ctx)})
}
