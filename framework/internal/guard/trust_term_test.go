package guard

import "time"

// A leaderTerm lasts from the election of a leader until that leader notices that it
// has lost its quorum. Nothing else ends it: the other voters may have had another
// leader for long.
type leaderTerm struct {
	*ensemble
	leader    *voter
	epoch     int64
	waitLimit time.Duration // how long it takes to notice
	quorate   time.Duration // when it last heard of a quorum
	hasBegun  bool          // a quorum has acknowledged it
	votes     uint
	learners  []*learner
	zxid      int64
	proposed  []*proposal // but not committed yet
	committed []*proposal

	phase           time.Duration // of the clock of sessions
	expiry          time.Duration // of the session; 0 if there is none
	polled, closing bool          // that clock has found it expired; the leader has begun to end it
	owner           *voter        // the voter through which the client came last
}

// A learner is a leader's connection with a follower.
type learner struct {
	voter    *voter
	up, down stream
	accepted bool
	gone     bool
	heard    time.Duration
}

type proposal struct {
	zxid          int64
	number        int32 // of the request
	code          int32
	creates, ends bool // the session
	timeout       time.Duration
	votes         uint
	then          []func() // syncs that wait for it
}

func (v *voter) lead(epoch int64) *leaderTerm {
	t := &leaderTerm{
		ensemble: v.ensemble, leader: v, epoch: epoch, zxid: epoch << 32, votes: 1 << v.id,
		quorate: v.now, phase: v.upTo(v.tick),
		waitLimit: v.tick + 4*v.delay + v.upTo([]time.Duration{v.tick, 4 * v.timeout}[v.rand.IntN(2)]),
	}
	v.promised, v.accepted, v.term = epoch, epoch, t
	v.every(v.tick/2, t.ping)
	return t
}

func (t *leaderTerm) ping() {
	votes := uint(1) << t.leader.id
	for _, l := range t.learners {
		if !l.gone && t.now-l.heard <= t.waitLimit {
			votes |= 1 << l.voter.id
		}
		if l.accepted && t.hasBegun {
			l.down.send(l.voter.report)
		}
	}
	if t.isQuorum(votes) {
		t.quorate = t.now
	} else if t.now-t.quorate > t.waitLimit {
		t.leader.leave()
	}
}

// acceptedBy counts the voters that have acknowledged the term. With a quorum all that
// is in the leader's log is committed, and the clock of sessions starts.
func (t *leaderTerm) acceptedBy(l *learner) {
	l.accepted = true
	t.votes |= 1 << l.voter.id
	serve := func(l *learner) {
		l.down.send(func() { l.voter.serving, l.voter.led = true, l.voter.now })
	}
	switch {
	case t.hasBegun:
		serve(l)
	case t.isQuorum(t.votes):
		t.hasBegun, t.leader.serving, t.leader.zxid = true, true, t.zxid
		t.begun = max(t.begun, t.epoch)
		for _, p := range t.leader.log {
			if p.creates {
				t.expiry = 1
				t.touch(p.timeout)
			}
			t.commit(p)
		}
		for _, l := range t.learners {
			if l.accepted {
				serve(l)
			}
		}
	}
}

func (t *leaderTerm) propose(p *proposal) {
	t.zxid++
	p.zxid = t.zxid
	t.proposed = append(t.proposed, p)
	for _, l := range t.learners {
		l.down.send(func() { l.voter.write(p) })
	}
	t.leader.write(p)
}

// acknowledged counts a vote, also that of a follower that has left meanwhile.
func (t *leaderTerm) acknowledged(p *proposal, id int) {
	p.votes |= 1 << id
	for len(t.proposed) > 0 && t.isQuorum(t.proposed[0].votes) {
		p := t.proposed[0]
		t.proposed = t.proposed[1:]
		t.commit(p)
		t.leader.apply(p)
		for _, l := range t.learners {
			l.down.send(func() { l.voter.apply(p) })
		}
		for _, f := range p.then {
			f()
		}
	}
}

func (t *leaderTerm) commit(p *proposal) {
	t.committed = append(t.committed, p)
	if p.ends {
		t.closing = true
	}
	if p.ends && t.ended == 0 {
		t.ended = t.now
	}
}

// touch restarts the session's clock, with whatever timeout the leader is told. It
// returns false if there is no session any more. A session that was found expired is
// not saved.
func (t *leaderTerm) touch(timeout time.Duration) bool {
	at := t.now + t.phase + timeout
	at += t.tick - at%t.tick - t.phase // rounded up, or a whole tick more
	switch {
	case t.expiry == 0 || t.closing:
		return false
	case t.polled || t.expiry == at:
		return true
	}
	t.expiry = at
	life := t.leader.life
	onClock := func(at time.Duration, f func()) {
		t.schedule(at, func() { t.leader.on(clockThread, life, f) })
	}
	onClock(at, func() {
		if t.expiry != at || t.polled {
			return
		}
		t.polled = true
		onClock(t.now+t.upTo(t.client.backlog), func() { // other sessions are ended before
			t.closing = true
			t.propose(&proposal{ends: true})
		})
	})
	return true
}

func (t *leaderTerm) revalidate(from *voter, timeout time.Duration) bool {
	t.owner = from
	return t.touch(timeout)
}

// transact proposes what the client asks for, also if only to refuse it.
func (t *leaderTerm) transact(q *call) {
	p, from := &proposal{number: q.number}, q.on.voter
	switch {
	case q.op == opCreateSession:
		p.creates, p.timeout = true, q.on.timeout
		t.expiry, t.owner = 1, from
		t.touch(p.timeout)
	case t.expiry == 0 || t.closing:
		p.code = codeExpired
	case t.owner != nil && t.owner != from:
		p.code = codeMoved
	default:
		t.owner = from
	}
	t.propose(p)
}

// sync answers behind all earlier proposals. It takes no quorum.
func (t *leaderTerm) sync(q *call, l *learner) {
	answer := func() {
		l.down.send(func() {
			q.done = true
			l.voter.flush()
		})
	}
	if n := len(t.proposed); n > 0 {
		t.proposed[n-1].then = append(t.proposed[n-1].then, answer)
	} else {
		answer()
	}
}

// An attachment is a connection of the client.
type attachment struct {
	voter    *voter
	life     int // of the voter
	up, down *modelLink
	isNew    bool // it is to make the session
	sent     time.Time
	timeout  time.Duration // the one granted
	inFlight []*call
}

// A call is a request of the client.
type call struct {
	op, number int32
	on         *attachment
	sent       time.Time
	then       func()
	done       bool
	code       int32
	isStale    bool // a leader answered after a later term had begun
}

// connect is a handshake. It takes a quorum only if it makes the session.
func (v *voter) connect(a *attachment, zxid int64) {
	if !v.serving || zxid > v.zxid {
		a.down.send(func() { v.client.lost(a) })
		return
	}
	a.timeout = v.grants
	v.attached = append(v.attached, a)
	reply := func(a *attachment, ok bool) {
		a.down.send(func() { v.client.established(a, ok) })
	}
	switch {
	case a.isNew:
		q := &call{op: opCreateSession, on: a}
		v.waiting = append(v.waiting, q)
		v.ask(func(t *leaderTerm, _ *learner) { t.transact(q) })
	case v.link == nil:
		reply(a, v.term.revalidate(v, a.timeout))
	default: // a second connection may get the answer for the first
		v.revalidating = a
		v.ask(func(t *leaderTerm, l *learner) {
			ok := t.revalidate(v, a.timeout)
			l.down.send(func() {
				if b := v.revalidating; b != nil {
					v.revalidating = nil
					reply(b, ok)
				}
			})
		})
	}
}

// receive takes a request. A leader then knows of the session; a follower reports it.
func (v *voter) receive(q *call) {
	switch {
	case v.link == nil && !v.term.touch(q.on.timeout):
		return // a leader that has ended the session does not answer
	case v.reported != 0 && v.now-v.reported < v.timeout/100:
		v.reported = 0
	default:
		v.heard = q.on.timeout
	}
	v.waiting = append(v.waiting, q)
	switch {
	case byQuorum[q.op]:
		v.ask(func(t *leaderTerm, _ *learner) { t.transact(q) })
	case q.op == OpSync && v.link != nil:
		v.ask(func(t *leaderTerm, l *learner) { t.sync(q, l) })
	default:
		q.done = true
	}
	v.flush()
}

func (v *voter) flush() {
	for len(v.waiting) > 0 && v.waiting[0].done {
		q, zxid := v.waiting[0], v.zxid
		v.waiting = v.waiting[1:]
		q.isStale = byLeader(q.op) && v.term.epoch < v.begun
		q.on.down.send(func() {
			switch {
			case q.op == opCreateSession:
				v.client.established(q.on, true)
			case q.code == codeMoved:
				v.client.lost(q.on)
			default:
				v.client.answered(q, zxid)
			}
		})
	}
}

func (v *voter) closeConnections() {
	for _, a := range v.attached {
		a.down.send(func() { v.client.lost(a) })
	}
	v.attached = nil
}
