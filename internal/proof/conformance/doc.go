// Package conformance is one suite of tests that every recipe must pass, with the
// server and the clients that it needs.
//
// A [World] is a server and its clients on a virtual network in virtual time. A
// [Referee] checks leases: how many are valid at once, one writer or many readers,
// tokens that only grow, and that a lease that is over stays over. [Run] runs the
// suite.
package conformance
