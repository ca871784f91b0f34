// Package waitfor finds deadlocks among the contenders of some queues: it is pure
// logic, and knows no server.
//
// It is the reduction of Holt ("Some deadlock properties of computer systems", ACM
// Computing Surveys 4(3), 1972), as a greatest fixpoint. At first all waiters count as
// stuck, and all holders that a waiter owns: such a holder is not released before that
// wait has ended. Then each that can go does so, and counts no more:
//
//   - a waiter, if those ahead of it that are stuck leave enough for it;
//   - a holder, if no waiter that is stuck owns it.
//
// The order does not matter, because less that is stuck lets no fewer go. What is left
// when nobody can go is a deadlock, or waits for one. A waiter that goes is taken to be
// granted, to do its work, and to end, with all that it owns: who may wait for more
// later is not known, so what is found is at least there.
//
// In what is left everyone waits for another one that is stuck, so there are cycles.
// For each strongly connected component of it there is one that a person can read.
package waitfor
