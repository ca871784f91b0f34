package framework

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
)

// A Session is one ZooKeeper session. Ephemeral nodes belong to it and vanish with it;
// once over it never comes back. Its methods are safe for concurrent use. It comes from
// a Client. Methods of a zero or nil Session panic with an ErrInvalidArgument; Err
// returns it.
type Session struct {
	core      *core
	servers   *guard.Servers // to which it may be attached
	further   bool           // it is not the client's main session
	chosen    bool           // lately; guarded by core.mu
	guard     *guard.Guard
	gate      *gate
	slots     chan struct{} // one per request that may await its answer
	answers   answerChannels
	watch     watchTable
	vouching  chan struct{} // full while a transaction is made because the newest is too old
	holders   holders
	quota     ephemeralQuota
	checked   checkedPaths
	kept      kept
	deletions deletions
	releases  releases
	caught    catchingUp
	hangUps   atomic.Int32           // see listings.go
	view      atomic.Pointer[Client] // the last plain one that Within has made: holds share it

	ctx   context.Context // the guard's; ends with the session, with the reason as cause
	tasks tasks

	refused  chan error    // takes why a server has refused a credential
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

func newSession(c *core, servers *guard.Servers) (*Session, error) {
	s := &Session{
		core: c, servers: servers, further: servers != c.servers, slots: make(chan struct{}, c.cfg.MaxOutstanding),
		nudge: make(chan struct{}, 1), refused: make(chan error, 1), disposed: make(chan struct{}), vouching: make(chan struct{}, 1),
	}
	s.caught.turn = make(chan struct{}, 1)
	s.gate = newGate(s)
	s.quota = newQuota(c.cfg.MaxEphemeralBytes)
	s.watch.limit, s.watch.full = idleLimit, s.wake
	s.guard = guard.New(servers, s.guardEvents())
	s.ctx = s.guard.Context()
	return s, s.guard.Open()
}

func (s *Session) guardEvents() guard.Events {
	return guard.Events{
		Ended: s.over, Refused: func(err error) { offer(s.refused, err) }, Watched: s.watch.watched, WatchesLost: s.watchesLost,
		Attached: s.gate.attached, Suspended: s.suspended, Event: s.onEvent, Wake: s.wake, IsOpen: s.gate.isOpen,
	}
}

// onEvent is called for each event of a server, in order.
func (s *Session) onEvent(kind int32, path string) {
	event := EventType(kind)
	if event == EventDeleted {
		s.gone(path) // also if another client deleted it
	}
	s.watch.fire(event, path)
}

// suspended is called when the connection is gone.
func (s *Session) suspended() { s.gate.broke(lastFailure(s.servers)) }

// watchesLost is called when a server has refused to set watches again. No event will
// come any more: all who wait must read again.
func (s *Session) watchesLost() { s.watch.fireAll(Event{Type: EventRecheck}) }

// wake needs no lock.
func (s *Session) wake() { offer(s.nudge, struct{}{}) }

// supervise has the guard keep the session trusted, and has idle watches removed.
func (s *Session) supervise(ctx context.Context) {
	select {
	case <-s.nudge: // there is a connection
	case <-ctx.Done():
		return
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		now := time.Now()
		timer.Reset(max(min(s.guard.Supervise(now), s.checkIdle(now)), time.Millisecond))
		select {
		case <-timer.C:
		case <-s.nudge:
		case <-ctx.Done():
			return
		}
	}
}

// over makes the session over here, once, for the given reason, unless its trust
// deadline has passed, which was before that. It closes no connection: that answers
// requests, which must not happen under the locks of a caller that asks for Err.
func (s *Session) over(cause error) {
	s.guard.End(cause)
	s.gate.end()
	s.watch.fireAll(Event{Type: EventSessionEnded, Err: context.Cause(s.ctx)})
}
