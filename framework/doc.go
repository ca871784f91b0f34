// Package framework is a ZooKeeper client that keeps a session, and further ones where
// one has no room for all locks. It connects and reconnects, repeats what is safe to
// repeat, distinguishes "failed" from "unknown", and ends a session locally before a
// server can have given its ephemeral nodes away.
//
//	client, err := framework.Connect(ctx, framework.Config{Servers: []string{"zk1:2181", "zk2:2181"}})
//	...
//	defer client.Close()
//	data, stat, err := client.Get(ctx, "/app/config")
//
// Locks, semaphores and leader election are built on it: see the packages below
// recipes.
//
// It does not make the network reliable. A process that is paused longer than its
// session timeout can wake up and act before it notices; only a fencing token checked
// by the resource, or a CheckOp inside a [Client.Multi], protects against that.
//
// # Sessions and states
//
// A [Client] lives through many sessions, one after another:
//
//	             reattached within the trust window
//	           +-------------------------------------+
//	           v                                     |
//	      Connected ---- no server answers ----> Suspended
//	        ^   |                                    |
//	        |   | expired by the server              | expired by the server, or
//	        |   v                                    v the trust deadline passed
//	  new   +- Lost <--------------------------------+
//	session                 Close from any state ----> Closed
//
// Connected means that the session is attached to a server. Suspended means that no
// server is reachable, and that the session may still live. Lost means that the client
// does not use this session any more; the next state is Connected with another session
// id, or Closed.
//
// A session has room for some 11,000 locks and waiters. When there are more, the client
// opens further sessions beside this main one: see Config.Sessions. Each lives as drawn
// above, but nothing follows its end: who waits in it queues again in another. A lease
// belongs to one session, and ends with that alone. The state of the client is then the
// worst of those of its main session and of the further ones that hold something, and
// the loss of each of these is reported; behind it comes the state that the others are
// in. StateChange.Session and the log say which session it is.
//
// Operations are sent in the main session. The first one that follows a grant in a
// further session waits until it comes behind all that led to the grant: so a holder
// sees what was done before it, whatever session its lease is of.
//
// # Outcomes
//
// Every request ends in one of three ways: done, failed (certainly without effect), or
// unknown: sent and never answered, so it may have happened and may still happen until
// the session has re-attached or its timeout has passed. Errors of operations are
// [*OpError] values; [OutcomeOf] distinguishes the two kinds of failure, and
// errors.Is(err, ErrUnknownOutcome) is true for the second. Reads are repeated after
// both. Writes are repeated only after a certain failure to have any effect, never
// after an unknown outcome.
//
// # Requests and sessions
//
// A request that waits in one session is never sent in another. Operations that must
// not be repeated in another session either, such as those of a lock, use a view that
// is pinned to one: [Client.In].
//
// # The trust deadline
//
// The leader expires a session one timeout after a server last reported it. A client
// never sees that moment, and an answer is no proof: the server that a client is
// attached to answers pings and reads by itself, and continues to do so for up to
// syncLimit ticks after it was cut off from the leader. So the framework makes a round
// trip through the leader, a sync, every twelfth of the timeout. Two of them, one after
// the other, prove what was reported to the leader by the end of the second. Call the
// time that is proved in this way A.
//
// Nor does a leader prove that there is no other. A leader without a quorum answers
// syncs and revalidates sessions until it notices. No client can bound how long that
// takes, and meanwhile a new leader's clock for the session runs. But a leader without
// a quorum commits nothing. So while work relies on the session, as every lease does, a
// second time counts, Q: when the newest transaction was sent that was answered with
// success. If there is no other, the framework makes a small one every quarter of the
// timeout and on each new connection: it checks that the nodes exist that are relied
// on. The comment of the package internal/guard has the whole argument. Five sixths of
// the timeout after A, or after the earlier of A and Q, lies the
//
//	trust deadline
//
// on the local clock; with an ensemble that answers it is about half a timeout away.
// Until then no server can have expired the session, nor for another sixth of the
// timeout. That sixth is margin for clocks that run at different rates and for work
// that needs time to stop. When the deadline passes the session ends in this process,
// whatever the servers think. Once that sixth has passed too, the framework closes the
// session on the servers as soon as one can be reached. A session on which nothing
// relies is lost by A alone, which proves less: that some leader knew of it, perhaps a
// deposed one.
//
// The timeout is the least that was granted to any connection of the session. All
// servers need the same tickTime, minSessionTimeout and maxSessionTimeout. The argument
// needs a session timeout of at least two ticks, which is the least that servers grant
// by default. And it needs servers that report to the leader themselves. An observer
// behind an observer master (observerMasterPort) does not: list no such servers.
package framework
