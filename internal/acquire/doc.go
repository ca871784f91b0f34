// Package acquire implements a call of Acquire: what is the same in all recipes.
//
// A [Recipe] re-enters the hold that the caller's context owns. Without a hold it
// starts the clock, and calls the [Taker] in one session after another until there is a
// lease or the time is up; one error then says which contender was ahead, and what
// failed. A taker goes from a session to a grant, through positions in one queue or
// several, with the methods of its [Try]. [InQueue] is the taker of recipes whose slot
// is a node of a queue.
package acquire
