// Package zktest is a ZooKeeper server for tests, in memory and in the process of the
// test. It speaks the client protocol of ZooKeeper 3.8, so any client can use it. A
// test can make it fail in the ways in which real servers and networks fail, and run it
// in virtual time.
//
//	server := zktest.NewServer(t)
//	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
//
// It is for tests, demonstrations and simulation. It stores nothing on disk. Its API is
// not stable yet.
//
// The examples show tests with a server, with a session that expires, with dropped
// answers, with random faults, and in virtual time.
//
// A test can also look at the server: [Server.Node], [Server.Children] and
// [Server.Sessions] return its state, [Server.Count] and [Server.Trace] what clients
// have sent, and [Server.Dump] prints all of it when a test fails.
//
// # Faults
//
// [Server.On] makes a [Rule] for one kind of request. This one breaks the connection
// after the first create below /locks has taken effect, so that its answer is dropped:
//
//	server.On(zktest.OpCreate, "/locks").After().Cut()
//
// Other methods act at once:
//
//   - [Server.ExpireSession] ends a session;
//   - [Server.DropConnections], [Server.RefuseConnections], [Server.Partition] and
//     [Server.Stall] are faults of the network;
//   - [Server.Pause], [Server.Resume] and [Server.Restart] are those of the server
//     process;
//   - [Server.Lag] makes a client read old data, as from a server that is behind;
//   - [Server.SetClock] gives nodes the times of a wrong clock;
//   - [Server.Split] leaves clients with an old leader without a quorum.
//
// Faults name clients by the name given to [Server.Dial], which returns a client's dial
// function.
//
// [Server.SetFaults] takes a function that decides at every [Call]: when a client
// connects, before and after a request is applied, before a watch event is sent, and
// before a session expires. A [Schedule] is such a function as data. It can be random,
// printed, and reduced to the faults that matter.
//
// A fault that delays a reply or an event also delays all that follows on the same
// connection. The order never changes.
//
// # Virtual time
//
// With [WithNetwork] the server listens on an in-memory [Network]. In a
// testing/synctest bubble sessions, pings and expiry then run in virtual time: a
// session of 30 s expires in a millisecond. Make the Network and the server inside the
// bubble, give clients the dial function of [Server.Dial], and close the clients before
// the test ends.
//
// A client that dials again at once whenever it is refused makes virtual time stand
// still. The pings of a client keep time going: a test that waits for a wake-up that
// never comes does not deadlock but runs for ever, unless its context has a deadline.
//
// # Like a real server
//
// All requests, results and error codes, and the order in which the errors of a request
// are checked; Stats and transaction numbers, including those of failed writes; watches
// of all kinds, and the order of events, which precede the reply that shows the change;
// ACLs of the schemes world, digest, ip and auth, and no events about nodes that the
// watcher may not read (as in ZooKeeper 3.8.4); ephemeral, sequential, container and
// TTL nodes; resuming a session, also while another connection has it; the limit of 1
// MiB for a frame; the four-letter words ruok, envi and mntr. The tests replay several
// hundred scripts whose answers were recorded from a real server.
//
// # Unlike a real server
//
//   - It is one server, without quorum, leader, observers or elections. [Server.Lag]
//     and [Server.Split] show what these mean to clients. A reconfig is answered with
//     [ReconfigDisabled], as by a real server without reconfigEnabled.
//   - It has no durability, SASL, TLS, quotas, read-only mode or throttling. Requests
//     that it does not know are answered with [Unimplemented] and the end of the
//     connection, as by a real server.
//   - A session expires exactly one timeout after the server last heard of it, which is
//     the earliest possible moment; a real server rounds up to the next tick.
//   - Children are listed in a fixed order that is not alphabetical. A session's
//     ephemeral nodes are deleted oldest first. With a real server both orders are
//     random.
//   - checkWatches looks only at the client's own watches, in 3.8 at all clients'. A
//     check outside a multi ends the connection, in 3.8 all clients' connections. A
//     createTTL with other flags is refused, in 3.8.0 it ends the server. Nodes with a
//     time to live are on, unless [WithoutTTL] is given.
//   - Sequence numbers never exceed 2147483647, even of several creates in one multi or
//     under way at once; see [WithSequenceWrap].
//   - An expired session is closed at once, and reaping has no limit per minute.
//
// # Simulation
//
// Most tests do not need what follows: [WithStepper], [WithConcurrency], [Sent] and
// [Server.Settle]. They make runs under many schedules of faults repeat exactly, as in
// this project's own tests.
//
// In a bubble, what happens at the same virtual instant happens in random order. With
// [WithStepper] a seed decides the order: all that arrives at the server waits until
// the whole bubble is blocked, then the seed picks one event to go on. The same seed
// and the same [Schedule] give the same [Server.Trace], whatever GOMAXPROCS is, with
// and without the race detector. Events are ordered by client name, so name each
// client.
//
// A client that sends from several goroutines needs [WithConcurrency] as well. The
// server cannot order what else races inside a client, such as two timers that fire at
// the same time, or random names.
package zktest
