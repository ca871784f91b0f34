// Package acquire is one call of a recipe's Acquire: what is the same in all of them.
//
// A [Recipe] re-enters the hold that the caller's context owns, or starts the clock and
// has the recipe's [Taker] try in session after session until it has a place, or until
// the time is up, and then says in one error who was in the way and what went wrong.
// The taker goes from one session to a grant, through places in one queue or several,
// with what a [Try] offers it; [InQueue] is that of recipes whose place is a node in
// line.
package acquire
