package guard

import "time"

// A reign lasts from the election of a leader until that notices that it has lost its
// quorum. Nobody else ends it: the others may have had another leader for long.
type reign struct {
	*ensemble
	leader    *voter
	epoch     int64
	patience  time.Duration // how long it takes to notice
	quorate   time.Duration // when it last heard of a quorum
	hasBegun  bool          // a quorum has acknowledged it
	votes     uint
	learners  []*learner
	zxid      int64
	proposed  []*proposal // but not committed yet
	committed []*proposal

	phase           time.Duration // of the clock of sessions
	expiry          time.Duration // of the session; 0 if there is none
	polled, closing bool          // that clock has found it expired; and has said so
	owner           *voter        // through which the client came last
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

func (v *voter) lead(epoch int64) *reign {
	r := &reign{
		ensemble: v.ensemble, leader: v, epoch: epoch, zxid: epoch << 32, votes: 1 << v.id,
		quorate: v.now, phase: v.upTo(v.tick),
		patience: v.tick + 4*v.delay + v.upTo([]time.Duration{v.tick, 4 * v.timeout}[v.rand.IntN(2)]),
	}
	v.promised, v.accepted, v.reign = epoch, epoch, r
	v.every(v.tick/2, r.ping)
	return r
}

func (r *reign) ping() {
	votes := uint(1) << r.leader.id
	for _, l := range r.learners {
		if !l.gone && r.now-l.heard <= r.patience {
			votes |= 1 << l.voter.id
		}
		if l.accepted && r.hasBegun {
			l.down.send(l.voter.report)
		}
	}
	if r.isQuorum(votes) {
		r.quorate = r.now
	} else if r.now-r.quorate > r.patience {
		r.leader.leave()
	}
}

// acceptedBy counts who has acknowledged the reign. With a quorum all that is in the
// leader's log is committed, and the clock of sessions starts.
func (r *reign) acceptedBy(l *learner) {
	l.accepted = true
	r.votes |= 1 << l.voter.id
	serve := func(l *learner) {
		l.down.send(func() { l.voter.serving, l.voter.led = true, l.voter.now })
	}
	switch {
	case r.hasBegun:
		serve(l)
	case r.isQuorum(r.votes):
		r.hasBegun, r.leader.serving, r.leader.zxid = true, true, r.zxid
		r.begun = max(r.begun, r.epoch)
		for _, p := range r.leader.log {
			if p.creates {
				r.expiry = 1
				r.touch(p.timeout)
			}
			r.commit(p)
		}
		for _, l := range r.learners {
			if l.accepted {
				serve(l)
			}
		}
	}
}

func (r *reign) propose(p *proposal) {
	r.zxid++
	p.zxid = r.zxid
	r.proposed = append(r.proposed, p)
	for _, l := range r.learners {
		l.down.send(func() { l.voter.write(p) })
	}
	r.leader.write(p)
}

// acknowledged counts a vote, also that of a follower which has left meanwhile.
func (r *reign) acknowledged(p *proposal, id int) {
	p.votes |= 1 << id
	for len(r.proposed) > 0 && r.isQuorum(r.proposed[0].votes) {
		p := r.proposed[0]
		r.proposed = r.proposed[1:]
		r.commit(p)
		r.leader.apply(p)
		for _, l := range r.learners {
			l.down.send(func() { l.voter.apply(p) })
		}
		for _, f := range p.then {
			f()
		}
	}
}

func (r *reign) commit(p *proposal) {
	r.committed = append(r.committed, p)
	if p.ends {
		r.closing = true
	}
	if p.ends && r.ended == 0 {
		r.ended = r.now
	}
}

// touch starts the session's clock anew, with whatever timeout it is told. It reports
// false if there is no session any more. One that has been found expired is not saved.
func (r *reign) touch(timeout time.Duration) bool {
	at := r.now + r.phase + timeout
	at += r.tick - at%r.tick - r.phase // rounded up, or a whole tick more
	switch {
	case r.expiry == 0 || r.closing:
		return false
	case r.polled || r.expiry == at:
		return true
	}
	r.expiry = at
	life := r.leader.life
	onClock := func(at time.Duration, f func()) {
		r.schedule(at, func() { r.leader.on(clockThread, life, f) })
	}
	onClock(at, func() {
		if r.expiry != at || r.polled {
			return
		}
		r.polled = true
		onClock(r.now+r.upTo(r.client.backlog), func() { // others are ended before
			r.closing = true
			r.propose(&proposal{ends: true})
		})
	})
	return true
}

func (r *reign) revalidate(from *voter, timeout time.Duration) bool {
	r.owner = from
	return r.touch(timeout)
}

// transact proposes what the client asks for, also to refuse it.
func (r *reign) transact(q *call) {
	p, from := &proposal{number: q.number}, q.on.voter
	switch {
	case q.op == opCreateSession:
		p.creates, p.timeout = true, q.on.timeout
		r.expiry, r.owner = 1, from
		r.touch(p.timeout)
	case r.expiry == 0 || r.closing:
		p.code = codeExpired
	case r.owner != nil && r.owner != from:
		p.code = codeMoved
	default:
		r.owner = from
	}
	r.propose(p)
}

// sync answers behind all that was proposed before. It takes no quorum.
func (r *reign) sync(q *call, l *learner) {
	answer := func() {
		l.down.send(func() {
			q.done = true
			l.voter.flush()
		})
	}
	if n := len(r.proposed); n > 0 {
		r.proposed[n-1].then = append(r.proposed[n-1].then, answer)
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
	timeout  time.Duration // that was granted
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
	isStale    bool // a leader answered after another's reign had begun
}

// connect is a handshake. Only that which makes the session takes a quorum.
func (v *voter) connect(a *attachment, zxid int64) {
	if !v.serving || zxid > v.zxid {
		a.down.send(func() { v.client.lost(a) })
		return
	}
	a.timeout = v.grants
	v.attached = append(v.attached, a)
	settle := func(a *attachment, ok bool) {
		a.down.send(func() { v.client.established(a, ok) })
	}
	switch {
	case a.isNew:
		q := &call{op: opCreateSession, on: a}
		v.waiting = append(v.waiting, q)
		v.ask(func(r *reign, _ *learner) { r.transact(q) })
	case v.link == nil:
		settle(a, v.reign.revalidate(v, a.timeout))
	default: // a second connection may get the answer for the first
		v.revalidating = a
		v.ask(func(r *reign, l *learner) {
			ok := r.revalidate(v, a.timeout)
			l.down.send(func() {
				if b := v.revalidating; b != nil {
					v.revalidating = nil
					settle(b, ok)
				}
			})
		})
	}
}

// receive takes a request. A leader knows of the session then, a follower reports it.
func (v *voter) receive(q *call) {
	switch {
	case v.link == nil && !v.reign.touch(q.on.timeout):
		return // which is all that a leader says when it has ended the session
	case v.reported != 0 && v.now-v.reported < v.timeout/100:
		v.reported = 0
	default:
		v.heard = q.on.timeout
	}
	v.waiting = append(v.waiting, q)
	switch {
	case byQuorum[q.op]:
		v.ask(func(r *reign, _ *learner) { r.transact(q) })
	case q.op == opSync && v.link != nil:
		v.ask(func(r *reign, l *learner) { r.sync(q, l) })
	default:
		q.done = true
	}
	v.flush()
}

func (v *voter) flush() {
	for len(v.waiting) > 0 && v.waiting[0].done {
		q, zxid := v.waiting[0], v.zxid
		v.waiting = v.waiting[1:]
		q.isStale = byLeader(q.op) && v.reign.epoch < v.begun
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

func (v *voter) hangUp() {
	for _, a := range v.attached {
		a.down.send(func() { v.client.lost(a) })
	}
	v.attached = nil
}
