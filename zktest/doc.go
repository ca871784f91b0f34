// Package zktest is a ZooKeeper server for tests, in memory and in the process of the
// test. It speaks the client protocol of ZooKeeper 3.8, so that any client can talk to
// it, and it can be told to misbehave in every way a real server, or the network in
// front of it, does.
//
//	server := zktest.NewServer(t)
//	client, err := framework.Connect(ctx, framework.Config{Servers: []string{server.Addr()}})
//
// It is for tests, demonstrations and simulation. It keeps nothing on disk and must
// never hold anything of value.
//
// # Virtual time
//
// With [WithNetwork] the server listens on an in-memory [Network]. Inside a
// testing/synctest bubble sessions, pings and expiry then run on virtual time: a
// session of 30 s expires in a millisecond. Make the Network and the server inside the
// bubble; give clients the dial function [Server.Dial]; end the test by closing the
// clients first. Two things to know: a client that dials again at once whenever it is
// refused makes virtual time stand still, and a client's pings keep the bubble busy, so
// that a lost wake-up shows as a test that never ends unless it has a virtual deadline.
//
// # Faults
//
// [Server.On] makes a rule for one kind of request, such as "cut the connection when
// the second create below /locks has been applied". [Server.SetFaults] takes a function
// that is asked at every [Call]: when a client connects, before and after a request is
// applied, when a watch event is about to be sent and when a session is about to
// expire. Both can pass, cut the connection, lose the reply, delay, expire the session,
// answer with an error or fall silent. Other methods act at once:
// [Server.ExpireSession], [Server.DropConnections], [Server.RefuseConnections],
// [Server.Partition], [Server.Stall], [Server.Pause], [Server.Restart], and
// [Server.Lag] for reads from a server that has fallen behind.
//
// [Server.Split] makes two servers of one: an old leader that has lost its quorum and
// does not know, and the others, with a new leader whose clock for sessions is its own.
// The old one goes on answering what needs no quorum and revalidating sessions that the
// others expire. Clients are put on either side at any time.
//
// A reply and an event take their place in the connection's queue when the thing they
// tell of happens. A fault that holds one up holds up what comes after it on the
// connection, and never changes the order.
//
// # Runs that repeat
//
// In a bubble, what happens at the same virtual instant happens in random order.
// [WithStepper] removes that: everything that comes to the server waits until the whole
// bubble has come to rest, then one thing is picked by a seed and let go. The same seed
// and the same [Schedule] of faults then give the same [Server.Trace], whatever
// GOMAXPROCS, with and without the race detector. A client is told one thing at a time:
// it comes to rest between two frames. Things are ordered by the client's name, so give
// each client one.
//
// A client that sends from several goroutines at once needs [WithConcurrency] on top.
// What else races inside a client nobody can order from outside, such as two of its
// timers that go off at once, or the random part of a name.
//
// # What is faithful
//
// All requests, results, error codes and the order in which faults of a request are
// found; Stats, transaction numbers, also those used up by writes that fail; watches of
// all kinds and the order of events, which come before the reply that shows the change;
// ACLs of the schemes world, digest, ip and auth, including the suppression of events
// about nodes the watcher may not read (ZooKeeper 3.8.4 and patched 3.8.0); ephemeral,
// sequential, container and TTL nodes; resuming and taking over sessions; the limit of
// 1 MiB for a frame; the four-letter words ruok, envi and mntr. Several hundred scripts
// with answers recorded from a real server are part of the tests.
//
// # What is not
//
//   - There is one server: no quorum, no leader, no observers, no elections. Of what
//     they do to clients there is a server that has fallen behind ([Server.Lag]), and
//     an old leader or another server without a quorum beside the others
//     ([Server.Split]). Such an old leader answers as long as a test likes; a real one
//     as long as it takes to notice, which has no bound if it was frozen. A reconfig is
//     answered with [ReconfigDisabled], as by a real server that is not told to allow
//     it.
//   - No durability, SASL, TLS, quotas (their nodes are plain nodes), read-only mode or
//     request throttling. Requests the server does not know are answered with
//     [Unimplemented] and the end of the connection, as a real server answers unknown
//     ones.
//   - Sessions expire exactly when their timeout has passed since they were last heard
//     of, which is the earliest a real server may do it; a real one rounds up to the
//     next tick.
//   - Children are listed in a fixed order that is not alphabetical; a real server uses
//     the order of a hash table. A session's ephemeral nodes are deleted oldest first;
//     a real server has no order.
//   - checkWatches looks at the asker's own watches; 3.8 looks at anybody's.
//   - A check outside a multi ends the connection; on 3.8 it ends everybody's. A
//     createTTL whose flags are of another kind is refused; on 3.8.0 it ends the
//     server. Nodes with a time to live are on unless [WithoutTTL] is given.
//   - Several creates in one multi, or under way at once, never get sequence numbers
//     beyond 2147483647, unless all do: see [WithSequenceWrap].
//   - An expired session is always closed at once, and reaping has no limit per minute.
package zktest
