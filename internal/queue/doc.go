// Package queue implements the queue in which all recipes wait: sequential ephemeral
// nodes under one parent, admitted in the order of their numbers.
//
// # The algorithm
//
// It is the lock recipe of the ZooKeeper documentation (Hunt et al., "ZooKeeper:
// Wait-free coordination for Internet-scale systems", USENIX ATC 2010, section 2.4),
// with these additions:
//
//  1. Join: create a protected sequential ephemeral node; directly behind it, on the
//     same connection, list the children. The listing costs no round trip of its own.
//  2. Decide: a [Policy] sees the contenders ahead, and either admits the position or
//     names those to wait for. Other children do not count.
//  3. Wait: read the predecessor and the own node, each with a watch. Wait for an event
//     of either, for the end of the session, or for the limit of the caller.
//  4. If the predecessor was the only node ahead, its deletion admits the position
//     without another listing: no node can be created ahead of one that exists, and the
//     watch on the own node would have fired first if that had been deleted. Otherwise
//     list and decide again.
//  5. Hold: the watch on the own node continues under the hold. It fires when another
//     client deletes the node, also in the transaction that deleted the predecessor:
//     that is the next event.
//
// All of it happens in one session, through a client pinned to it. So a grant needs the
// own node in a listing, or an unbroken watch on it. The session is then the present
// one, because no step succeeds in another.
//
// A [Queue] describes a queue; a [Position] goes through these steps, and provides what
// the last one needs. It only reports facts. Its caller decides how long a step may
// take, and what happens to the position: package acquire, for recipes that grant
// something.
//
// # What can happen
//
//	the create's answer is dropped   the node is found by its id, or known not to exist
//	the caller gives up              the node is deleted in the background until that is certain
//	the session ends while waiting   the node is gone with it; join again in the next session
//	the own node is deleted          join again, at the end of the queue
//	the predecessor is deleted       list again, at once
//	the parent was reaped            make it again
//	the watch was not kept           read again
package queue
