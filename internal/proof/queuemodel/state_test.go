package queuemodel

import "math/bits"

// Nodes 0 to 2 are those of the local waiters W0 to W2, 3 and 4 those of the foreign
// contenders F0 and F1, and 5 is D, the reader's node that the writer F0 makes with its
// own number before it leaves.
const (
	maxLocals  = 3
	maxForeign = 2
	downgraded = maxLocals + maxForeign
	maxNodes   = downgraded + 1
)

// A nodeSet is a set of nodes, or of the waiters whose nodes they are.
type nodeSet uint8

func only(x int) nodeSet              { return 1 << x }
func (s nodeSet) has(x int) bool      { return s&only(x) != 0 }
func (s nodeSet) count() int          { return bits.OnesCount8(uint8(s)) }
func (s *nodeSet) add(x int)          { *s |= only(x) }
func (s *nodeSet) drop(x int)         { *s &^= only(x) }
func (s *nodeSet) put(x int, in bool) { s.drop(x); *s |= nodeSet(b2i(in)) << x }

func b2i(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// phases of a contender
const (
	outside = iota
	creating
	waiting
	holding
	leaseLost // its node stands
	released  // the delete is under way
	left
)

// what is done about the deletion of a node
const (
	notDue = iota
	due
	sent
	done
)

// requests, their answers, and events
const (
	noMessage = iota
	create
	remove
	synchronise
	list
	get       // by the view
	look      // by a hold
	find      // of a create whose outcome is unknown
	work      // of a holder, in the session
	lateWrite // of an earlier holder: a transaction that checks its node
	deleted   // an event
	changed   // an event
	together  // a group of creates and deletes
)

// A message is a request, an answer or an event.
type message struct {
	kind, node uint8
	shows      nodeSet // what a listing shows, or the members of a group
	position   uint8   // in changes, of an answer
	ok         bool    // there is such a node
	sets       bool    // with a watch
	dead       bool    // nothing uses the answer
}

// phases of the listing under way
const (
	noListing   = iota
	begins      // it is found out whether a sync is needed
	syncDue     // before the listing
	syncSent    //
	captures    // the connection is taken, and the moment
	listDue     // to be sent
	listSent    //
	answered    // to be accepted
	broke       // the connection has broken: it may be sent over another one
	unanswered  // the connection broke, and the request is not repeated
	sentAnother // without discardBroken: the answer of another connection counts
)

// whether the listing of the view counts
const (
	unlisted = iota
	isBroken
	counts
)

// The server answers a request while there is room for the answer and for events.
const maxRequests, maxInbox, maxChanges = 8, 14, 12

// A change at the leader: create, remove, or changed for a change of data.
type change struct{ kind, node uint8 }

// budgets are what may still happen: see scenario.
type budgets struct {
	deletes, changes, breaks, unkept, failures, leaves, losses, reaps, downgrades, lateWrites, refusals uint8
}

// A state has only bytes, so that it can be hashed as memory. The clock of the view is
// not there. What is compared with it is: voided says what came after the moment of the
// present listing, and what ends in Next what came after that of the listing under way.
type state struct {
	// The ensemble.
	known      nodeSet            // stands at the zxid that the client knows
	log        [maxChanges]change // since then
	logged     uint8
	replica    uint8 // how many of them the client's server has
	standing   nodeSet
	made       nodeSet
	reaped     nodeSet // made before the parent was made anew
	byOperator nodeSet // deleted by one
	entitled   nodeSet // at some moment they stood, and nothing that conflicts was ahead
	number     [maxNodes]uint8
	nextNumber uint8
	armed      nodeSet // watches on the server

	// The connection.
	attached, open bool    // open: requests may be sent
	missedDeleted  nodeSet // events that come before that, in any order
	missedChanged  nodeSet
	requests       [maxRequests]message
	requested      uint8
	inbox          [maxInbox]message
	received       uint8
	watches        nodeSet // that the library has

	// Answers that no goroutine has handled yet.
	lateRead, lateNoNode     [maxNodes]uint8
	lateCreated, lateRemoved nodeSet
	lateLook, lateLookNoNode nodeSet
	lateFound, lateNotFound  nodeSet

	// Positions.
	phase       [maxLocals]uint8
	removal     [maxLocals]uint8
	toCreate    nodeSet // the create is to be sent when there is a connection
	unknown     nodeSet // its outcome is
	beingFound  nodeSet // a search for the node is under way
	unjust      nodeSet // were granted so
	joining     nodeSet // the create is queued for a group
	parting     nodeSet // the delete is
	behind      nodeSet // the front of the crowd
	stoodBehind nodeSet // have been that

	// Hand-overs.
	young       nodeSet // made a moment ago
	granted     nodeSet // the last one
	toHand      nodeSet // released, and the delete is to be sent
	over        nodeSet // it is sent, over this connection
	unconfirmed nodeSet // it was sent, and the deletion is not known
	worked      nodeSet // holders whose work the server has carried out

	// Holds.
	heir         nodeSet // have the watch of their position
	fresh        nodeSet // have not taken it yet
	missed, dead nodeSet // what came until then: an event, the deletion
	relies       nodeSet // there is a watch
	looking      nodeSet // a read is under way
	lookFired    nodeSet // and an event came before its answer

	// Others.
	foreignPhase    [maxForeign]uint8
	downgradedPhase uint8
	left            budgets

	// The view.
	listed, listing            uint8
	repeats                    bool    // a goroutine lists, and repeats the request
	shows                      nodeSet // its answer
	names, gone                nodeSet // of the present one; those of them that are deleted
	lastName                   uint8   // the number of the last of them that is kept; 0 if all are
	facts                      nodeSet
	reduced                    bool
	voided, voidedNext         bool
	rechecks, factsAgain       nodeSet
	wanting, wantingNext       nodeSet // wantingNext: the listing under way is late enough for them
	sentBefore, answeredBefore nodeSet // whose create was, before the moment of the listing under way
	listedAnswered             nodeSet // whose create was answered before that of the present one
	basis                      nodeSet // have decided by the present one
	failedOnce, failed         nodeSet // a listing that they want has; it has again

	// Its nodes, and positions that wait.
	queued, setting, fired, watched nodeSet
	toRead                          [maxNodes]uint8 // reads to be sent again
	owned                           nodeSet         // the positions that watch their own
	waits                           [maxLocals]nodeSet
	admissible, evicted, woken      nodeSet
}

// A model is a state, with what can happen in it.
type model struct {
	*steps
	state
}
