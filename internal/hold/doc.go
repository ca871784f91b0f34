// Package hold is the lifetime of one granted place: from the moment a recipe has it
// until it is given up or lost.
//
// A [Hold] is the place; its znodes go when the hold ends. A [Handle] is one claim on
// it, of which a lease is made: the first comes with the grant, more come by
// re-entering. The hold is given up when its last handle is released. One goroutine per
// znode, run by the session and waited for by the client's Close, watches for
// everything that can end the hold: the end of the session or its trust deadline, the
// deletion of the znode by somebody else, the maximum hold time, and, if so configured,
// a broken connection.
//
// Ownership travels in the context of a handle; see [Enter].
package hold
