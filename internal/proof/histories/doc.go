// Package histories makes random histories of the recipes and checks them against
// models.
//
// A scenario is a function of a seed: three to eight clients, a program for each of
// their threads, and faults. It is carried out in virtual time. What was acquired,
// held, confirmed and lost is a history of operations, each of which took effect at one
// moment within an interval; porcupine looks for an order of these moments that the
// model of the recipe allows. What a model does not say is looked at directly:
//
//	I1  what was granted has a node, and what is over stays over
//	I2  the token is that of the node
//	I3  whoever must come first is not in line any more when one is granted
//	I4  everybody is granted, and gets an answer, in bounded time
//	I5  nothing is left, not even while the clients live on
//
// A scenario that fails is made smaller and printed as Go, with its history.
//
// All of it is test code.
package histories
