package framework

import (
	"sync"
	"time"
)

// trust computes the trust deadline of a session.
//
// The moment that counts is when the leader was last told of the session; it
// expires the session a timeout later. A client never sees that moment. The server
// it is attached to answers pings and reads by itself, and goes on doing so for
// syncLimit ticks after it was cut off from the leader, so an answered ping proves
// nothing. What does prove something is a round trip through the leader: a sync, a
// write, or the handshake.
//
//   - The handshake that makes a session is agreed on by a quorum: it proves the time
//     at which it was sent. One that revalidates it asks the leader alone; see below.
//   - The leader pings each server every half tick, and the server's answer tells it
//     of all sessions heard of since the answer before. Pings, answers, forwarded
//     requests and their results travel in order. So when a round trip that was sent
//     at s1 has come back, the server had received a ping not older than s1 less half
//     a tick, and had sent the report that answers it. When another round trip, sent
//     after that, has come back too, the report had arrived. It told of every request
//     that the server had received half a tick before s1; a tick is at most half the
//     session timeout, so that is a quarter of it. What had been answered by then had
//     been received.
//
// So two round trips through the leader, one after the other, prove the newest
// request that was answered at least a quarter of the timeout before the first was
// sent. supervise makes a round trip every twelfth of the timeout.
//
// A leader that is cut off from its quorum does not know at first. It answers syncs and
// revalidates sessions for up to two ticks after the others may have a new leader,
// whose clock for a session starts with its reign. So much must what is proved lie
// before the round trips that prove it. It does in the steady exchange above, by a
// third of the timeout; a handshake that revalidates proves no more than a quarter of
// the timeout before itself. With the margin that covers all sessions of five ticks
// and more.
//
// None of this holds for an observer behind an observer master. That keeps the
// observer's report until the leader's next ping, while it passes requests on at once,
// so the second round trip may overtake the report.
type trust struct {
	mu       sync.Mutex
	timeout  time.Duration // negotiated; 0 before the first handshake
	proved   time.Time     // the leader knew of the session at this time, or later
	answered []roundTrip   // answered requests on this connection, thinned out
	trip     roundTrip     // the last one through the leader that counts
}

type roundTrip struct{ sent, back time.Time }

// trustWindow is the part of the timeout for which a session is trusted after the
// time that is proved. The rest is for work to stop in, and for clocks that run at
// different rates.
func trustWindow(timeout time.Duration) time.Duration { return timeout - stopMargin(timeout) }

// stopMargin is how much later than the trust deadline a server may expire the
// session at the earliest.
func stopMargin(timeout time.Duration) time.Duration { return timeout / 6 }

// begin notes a handshake that was sent at a time and answered now.
func (t *trust) begin(sent, now time.Time, timeout time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	proves := sent
	if t.timeout != 0 { // it is not the first
		proves = sent.Add(-timeout / 4)
	}
	t.timeout = timeout
	if proves.After(t.proved) {
		t.proved = proves
	}
	// Another server may answer now: what the one before was told it may have
	// kept to itself.
	t.answered = append(t.answered[:0], roundTrip{sent, now})
	t.trip = roundTrip{sent, now}
}

// answer notes that a request sent at a time was answered now, by the leader or by
// any server.
func (t *trust) answer(sent, now time.Time, byLeader bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timeout == 0 {
		return
	}
	// A hundred per timeout will do. Keeping the earlier ones is the safe choice.
	if n := len(t.answered); n == 0 || sent.Sub(t.answered[n-1].sent) >= t.timeout/100 {
		t.answered = append(t.answered, roundTrip{sent, now})
	}
	if !byLeader || sent.Before(t.trip.back) {
		return
	}
	limit := t.trip.sent.Add(-t.timeout / 4)
	for len(t.answered) > 1 && !t.answered[1].back.After(limit) {
		t.answered = t.answered[1:]
	}
	if oldest := t.answered[0]; !oldest.back.After(limit) && oldest.sent.After(t.proved) {
		t.proved = oldest.sent
	}
	t.trip = roundTrip{sent, now}
}

// until returns the trust deadline.
func (t *trust) until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.proved.Add(trustWindow(t.timeout))
}

// expired reports whether the deadline has passed. It is on the monotonic clock,
// which on some systems stands still while the machine sleeps; so the wall clock
// may say so as well. A wall clock that is set forward by more than the window
// thereby ends a session that lives, which is the safe mistake.
func (t *trust) expired(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timeout == 0 {
		return false
	}
	window := trustWindow(t.timeout)
	slept := now.Round(0).Sub(t.proved.Round(0)) // without monotonic readings
	return now.Sub(t.proved) >= window || slept >= window
}
