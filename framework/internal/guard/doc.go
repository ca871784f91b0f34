// Package guard makes go-zookeeper safe to build on. A [Guard] stands between it and
// the network, for one session. It is the library's dialer, host provider and net.Conn
// at once. The library attaches the session to servers, and pings them; the guard sends
// all other requests, and reads every frame. It promises:
//
//   - The library serves this session and no other. After the session's end nothing is
//     sent any more, and no other session reaches the library.
//   - No server, name server or function of the caller blocks the client: dialing,
//     handshakes and answers have time limits, and attempts to connect back off across
//     sessions ([Servers]). Sending a request waits for nothing.
//   - Each connection begins with the credentials and the watches of the session.
//   - Requests are carried out in the order in which they were sent. Each gets one
//     [Answer], also if the connection breaks; answers and events come in the order of
//     the server, one at a time. No malformed or huge answer is handed over.
//   - The session is over at its trust deadline at the latest. If it may live longer on
//     the server, the guard closes it there.
//
// The guard knows nothing of operations, retries, and who waits for watches. That is
// the work of the session in package framework, to which the guard reports ([Events]).
//
// # The trust deadline
//
// The guard computes the trust deadline of its session: until then, and for a margin
// longer, no server can have deleted the session's nodes. It is
//
//	min(A, Q) + 5/6 T   while work relies on nodes of the session, see Guard.Rely
//	    A     + 5/6 T   otherwise
//
// At A, or later, the leader knew of the session. No later leader's clock for the
// session started before Q. T is the session timeout.
//
// # Why two proofs
//
// Only the leader expires sessions: each of them one timeout after a server last
// reported it, rounded up. A client never sees the moment of that report. The server to
// which the client is attached proves nothing: it answers pings and reads by itself,
// and goes on doing so for syncLimit ticks after it was cut off from the leader.
//
// A leader does not prove either that it still is the only one. Without a quorum it
// answers syncs and revalidates sessions until it notices: for some ticks if it was cut
// off, for any time if its process stood still. Meanwhile the other servers have
// elected another leader, whose clock for the session started with its epoch (its time
// as leader). No client can bound how long that lasts. But such an old leader cannot
// commit anything.
//
// # Q: no later leader's clock started before
//
// Q is the time at which a transaction was sent: the newest of the session that was
// answered with success, or the connect request that made the session, which is a
// transaction too. Let s be that time, and e the epoch of the leader that committed it.
//
//  1. The answer came after the commit. So a quorum of servers had acknowledged the
//     proposal, which did not exist before s. (FinalRequestProcessor answers what
//     CommitProcessor lets through, Leader.processAck commits.)
//  2. A server acknowledges a proposal of its leader only while it follows that leader.
//     It does so on the thread that would leave the leader, over a connection that it
//     closes before it looks for another leader. So each server of that quorum left the
//     leader of e after s. (Follower.followLeader, Learner.shutdown. The leader's own
//     acknowledgements end in SyncRequestProcessor.shutdown, also before it looks for
//     another leader.)
//  3. A later leader starts its clocks when a quorum has acknowledged its epoch
//     (Leader.lead: waitForNewLeaderAck, then startZkServer and in it
//     createSessionTracker). Any two quorums share a server, and that server left the
//     leader of e after s. So those clocks start after s. Every session then has its
//     whole timeout again, and a clock rounds up (ExpiryQueue.roundToNextInterval). So
//     a later leader does not expire this session before s + T.
//  4. A leader of an epoch before e cannot commit the end of a session any more. What
//     it had proposed earlier either is part of the history in which the transaction
//     succeeded, or is never committed.
//
// So no leader but that of e ends the session before Q + T. No other answer moves Q
// forward: not that of a handshake that revalidates the session, which takes no quorum,
// and not the zxid of a read. Nor does a multi that failed, although the header of its
// answer says success, or an empty multi, which is committed without a look at the
// session.
//
// The answer must be the answer to that request. A server matches a commit with a
// waiting request by the session and the request's number. So no number may be used
// twice in a session, not even on another connection. (CommitProcessor)
//
// # A: the report to the leader of that epoch
//
// The clock of the leader of e itself may have been running for long. Two round trips
// through it, one after the other, prove that it knew of the session:
//
//   - The leader pings each server every half tick. The server's answer is a report of
//     all sessions that were active since its last report. Pings, reports, forwarded
//     requests and their results travel in order.
//   - So when a round trip that was sent at s1 has come back, the server had received a
//     ping not older than s1 less half a tick, and had sent its report.
//   - When a second round trip, sent after that, has come back too, the report had
//     arrived. It covered every request that the server had received half a tick before
//     s1.
//   - A tick is at most half the session timeout, so half a tick is at most a quarter
//     of the timeout. A request that had been answered by then had been received.
//
// So two round trips through the leader prove the newest request that was answered at
// least a quarter of the timeout before the first of the two was sent. Supervise makes
// a round trip every twelfth of the timeout. Some things do not count:
//
//   - A round trip that follows another within a twenty-fourth of the timeout. A leader
//     whose process stood still may answer several before the thread that pings has
//     run.
//   - A request that a server does not report. It answers credentials by itself, before
//     it looks for the session.
//
// In a race with a report a server can forget one request
// (LearnerSessionTracker.touchSession and snapshot). The request before that one is a
// twelfth of the timeout older, which the margin covers.
//
// A handshake counts as well. The server passes it on to its leader, which starts its
// clock for the session again (REVALIDATE, touchSession). If the client asked one
// server for the session twice, that server may take its leader's answer to the first
// request for the answer to the second (Learner.pendingRevalidations). A is then the
// time of the second request, which may not have reached the leader yet. That does no
// harm: Q is older than both until a transaction on this connection has been answered,
// and that transaction reached the leader behind the second request.
//
// A must not come from an older leader than Q. A connection has one leader: a server
// that changes its leader closes all connections (Learner.shutdown, Leader.shutdown,
// closeAllConnections). A client that has seen a transaction of e is turned away by
// every server that has not (ZooKeeperServer.processConnectRequest), because the guard
// puts the greatest zxid it has seen into each connect request. So after a transaction
// of e was answered, every later handshake is answered by a leader of e or later, and
// so is each round trip on its connection. The handshake of the connection that
// answered the transaction came before it, and went to the same leader.
//
// # T: the least timeout that was negotiated
//
// A leader counts with the timeout that was granted by the last server that reported
// the session, which may be less than was granted before. A later leader counts with
// the timeout that was granted to the connect request that made the session. The least
// of all is the safe one to count with.
//
// # The end
//
// Reaching the deadline is final: no later answer brings the session back, not even
// that of a handshake or a transaction. A leader first takes all sessions that expire
// in one tick out of its table and then ends them one after the other. Until it ends a
// session it still accepts it (SessionTrackerImpl.run). For the same reason work that
// begins to rely on a session that was about to expire has to wait: see rely. For A and
// Q the wall clock counts as well, which runs on while the machine sleeps.
//
// # What is not covered
//
// An observer behind an observer master keeps its report until the leader's next ping,
// but passes requests on at once. So the second round trip may overtake the report, and
// A does not hold. Q needs quorums that intersect: not QuorumOracleMaj, not members
// that were exchanged by hand instead of by reconfig, not a server whose data was wiped
// or restored. docs/guarantees.md has the whole list.
package guard
