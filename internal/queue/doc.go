// Package queue is the line in which all recipes wait: sequential ephemeral nodes under
// one parent, served in the order of their numbers.
//
// # The algorithm
//
// It is the lock recipe of the ZooKeeper documentation (Hunt et al., "ZooKeeper:
// Wait-free coordination for Internet-scale systems", USENIX ATC 2010, section 2.4),
// with what experience has added:
//
//  1. Join: create a protected sequential ephemeral node; on the same connection,
//     directly behind it, list the children. The listing costs no round trip of its
//     own.
//  2. Decide: a [Policy] sees the contenders ahead and says "admitted" or which of them
//     to wait for. Children that are no contenders' nodes do not count.
//  3. Wait: read that node, and the own one, each with a watch, and wait for either,
//     for the end of the session, or for the caller to lose patience.
//  4. If the node waited for was the only one ahead, its deletion admits without
//     another look: nothing can get in line before a node that exists, and the watch on
//     the own node would have told earlier of its deletion. Otherwise list and decide
//     again.
//  5. Hold: the watch on the own node goes on under the hold. It tells of a deletion by
//     others, also of one in the same transaction that deleted the node ahead, which
//     comes as the next event.
//
// All of it happens in one session, through a client pinned to it. A grant thus needs
// the own node in a listing, or its watch unbroken; that the session is the present one
// follows, since in another no step would have succeeded.
//
// A [Queue] says what a line is; a [Position] goes through these steps, and hands over
// what the last one needs. It is told nothing of patience, and tells facts: how long a
// step may take, and what becomes of a place, is up to who drives it. For recipes that
// grant something that is package acquire.
//
// # What can happen
//
//	the create's answer is lost      the node is found by its id, or known not to exist
//	the caller leaves                the node is deleted in the background until that is certain
//	the session ends while waiting   the node is gone with it; join again in the next session
//	the own node is deleted          join again, at the end of the line
//	the node waited for has gone     list again, at once
//	the parent has gone              make it again
//	the watch could not be kept      read again
package queue
