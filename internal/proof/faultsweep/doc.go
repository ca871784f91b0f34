// Package faultsweep breaks everything that a recipe asks of a server, one thing at a
// time and then several at random, and looks whether the invariants hold:
//
//	I1  never more valid leases than places; one writer, or readers
//	I2  tokens grow from holder to holder, of those that exclude each other
//	I3  grants follow the order of the nodes
//	I4  everybody is granted, in bounded time
//	I5  when all clients are closed nothing of theirs is left
//
// A [Plan] is a script for a few clients of one recipe and the faults that strike them;
// [Plan.Run] carries it out in virtual time on a server whose stepper makes the order
// of what happens a function of a seed.
//
// One test strikes every single call of a run, of each recipe. In these runs each
// client acquires in ways that may fail, too, and holders ask whether they still hold.
// Random plans are lean: three clients contend for a mutex once, which costs a fifth.
// All invariants are looked at in both. What strikes the other recipes at random is in
// [github.com/zkrecipes/zkrecipes/internal/proof/histories].
//
// Faults strike at calls, outages and partings at times. A [Parting] is what locks on
// ZooKeeper are most easily got wrong with: some clients are left with a leader that
// has lost its quorum, which answers them as before, while the others expire their
// sessions.
//
// # What makes a plan repeat
//
// A lean plan does the same, whatever GOMAXPROCS is, in all but one of several thousand
// runs; under the race detector, which makes the scheduler choose at random, in all but
// a few. That takes more than a stepper, because a client has goroutines of its own.
// What they send at one moment is let through in an order that the seed picks
// ([zktest.WithConcurrency]), each of them is woken by one answer, event or broken
// connection at a time, the names of nodes come from the seed, and no two timers of one
// client go off at the same time and race: hence the odd times here.
//
// Of three plans in ten thousand, and of three in a thousand of those with a parting,
// after which clients reconnect while they wait, that does not hold: a client has two
// equal requests under way, such as the syncs of two searches for lost nodes that began
// when a connection came back. Which is whose does not show on the wire, so the order
// of what follows from them is up to the Go scheduler.
package faultsweep
