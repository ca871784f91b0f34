// Package queuemodel is a model of what the waiters of one session share of a queue:
// the view of internal/queue, whose comment says why a decision by it is right. The
// tests go through all states that a few contenders can bring it into, breadth first,
// and look whether something happens that must not. The package is test code only.
//
// # What is in the model
//
// Up to three waiters of one session and up to two contenders of other sessions, which
// are granted by what the leader has. They are mutexes, readers and writers, one of
// which downgrades, or want permits of a semaphore. The session has one connection,
// with requests and answers in order, and events in the order of the changes. When it
// breaks, the next server may be behind the leader, but not behind an answer; the
// events that were missed come in any order before requests may be sent. A scenario
// says how often an operator deletes a node or changes its data, the connection breaks,
// watches cannot be set again, a listing fails, a waiter gives up, a lease is lost
// while its node stands, and the parent is made anew. In some scenarios goroutines
// handle answers later than the events that follow these, or names have no id and are
// used again.
//
// The client is modelled as it is built: creates with a listing behind them, one
// listing at a time, which a goroutine repeats after a failure or a break, the moments
// that it is compared with, deletions that are learned of, watches that positions
// share, reads in place of a listing, the look-ahead, holds that take the watch over or
// set their own, and a view that is kept while unused. Each step is what the code does
// under its lock. A slot that is released is handed over when its delete was sent. The
// deletes are sent again before anything else on the next connection. In some scenarios
// creates and deletes travel together: a group goes out at any moment, and may be
// refused because of something else in it. In others the front of the crowd is smaller
// than the crowd. A decision and DetachWatch are one step, and so are taking the
// connection and the moment of a listing: what comes between them does what it does
// before or after.
//
// # What must not happen
//
//	unjust grant                               at no moment did the own node stand with nothing ahead
//	                                           that conflicts, by the history of the leader
//	                                           or, handed over, with nothing that is not being deleted
//	an earlier holder writes after a later one over the same session, and checks its node
//	two acquirers have one token               nodes of one transaction have one czxid
//	two holders, too many holders              an operator may delete the node of a just grant: its
//	                                           hold is notified
//	evicted though its node stands
//	joins for ever                             nothing happens any more, and a create was not answered
//	waits for ever although it is free         or without a node
//	holds without a node, and is not notified
//	its node stays                             although nothing needs it
//	livelock                                   what happens by itself does not end
//
// # What is needed
//
// The conditions below are those of the code; conditions_test.go quotes the line of
// each. TestEachConditionIsNeeded leaves them out, one at a time, and expects what must
// not happen.
//
//	ownWatch          admission.go  a deletion admits only with a watch on the own node
//	settledWatch      admission.go  that is set, and not about to be
//	ifReduced         admission.go  if one that the listing shows is known to be deleted
//	showsOwn          admission.go  a listing counts only if it shows the own node
//	evictAfterAnswer  admission.go  and evicts only if it was sent after the answer to the create
//	recheckWriters    admission.go  a writer lists again behind the deletion of a writer
//	recheckShown      listing.go    and again, if that listing shows the deleted one
//	ownReadWakes      admission.go  the read of the own node wakes one that waits only for that
//	watchOwnEarly     admission.go  the own node is watched from the first wait on
//	voidByBreak       view.go       a listing counts while its connection lasts
//	voidNameless      view.go       a name without an id that is deleted voids the listing
//	discardBroken     listing.go    the answer of another connection does not count
//	brokenFirst       listing.go    the connection is taken before the moment of the listing
//	momentOfSending   listing.go    and that moment is right before the listing is sent, not when it is wanted
//	factsSince        listing.go    only deletions learned of since then are taken out of it
//	listingWakes      listing.go    a listing wakes those that want it
//	retryFailed       listing.go    one that fails is tried again
//	repeatBroken      listing.go    so is one whose connection has broken
//	deletionWakes     node.go       a deletion wakes those that wait for it
//	firedWatch        node.go       an event before the answer of its read: the watch is not set
//	renewFired        node.go       a watch that has fired is set again
//	readLearns        node.go       a read that finds no node is a deletion
//	heirNotified      node.go       an event reaches the hold that has taken the watch
//	missedWhileTaken  node.go       which asks what came before
//	oneOfParent       groups.go     creates of one parent do not travel together
//	handsOverAlone    releases.go   the delete of a slot that is handed over travels alone
//	repeatAlone       flight.go     a group that is refused is repeated, each member alone
//	givenBack         groups.go     what waits in the queue for a group is sent over the next connection
//	frontWakes        crowd.go      who comes to the front of the crowd is woken
//	showsBehind       admission.go  a listing does not evict those behind the last name that is kept
//	keepsWanted       listing.go    those who want a listing are kept in it
//	holdLooks         hold/table.go a hold without a watch sets one
//	watchOfNext       handover.go   a slot is handed over only to one with a watch on its own node, or a young one
//	restEnds          handover.go   that reads what it waits for when it is young no more
//	sentBeforeOver    releases.go   and only when the delete has its place
//	sentAgainFirst    gate.go       which goes first on the next connection, too
//
// These save requests or time. The long form leaves each out, and expects nothing.
//
//	facts             listing.go    what was learned is taken out of the next listing: an answer
//	                                that came before it is in it; one that is handled late is read again
//	syncFirst         listing.go    the first listing of a connection is behind a sync: it bounds how old
//	                                the listing may be
//	wantAfter         listing.go    a position wants a listing after a moment: if woken too early it wants again
//	listingForgets    listing.go    a listing forgets the nodes that it does not show: for slow looks
//	dropJoining       listing.go    a break has only those list again whose create was answered
//	learnOnce         view.go       a deletion that is known is not learned of again
//	eventEvicts       node.go       an event evicts: else the next listing does
//	inherit           position.go   a hold takes the watch over: else it reads
//	overOfConnection  policy.go     what is over counts while the connection lasts
//	noReaderBeside    view.go       no listing follows the deletion of a writer that was handed over
//	toldAgain         groups.go     behind the repeated create another listing is sent: else one is asked for
//	joinsUnlisted     position.go   no listing follows the create of one that will not belong to the front
//	trims             listing.go    a listing is kept for the front only
//	lookAhead         lookahead.go  a position waits for the second contender ahead as well
//
// # What is not in the model
//
// The end of the session; a crowd of several sessions; several nodes under one id, and
// nodes that are replaced; slow looks, which would hide that something waits for ever;
// a semaphore whose size changes, and weights; downgrades of the own session; answers
// that are too large; a limit of reads at once, and their order; watches that are taken
// back because they are idle.
//
// # When the code changes
//
// Change the model first, run the long form, and then change the code. A search that
// has another number of states than before says that the model has changed: look at
// what it can no longer do, or can do now, before you write down the new number.
package queuemodel
