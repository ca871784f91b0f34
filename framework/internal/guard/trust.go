package guard

import (
	"sync"
	"time"
)

// trust computes the trust deadline of a session. The package comment proves it.
type trust struct {
	mu           sync.Mutex
	timeout      time.Duration // the least negotiated; 0 before the first handshake
	proved       time.Time     // A
	vouched      time.Time     // Q
	relied       int           // how many rely on the session
	doubtful     bool          // a leader may have begun to end it, see rely
	reached      time.Time     // the deadline, once it was reached; else zero
	missing      error         // which proof was missing then
	answered     []roundTrip   // some of the answered requests on this connection
	lastByLeader roundTrip     // the last one that counts
}

type roundTrip struct{ sent, back time.Time }

// trustWindow is how long a session is trusted after the time that is proved. The rest
// of the timeout is for work to stop in, and for clocks that run at different rates.
func trustWindow(timeout time.Duration) time.Duration { return timeout - stopMargin(timeout) }

// stopMargin is the least time between the trust deadline and the session's expiry on
// the server.
func stopMargin(timeout time.Duration) time.Duration { return timeout / 6 }

// begin records a handshake: when it was sent, and that it was answered now.
func (t *trust) begin(sent, now time.Time, timeout time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.over(now):
		return
	case t.timeout == 0: // this handshake made the session
		t.timeout, t.vouched = timeout, sent
	default:
		t.timeout = min(t.timeout, timeout)
		t.doubtful = t.doubtful || age(t.vouched, now) >= trustWindow(t.timeout)
	}
	if sent.After(t.proved) {
		t.proved = sent
	}
	// Another server may answer now. The one before may not have reported what it knew.
	t.answered = append(t.answered[:0], roundTrip{sent, now})
	t.lastByLeader = roundTrip{sent, now}
}

// answer records that a request sent at a time was answered now, by the leader or by
// any server.
func (t *trust) answer(sent, now time.Time, byLeader bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timeout == 0 || t.over(now) {
		return
	}
	// A hundred per timeout are enough. Keeping the earlier ones is the safe choice.
	if last := t.answered[len(t.answered)-1]; sent.Sub(last.sent) >= t.timeout/100 {
		t.answered = append(t.answered, roundTrip{sent, now})
	}
	if !byLeader || sent.Before(t.lastByLeader.back) || sent.Sub(t.lastByLeader.sent) < t.timeout/24 {
		return
	}
	limit := t.lastByLeader.sent.Add(-t.timeout / 4)
	for len(t.answered) > 1 && !t.answered[1].back.After(limit) {
		t.answered = t.answered[1:]
	}
	if oldest := t.answered[0]; !oldest.back.After(limit) {
		t.doubtful, t.proved = false, oldest.sent
	}
	t.lastByLeader = roundTrip{sent, now}
}

// committed records that a transaction sent at a time was answered with success now.
func (t *trust) committed(sent, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over(now) && sent.After(t.vouched) {
		t.vouched = sent
	}
}

// rely makes Q count from now on, if Q is young enough for that.
//
// A session that nothing relies on may live with an old Q, because a leader that was
// replaced answers. Meanwhile another leader may find the session expired, and still
// accept handshakes and transactions of the session until it comes to end it. So if Q
// was that old when a connection was made, nothing may rely on the session until two
// round trips on this connection, or on a later one, have proved something. That takes
// a quarter of the timeout and more. While Q is younger than the window no other leader
// can have found the session expired, and the handshake has shown it the session.
func (t *trust) rely(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.doubtful || !t.young(now) {
		return false
	}
	t.relied++
	return true
}

// isVouched reports whether Q is young enough.
func (t *trust) isVouched(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.young(now)
}

func (t *trust) young(now time.Time) bool {
	return !t.over(now) && age(t.vouched, now) < t.timeout/2
}

// leave ends what rely began. A deadline that was reached before stays reached.
func (t *trust) leave(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over(now)
	t.relied--
}

// vouchIn returns the time until a quorum should vouch for the session again. It
// returns false while nothing relies on the session.
func (t *trust) vouchIn(now time.Time) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timeout/4 - age(t.vouched, now), t.relied > 0
}

// least returns the shortest timeout that was negotiated, 0 before the first handshake.
func (t *trust) least() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timeout
}

// until returns the trust deadline.
func (t *trust) until() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deadline()
}

func (t *trust) deadline() time.Time {
	if !t.reached.IsZero() {
		return t.reached
	}
	since := t.proved
	if t.relied > 0 && t.vouched.Before(since) {
		since = t.vouched
	}
	return since.Add(trustWindow(t.timeout))
}

// expired returns why the session is over if the deadline has been reached, else nil.
func (t *trust) expired(now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over(now)
	return t.missing
}

func (t *trust) over(now time.Time) bool {
	switch window := trustWindow(t.timeout); {
	case t.timeout == 0:
		return false
	case !t.reached.IsZero():
		return true
	case age(t.proved, now) < window && (t.relied == 0 || age(t.vouched, now) < window):
		return false
	}
	t.reached, t.missing = t.deadline(), errUnanswered
	if age(t.proved, now) < trustWindow(t.timeout) {
		t.missing = errNotVouched
	}
	return true
}

// age is the time that has passed. On some systems the monotonic clock stands still
// while the machine sleeps; then the wall clock shows more time, and counts. A wall
// clock that was set forward by more than the window ends a session that lives, which
// is safe.
func age(then, now time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0))) // without monotonic readings
}

// prove records what an answer proves of the session.
func (c *Conn) prove(f inFlight, code int32, end multiEnd) {
	now := time.Now()
	switch {
	case noSession(code), noSession(end.code): // the server no longer has the session
	case f.op == OpSetAuth: // the server does not look for the session
	default:
		// A refusal may come from the server itself, for example when it throttles.
		c.guard.trust.answer(f.at, now, byLeader(f.op) && code == 0)
	}
	if byQuorum[f.op] && code == 0 && end.committed {
		c.guard.trust.committed(f.at, now)
	}
}

// noSession reports whether a code means that the server no longer has the session.
func noSession(code int32) bool { return code == codeExpired || code == codeMoved }
