// Package histories checks random histories of the recipes against models.
//
// A scenario is a function of a seed: one to eight clients, a program for each of
// their threads, and faults. It runs in virtual time. A history lists what was
// acquired, held, confirmed and lost. Each operation took effect at one moment within
// an interval; porcupine searches for an order of these moments that the model of the
// recipe allows. What a model does not cover is checked directly:
//
//	I1  a granted lease has a node, and a lease that is over stays over
//	I2  a lease has the token of its node; one on several locks, those of its nodes
//	I3  at a grant, no contender is left ahead that had to be granted first; the
//	    node of a holder of the same session may stand, if it was released while valid
//	I4  every client is granted its leases, and gets answers, in bounded time
//	I5  no node is left, not even while the clients live on
//	I6  once a holder has written or read through its client, or has confirmed its
//	    lease, nothing is written any more for a holder before it, by any client
//	I7  with a lock-delay, a holder is recorded, after an unclean end the slot stays
//	    closed for the delay, and no release leaves a record; a minimum hold time lasts
//	I8  when MakeNext has succeeded, the named candidate was in the queue meanwhile,
//	    and nobody is between the leader and it
//
// In a third of the scenarios each client also makes and deletes nodes on other paths,
// just before its threads acquire, are cancelled or release. So what these send travels
// in groups, some of which are refused, struck or never sent. The callers on these
// paths are checked as well: each gets the answer to its own call.
//
// Jobs have plans of their own, which last for minutes, so that records are removed
// meanwhile; some have a lock-delay. Their judge looks at the server after each call.
//
// A scenario that fails is made smaller and printed as Go, with its history. The
// package is test code only.
package histories
