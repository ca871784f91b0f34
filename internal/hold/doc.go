// Package hold keeps one granted slot from the grant until it is released or lost.
//
// A [Hold] is the slot; its znodes are deleted when the hold ends. A [Handle] is one
// claim on it, from which a lease is made: the grant makes the first, each re-entry a
// further one. The hold is released with its last handle. One goroutine per znode,
// which the session runs and the client's Close waits for, watches for everything that
// can end the hold: the end of the session or its trust deadline, the deletion of the
// znode by another client, the maximum hold time, and, if so configured, a broken
// connection.
//
// Ownership travels in the context of a handle; see [Enter].
package hold
