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
//     All positions of a session in one queue share it: one listing is under way at a
//     time, and serves every create that was sent before it.
//     Of the many positions that a client may have in a queue, only the first do that,
//     and what follows: see crowd.
//  2. Decide: a [Policy] sees the contenders ahead, and either admits the position or
//     names those to wait for. Other children do not count.
//  3. Wait: have these nodes and the own one watched, unless a position of the session
//     has. A watch that is set is not read again.
//  4. What the session learns of deletions is taken out of the listing, for all its
//     positions: the answers to its own deletes, the events of watches, reads that find
//     no node. If nothing keeps the position out any more, it is admitted without
//     another request: no node can be created ahead of one that exists, and the watch
//     on the own node would have fired first if that had been deleted.
//  5. Hand over: if the last holder is a position of this session, the next one need
//     not wait for the answer to its delete.
//  6. Hold: the watch on the own node continues under the hold. It fires when another
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
// something. A view is what the positions of one session share, and its comment says
// why a decision by it is right. It makes all requests but creates and deletes, in
// goroutines of the session.
//
// # What can happen
//
//	the create's answer is dropped   the node is found by its id, or known not to exist
//	the caller gives up              the node is deleted in the background until that is certain
//	the session ends while waiting   the node is gone with it; join again in the next session
//	the own node is deleted          join again, at the end of the queue
//	the predecessor is deleted       look whether others are ahead, unless that is known
//	the connection breaks            list again, behind a sync, when something has changed
//	a listing fails                  those who wait for it try again
//	the parent was reaped            make it again
//	the watch was not kept           read again
//	a change comes without an event  a slow listing finds it
package queue
