// Package histories checks random histories of the recipes against models.
//
// A scenario is a function of a seed: three to eight clients, a program for each of
// their threads, and faults. It runs in virtual time. A history lists what was
// acquired, held, confirmed and lost. Each operation took effect at one moment within
// an interval; porcupine searches for an order of these moments that the model of the
// recipe allows. What a model does not cover is checked directly:
//
//	I1  a granted lease has a node, and a lease that is over stays over
//	I2  a lease has the token of its node
//	I3  at a grant, no contender is left ahead that had to be granted first
//	I4  every client is granted its leases, and gets answers, in bounded time
//	I5  no node is left, not even while the clients live on
//
// A scenario that fails is made smaller and printed as Go, with its history. The
// package is test code only.
package histories
