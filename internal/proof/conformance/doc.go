// Package conformance holds what is true of every recipe: one suite of tests for all of
// them, and the world it takes place in.
//
// A [World] is a server and its clients on a virtual network in virtual time. A
// [Referee] watches leases: at most so many valid at once, or one writer or many
// readers; tokens that only grow; and no lease that comes back to life. [Run] is the
// suite.
package conformance
