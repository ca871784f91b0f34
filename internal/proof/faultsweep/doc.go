// Package faultsweep breaks each request of a recipe to the server, one at a time and
// then several at random, and checks the invariants:
//
//	I1  never more valid leases than slots; one writer, or readers
//	I2  tokens grow from holder to holder, if these exclude each other
//	I3  grants follow the order of the nodes
//	I4  every client is granted its leases, in bounded time
//	I5  when all clients are closed they have left nothing
//	I6  each run of a job is recorded once, together with what it changes; a call
//	    that failed, and knows its outcome, has recorded nothing
//	I7  with a lock-delay, a holder is recorded as long as its lease is valid; after an
//	    unclean end the slot stays closed for the delay, after a release it does not,
//	    and no record is left; with a minimum hold time, it stays taken for that
//	I8  MakeNext fails only if the named candidate leads or has lost its session; when it
//	    has succeeded, nobody is between the leader and the named one, which leads next
//	    unless its session ends
//
// A [Plan] is a script for a few clients of one recipe and the faults that strike them.
// [Plan.Run] runs it in virtual time on a server whose stepper orders all events by a
// seed.
//
// Closed slots count as taken for I1. The leases of some multi-locks, on locks of
// several kinds or with a lock-delay, are checked on each of their locks as well.
//
// One test strikes every single call of a run, for each recipe. In these runs each
// client also acquires in ways that may fail, and holders confirm their leases. Random
// plans are lean: three clients contend for a mutex once, which costs a fifth. Both
// check all invariants. Random faults for the other recipes are in
// [github.com/zkrecipes/zkrecipes/internal/proof/histories].
//
// Faults strike at calls, outages and splits at times. A [Split] is the hardest case
// for locks on ZooKeeper: some clients stay connected to a leader without a quorum,
// which answers as before, while the other servers expire their sessions.
//
// # What makes a plan repeat
//
// A lean plan gives the same trace with any GOMAXPROCS in all but one of several
// thousand runs; under the race detector, which makes the scheduler choose at random,
// in all but a few. A stepper alone is not enough, because a client has its own
// goroutines. The seed also orders the requests that they send at one moment
// ([zktest.WithConcurrency]) and gives the names of nodes. One answer, event or broken
// connection at a time wakes a goroutine, and no two timers of one client fire at the
// same time: hence the odd durations here.
//
// Three plans in ten thousand do not repeat, and three in a thousand of those with a
// split, after which clients reconnect while they wait: a client has two equal requests
// under way, such as the syncs of two searches that began with a new connection. The
// wire does not show which goroutine sent which, so the Go scheduler decides the order
// of what follows.
package faultsweep
