package queuemodel

// A scenario says who there is and what may happen, each kind of thing so many times.
type scenario struct {
	locals  int    // waiters of the one session, up to 3
	foreign int    // contenders of other sessions, up to 2
	kinds   string // of W0 W1 W2 F0 F1 D: M mutex, W writer, R reader, S permit
	permits int

	deletes    uint8 // by an operator
	changes    uint8 // of data
	breaks     uint8 // of the connection
	unkept     uint8 // connections on which watches are not set again
	failures   uint8 // listings that are answered by an error
	leaves     uint8 // waiters that give up
	losses     uint8 // leases that are lost while their nodes stand
	reaps      uint8 // parents that are made anew
	downgrades uint8 // of the foreign writer F0
	lateWrites uint8 // transactions that an earlier holder begins after its release
	refusals   uint8 // of groups, by another member

	lagging   bool // servers are behind the leader
	late      bool // answers are handled later than the events that follow them
	recurring bool // foreign names have no id, and are used again with their number
	noReads   bool // nothing is read in place of a listing
	groups    bool // creates and deletes may travel together
	front     int  // how many positions belong to the front of the crowd; 0 for all
	ages      bool // positions are young when they join, and grow old: see Position.isYoung

	first   []string // steps that come first, each with all that follows from it, in one order
	without condition
}

// A condition is one that the code of internal/queue checks, or one thing that it does.
// These are sets of them.
type condition uint64

const (
	// Without one of these, what must not happen does.
	ownWatch condition = 1 << iota
	settledWatch
	firedWatch
	ifReduced
	voidByBreak
	discardBroken
	momentOfSending
	factsSince
	showsOwn
	recheckWriters
	recheckShown
	voidNameless
	evictAfterAnswer
	ownReadWakes
	deletionWakes
	listingWakes
	retryFailed
	repeatBroken
	renewFired
	watchOwnEarly
	holdLooks
	missedWhileTaken
	heirNotified
	brokenFirst
	readLearns
	watchOfNext
	restEnds
	sentBeforeOver
	sentAgainFirst
	oneOfParent
	handsOverAlone
	repeatAlone
	givenBack
	frontWakes
	showsBehind
	keepsWanted

	// Without one of these, nothing does: they save requests.
	facts
	syncFirst
	wantAfter
	inherit
	lookAhead
	listingForgets
	eventEvicts
	learnOnce
	dropJoining
	overOfConnection
	noReaderBeside
	toldAgain
	joinsUnlisted
	trims
)

// keeps reports whether a condition is not left out.
func (s *scenario) keeps(c condition) bool { return s.without&c == 0 }

// start returns the model before anything has happened.
func (s *scenario) start() *model {
	if s.kinds == "" {
		s.kinds = "MMMMMM"
	}
	s.permits = max(s.permits, 1)
	m := &model{steps: &steps{scenario: s}}
	m.attached, m.open = true, true
	m.left = budgets{
		s.deletes, s.changes, s.breaks, s.unkept, s.failures, s.leaves, s.losses, s.reaps, s.downgrades, s.lateWrites, s.refusals,
	}
	if s.ages {
		m.young = 1<<s.locals - 1
	}
	for _, text := range s.first {
		m.state = m.followed(text)
	}
	return m
}
