package framework

import (
	"sync"
	"time"
)

// trust computes the trust deadline of a session: the time until which no server can
// have given its nodes away, less a margin. It is
//
//	min(A, Q) + 5/6 T   while work relies on nodes of the session, see Client.Rely
//	    A     + 5/6 T   else
//
// A is a time at which the leader knew of the session, or an earlier one. Q is a time
// since which no other leader's clock can have run. T is the session timeout.
//
// # Why two
//
// The leader alone expires sessions, each a timeout after it was last told of it, and
// rounds that up. A client never sees the moment at which the leader is told, and the
// server that it is attached to proves nothing: it answers pings and reads by itself,
// and goes on doing so for syncLimit ticks after it was cut off from the leader.
//
// Nor does a leader prove that it still is the only one. Without a quorum it answers
// syncs and revalidates sessions until it notices: for some ticks if it was cut off,
// for any time if its process stood still. The others have elected another meanwhile,
// whose clock for the session started with its reign. No client can bound how long.
// But what such a leader cannot do is commit anything.
//
// # Q: no later leader's clock started before
//
// Q is the time at which the newest transaction of the session was sent that was
// answered with success, or the connect request that made the session, which is a
// transaction too. Let s be that time, and e the epoch of the leader that committed it.
//
//  1. The answer came after the commit, so a quorum of servers had acknowledged the
//     proposal, which did not exist before s. (FinalRequestProcessor answers what
//     CommitProcessor lets through, Leader.processAck commits.)
//  2. A server acknowledges what its leader proposes while it follows that leader, on the
//     thread that would leave it, over a connection that it closes before it looks for
//     another. So each server of that quorum left the leader of e after s.
//     (Follower.followLeader, Learner.shutdown; the leader's own acknowledgements end in
//     SyncRequestProcessor.shutdown before it looks for another leader, too.)
//  3. A later leader starts its clocks when a quorum has acknowledged its reign
//     (Leader.lead: waitForNewLeaderAck, then startZkServer and in it createSessionTracker).
//     Any two quorums share a server, and that one left the leader of e after s. So those
//     clocks start after s; every session has its whole timeout again, and a clock rounds
//     up (ExpiryQueue.roundToNextInterval). This one expires not before s + T.
//  4. A leader of an earlier epoch than e cannot commit the end of a session any more,
//     and what it had proposed before is part of the history in which the transaction
//     succeeded, or never will be.
//
// So of all leaders but that of e none ends the session before Q + T. No other answer
// brings Q forward: not that of a handshake that revalidates, which takes no quorum, not
// the zxid of a read. A multi that failed is answered with success, in the header;
// and an empty one is committed, but nobody looks for the session.
//
// The answer must be that to the request. A server matches a commit with the request that
// waits for it by the session and the request's number, so no number may be used twice in
// a session, not on another connection either. (CommitProcessor)
//
// # A: the leader of that epoch was told
//
// The leader of e itself may have had its clock running for long. What proves that it
// knew of the session is two round trips through it, one after the other:
//
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
// So two round trips through the leader prove the newest request that was answered at
// least a quarter of the timeout before the first was sent. supervise makes a round trip
// every twelfth of the timeout. Those that follow one another more closely than a
// twenty-fourth do not count: a leader whose process stood still may answer several before
// the thread that pings has run. Requests that a server does not report do not count: it
// answers credentials by itself, before it looks for the session. In a race with a report a
// server can forget one request (LearnerSessionTracker.touchSession and snapshot); the one
// before is a twelfth of the timeout older, which the margin covers.
//
// A handshake counts as well. The server that is asked passes it on to its leader, which
// starts its clock for the session anew (REVALIDATE, touchSession). If the session was
// asked for twice at one server, its leader's answer to the first may be taken for that to
// the second (Learner.pendingRevalidations), and A is then the later of the two for which
// the leader may not have been told yet. That does no harm: Q is older than either until
// a transaction on this connection has been answered, and that came to the leader behind
// what told it.
//
// A must not be the word of an older leader than that of Q. A connection has one leader:
// a server that changes its leader closes all connections (Learner.shutdown,
// Leader.shutdown, closeAllConnections). And a client that has seen a transaction of e is
// turned away by every server that has not (ZooKeeperServer.processConnectRequest): the
// guard puts the greatest zxid it has seen into each connect request. So after a
// transaction of e was answered, every later handshake is answered by a leader of e or
// later, and so is each round trip on its connection; and the handshake of the connection
// on which it was answered came before it, to the leader that committed it.
//
// # T: the least that was negotiated
//
// A leader's clock goes by what the last server granted that told it of the session, which
// may be less than was granted before; a later leader's by what was granted to the connect
// request that made the session. The least of all is the safe one to count with.
//
// # The end
//
// Reaching the deadline is for good: no answer that comes later brings the session back,
// not that of a handshake or a transaction either. A leader takes all sessions that expire
// in one tick out of its table first and then ends one after the other, and those that wait
// for it are still accepted (SessionTrackerImpl.run). That is also why what begins to rely
// on a session that was on the brink has to wait: see rely. A wall clock that ran on while the machine slept counts for
// both A and Q.
//
// # What is not covered
//
// An observer behind an observer master keeps its report until the leader's next ping,
// while it passes requests on at once, so the second round trip may overtake the report:
// A does not hold. Q needs quorums that intersect: not QuorumOracleMaj, not members that
// were exchanged by hand instead of by reconfig, not a server whose data was wiped or
// restored. docs/guarantees.md has the whole list.
type trust struct {
	mu       sync.Mutex
	timeout  time.Duration // the least that was negotiated; 0 before the first handshake
	proved   time.Time     // A
	vouched  time.Time     // Q
	relied   int           // how often work relies on the session
	doubtful bool          // a leader may have begun to end it, see rely
	reached  time.Time     // the deadline, once it was reached; else zero
	missing  error         // what was missing then
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
	switch {
	case t.over(now):
		return
	case t.timeout == 0: // it made the session
		t.timeout, t.vouched = timeout, sent
	default:
		t.timeout = min(t.timeout, timeout)
		t.doubtful = t.doubtful || age(t.vouched, now) >= trustWindow(t.timeout)
	}
	if sent.After(t.proved) {
		t.proved = sent
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
	if t.timeout == 0 || t.over(now) {
		return
	}
	// A hundred per timeout will do. Keeping the earlier ones is the safe choice.
	if n := len(t.answered); n == 0 || sent.Sub(t.answered[n-1].sent) >= t.timeout/100 {
		t.answered = append(t.answered, roundTrip{sent, now})
	}
	if !byLeader || sent.Before(t.trip.back) || sent.Sub(t.trip.sent) < t.timeout/24 {
		return
	}
	limit := t.trip.sent.Add(-t.timeout / 4)
	for len(t.answered) > 1 && !t.answered[1].back.After(limit) {
		t.answered = t.answered[1:]
	}
	if oldest := t.answered[0]; !oldest.back.After(limit) {
		t.doubtful = false
		if oldest.sent.After(t.proved) {
			t.proved = oldest.sent
		}
	}
	t.trip = roundTrip{sent, now}
}

// committed notes that a transaction sent at a time was answered with success now.
func (t *trust) committed(sent, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over(now) && sent.After(t.vouched) {
		t.vouched = sent
	}
}

// rely makes Q count from now on, if it is young enough for that.
//
// A session that nothing relies on may live with an old Q, because a deposed leader
// answers, and be found expired by another leader meanwhile. Until that one has come to
// end it, it accepts it: a handshake, and a transaction, too. So after a connection was
// made with a Q so old nothing may rely on the session until two round trips on that
// connection, or another, have proved something, which takes a quarter of the timeout and
// more. While Q is younger than the window no other leader can have found the session
// expired, and the handshake has told it of the session.
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

// leave ends what rely began. A deadline that was reached before that stays so.
func (t *trust) leave(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over(now)
	t.relied--
}

// vouchIn returns the time until a quorum should be asked to vouch for the session
// again. There is none, and it is false, while nothing relies on it.
func (t *trust) vouchIn(now time.Time) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.timeout/4 - age(t.vouched, now), t.relied > 0
}

// least returns the least timeout that was negotiated, 0 before the first handshake.
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
	if !t.over(now) {
		return nil
	}
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

// age is the time that has passed. The monotonic clock stands still on some systems
// while the machine sleeps, so the wall clock may say more, and then counts. If it was
// set forward by more than the window, it ends a session that lives, which is the safe
// mistake.
func age(then, now time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0))) // without monotonic readings
}
