// Package contend is the side of a comparison that is measured: one process with one
// client of one system. It reads orders from its standard input, and answers each with
// a line. The program in the folder java does the same for Curator.
//
// An order is a word and values: "cycles kind=mutex goroutines=16 for=1000 path=/p".
// The answer is "ok" with values, or "error" and a text. The orders are
//
//	cycles kind goroutines for path own   acquire and release for so many milliseconds,
//	  dwell                               hold for so many microseconds
//	take n workers path fresh             take n locks, and keep them
//	drop                                  release them; answered when all are
//	hold path worker                      be the holder that others wait for
//	queue n path total limit dwell        n waiters; answered when the path has so many
//	                                      contenders in total, or after the limit
//	drain                                 release what is held, await the waiters
//	left path                             how many nodes the path has, after a drain
//	resign n path                         n changes of leader between two sessions
//	campaign path total, elected          start to campaign; await the election
//	work path                             acquire as a careful user does, then write until the
//	                                      library says that it is lost; answered when acquired
//	stopped limit since                   await that, or the limit; when, and what was written
//	memory                                what this process takes when that is steady
//
// "ops" of an answer are what ended in time, "all" all of them, "ns" the time.
//
// Two holders at once are found out by counters in a file that all processes of a
// workload have in memory: see slots.
package contend
