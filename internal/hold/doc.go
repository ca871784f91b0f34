// Package hold keeps one granted slot from the grant until it is released or lost.
//
// A [Hold] is the slot; its znodes are deleted when the hold ends. A [Handle] is one
// claim on it, from which a lease is made: the grant makes the first, each re-entry a
// further one. The hold is released with its last handle.
//
// A table has all holds of a session. One goroutine, which the session runs and the
// client's Close waits for, looks after everything that can end them: the end of the
// session or its trust deadline, the deletion of a znode by another client, the maximum
// hold time, and, if so configured, a broken connection. So a hold costs memory only.
// Nothing waits for that goroutine to run: Err asks the clock, and knows of an event,
// itself. Looks at znodes, a few at a time, and the functions of observers run in
// others, so that they delay nothing.
//
// Ownership travels in the context of a handle; see [Enter].
package hold
