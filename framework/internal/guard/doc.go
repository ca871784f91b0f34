// Package guard stands between go-zookeeper and the wire. The library does the
// protocol; a [Guard] makes it safe to build on. It is the library's dialer, host
// provider and net.Conn at once, reads every frame that passes, and promises of one
// session:
//
//   - The library serves it and no other. When it is over nothing is sent any more, and
//     no other session reaches the library.
//   - No server, name server or function of the caller's holds anything up: dialing and
//     handshakes are bounded, so is each answer, and attempts are paced across sessions
//     ([Servers]).
//   - No write fails and no malformed or huge answer reaches the library: it does not
//     survive them.
//   - What the library does not tell is known: id, timeout, zxids of creates, whether
//     the watches were set again.
//   - It is over at its trust deadline at the latest, and closed on the server when it
//     may have outlived that there.
//
// It knows nothing of operations, retries, watches and their waiters, nor when requests
// may be sent: that is the session's business in package framework, which it tells of
// what happens ([Events]).
//
// # The trust deadline
//
// The guard computes the trust deadline of its session: the time until which no server
// can have given its nodes away, less a margin. It is
//
//	min(A, Q) + 5/6 T   while work relies on nodes of the session, see Kit.Rely in internal/kit
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
// whose clock for the session started with its reign. No client can bound how long. But
// what such a leader cannot do is commit anything.
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
//  2. A server acknowledges what its leader proposes while it follows that leader, on
//     the thread that would leave it, over a connection that it closes before it looks
//     for another. So each server of that quorum left the leader of e after s.
//     (Follower.followLeader, Learner.shutdown; the leader's own acknowledgements end
//     in SyncRequestProcessor.shutdown before it looks for another leader, too.)
//  3. A later leader starts its clocks when a quorum has acknowledged its reign
//     (Leader.lead: waitForNewLeaderAck, then startZkServer and in it
//     createSessionTracker). Any two quorums share a server, and that one left the
//     leader of e after s. So those clocks start after s; every session has its whole
//     timeout again, and a clock rounds up (ExpiryQueue.roundToNextInterval). This one
//     expires not before s + T.
//  4. A leader of an earlier epoch than e cannot commit the end of a session any more,
//     and what it had proposed before is part of the history in which the transaction
//     succeeded, or never will be.
//
// So of all leaders but that of e none ends the session before Q + T. No other answer
// brings Q forward: not that of a handshake that revalidates, which takes no quorum,
// not the zxid of a read. A multi that failed is answered with success, in the header;
// and an empty one is committed, but nobody looks for the session.
//
// The answer must be that to the request. A server matches a commit with the request
// that waits for it by the session and the request's number, so no number may be used
// twice in a session, not on another connection either. (CommitProcessor)
//
// # A: the leader of that epoch was told
//
// The leader of e itself may have had its clock running for long. What proves that it
// knew of the session is two round trips through it, one after the other:
//
//   - The leader pings each server every half tick, and the server's answer tells it of
//     all sessions heard of since the answer before. Pings, answers, forwarded requests
//     and their results travel in order. So when a round trip that was sent at s1 has
//     come back, the server had received a ping not older than s1 less half a tick, and
//     had sent the report that answers it. When another round trip, sent after that,
//     has come back too, the report had arrived. It told of every request that the
//     server had received half a tick before s1; a tick is at most half the session
//     timeout, so that is a quarter of it. What had been answered by then had been
//     received.
//
// So two round trips through the leader prove the newest request that was answered at
// least a quarter of the timeout before the first was sent. Supervise makes a round
// trip every twelfth of the timeout. Those that follow one another more closely than a
// twenty-fourth do not count: a leader whose process stood still may answer several
// before the thread that pings has run. Requests that a server does not report do not
// count: it answers credentials by itself, before it looks for the session. In a race
// with a report a server can forget one request (LearnerSessionTracker.touchSession and
// snapshot); the one before is a twelfth of the timeout older, which the margin covers.
//
// A handshake counts as well. The server that is asked passes it on to its leader,
// which starts its clock for the session anew (REVALIDATE, touchSession). If the
// session was asked for twice at one server, its leader's answer to the first may be
// taken for that to the second (Learner.pendingRevalidations), and A is then the later
// of the two for which the leader may not have been told yet. That does no harm: Q is
// older than either until a transaction on this connection has been answered, and that
// came to the leader behind what told it.
//
// A must not be the word of an older leader than that of Q. A connection has one
// leader: a server that changes its leader closes all connections (Learner.shutdown,
// Leader.shutdown, closeAllConnections). And a client that has seen a transaction of e
// is turned away by every server that has not (ZooKeeperServer.processConnectRequest):
// the guard puts the greatest zxid it has seen into each connect request. So after a
// transaction of e was answered, every later handshake is answered by a leader of e or
// later, and so is each round trip on its connection; and the handshake of the
// connection on which it was answered came before it, to the leader that committed it.
//
// # T: the least that was negotiated
//
// A leader's clock goes by what the last server granted that told it of the session,
// which may be less than was granted before; a later leader's by what was granted to
// the connect request that made the session. The least of all is the safe one to count
// with.
//
// # The end
//
// Reaching the deadline is for good: no answer that comes later brings the session
// back, not that of a handshake or a transaction either. A leader takes all sessions
// that expire in one tick out of its table first and then ends one after the other, and
// those that wait for it are still accepted (SessionTrackerImpl.run). That is also why
// what begins to rely on a session that was on the brink has to wait: see rely. A wall
// clock that ran on while the machine slept counts for both A and Q.
//
// # What is not covered
//
// An observer behind an observer master keeps its report until the leader's next ping,
// while it passes requests on at once, so the second round trip may overtake the
// report: A does not hold. Q needs quorums that intersect: not QuorumOracleMaj, not
// members that were exchanged by hand instead of by reconfig, not a server whose data
// was wiped or restored. docs/guarantees.md has the whole list.
package guard
