package guard

import (
	"math/bits"
	"slices"
	"time"
)

// An ensemble is the one of the model of terms, with one session. Its voters lead,
// follow a leader, or look for one. Messages over a connection arrive in order, and
// late. A voter has threads, each with an order of its own. While a voter is frozen all
// its threads stand still, but clocks run on.
type ensemble struct {
	simulation
	timeout, tick time.Duration
	delay         time.Duration // of a message, at most
	electionStep  time.Duration // how long each step of an election takes at most
	voters        []*voter
	cuts          [6][6][]cut   // by sender and receiver; the client is the last
	begun         int64         // the newest epoch that a quorum has acknowledged
	ended         time.Duration // when the end of the session was committed; 0 if it was not
	client        *modelClient
}

// A cut delays messages from one to another until it ends, or for good.
type cut struct{ from, to time.Duration }

const forever = time.Duration(1 << 62)

func (e *ensemble) upTo(d time.Duration) time.Duration {
	return time.Duration(e.rand.Int64N(int64(d) + 1))
}

func (e *ensemble) oneIn(n int) bool { return e.rand.IntN(n) == 0 }

func (e *ensemble) isQuorum(votes uint) bool { return bits.OnesCount(votes) > len(e.voters)/2 }

func (e *ensemble) cut(from, to int, length time.Duration) {
	e.cuts[from][to] = append(e.cuts[from][to], cut{e.now, e.now + min(length, forever-e.now)})
}

func (e *ensemble) link(from, to int) *modelLink {
	return &modelLink{model: &e.simulation, delay: e.delay, open: func(at time.Duration) (time.Duration, bool) {
		return e.open(from, to, at)
	}}
}

func (e *ensemble) open(from, to int, at time.Duration) (time.Duration, bool) {
	for _, c := range e.cuts[from][to] {
		if at >= c.from && at < c.to {
			return e.open(from, to, c.to)
		}
	}
	return at, at < forever
}

type voter struct {
	*ensemble
	id       int
	grants   time.Duration // the timeout of sessions
	life     int           // grows when it leaves its leader; messages under way to it are dropped then
	awake    [threads]time.Duration
	promised int64 // it follows no leader of an earlier epoch
	accepted int64 // the epoch of the leader that its log is from
	log      []*proposal
	writing  []*proposal // proposals on their way to the log
	disk     *modelLink
	zxid     int64       // of the newest transaction that can be read here
	term     *leaderTerm // nil while it looks for a leader
	link     *learner    // nil on the leader
	led      time.Duration
	serving  bool

	heard        time.Duration // the session's timeout, if it was heard of since the last report
	reported     time.Duration
	revalidating *attachment
	waiting      []*call // answers go out in the order of the requests
	attached     []*attachment
}

// The threads of a voter. The first reads the leader's messages or, on the leader,
// pings.
const (
	peerThread = iota
	clientThread
	clockThread
	logThread
	learnerThread // one for each voter
	threads       = learnerThread + 5
)

// on runs f on a thread when that is awake, unless the voter leaves its leader before.
func (v *voter) on(thread, life int, f func()) {
	switch {
	case v.life != life:
	case v.awake[thread] > v.now:
		v.schedule(v.awake[thread], func() { v.on(thread, life, f) })
	default:
		f()
	}
}

func (v *voter) every(period time.Duration, f func()) {
	life := v.life
	var again func()
	again = func() {
		v.on(peerThread, life, func() {
			f()
			v.schedule(v.now+period, again)
		})
	}
	v.schedule(v.now+v.upTo(period), again)
}

// freeze makes all threads stand still, and wake up one after the other.
func (v *voter) freeze(length time.Duration) {
	for i := range v.awake {
		v.awake[i] = max(v.awake[i], v.now+length+v.upTo(v.client.wakeSpread))
	}
}

// A stream is one direction of a connection between voters.
type stream struct {
	*modelLink
	to           *voter
	life, thread int
}

func (s *stream) send(f func()) {
	s.modelLink.send(func() { s.to.on(s.thread, s.life, f) })
}

// ask has the leader do something.
func (v *voter) ask(f func(t *leaderTerm, l *learner)) {
	t, l := v.term, v.link
	if l == nil {
		f(t, nil)
		return
	}
	l.up.send(func() { f(t, l) })
}

// leave first closes all connections. The other ends notice it when they have read all
// earlier messages.
func (v *voter) leave() {
	t, l := v.term, v.link
	if t == nil {
		return
	}
	v.life++
	if v.oneIn(2) { // the thread that writes the log may do so to the end
		v.log = append(v.log, v.writing...)
	}
	v.closeConnections()
	v.term, v.link, v.serving, v.heard = nil, nil, false, 0
	v.writing, v.waiting, v.revalidating = nil, nil, nil
	if t.leader != v {
		l.up.send(func() { l.gone = true })
		return
	}
	for _, l := range t.learners {
		l.down.send(l.voter.leave)
	}
}

// elect lets voters without a leader join one, or elect one of them if they are a
// quorum, whatever the leader that they have left still believes.
func (e *ensemble) elect() {
	e.schedule(e.now+e.upTo(e.electionStep), e.elect)
	var best *voter
	looking := slices.DeleteFunc(slices.Clone(e.voters), func(v *voter) bool {
		if t := e.voters[e.rand.IntN(len(e.voters))].term; t != nil && e.oneIn(2) {
			v.join(t)
		}
		if v.term != nil || v.awake[peerThread] > v.now || e.oneIn(4) {
			return true
		}
		if best == nil || v.newest() > best.newest() || (v.newest() == best.newest() && e.oneIn(2)) {
			best = v
		}
		return false
	})
	looking = slices.DeleteFunc(looking, func(v *voter) bool { return !v.reaches(best) })
	votes, epoch := uint(0), int64(0)
	for _, v := range looking {
		votes |= 1 << v.id
		epoch = max(epoch, v.promised+1)
	}
	if !e.isQuorum(votes) {
		return
	}
	t := best.lead(epoch)
	for _, v := range looking {
		v.promised = epoch
		e.schedule(e.now+e.upTo(e.electionStep), func() { v.join(t) })
	}
}

// newest orders logs: by the epoch of the leader they are from, then by length.
func (v *voter) newest() int64 {
	zxid := v.lastLogged()
	return v.accepted<<40 | zxid>>32<<20 | zxid&(1<<20-1)
}

func (v *voter) lastLogged() int64 {
	if n := len(v.log); n > 0 {
		return v.log[n-1].zxid
	}
	return 0
}

func (v *voter) reaches(other *voter) bool {
	there, _ := v.open(v.id, other.id, v.now)
	back, _ := v.open(other.id, v.id, v.now)
	return max(there, back, v.awake[peerThread], other.awake[peerThread]) <= v.now
}

// join makes the voter follow a leader, with the leader's history.
func (v *voter) join(t *leaderTerm) {
	leader := t.leader
	if v.term != nil || leader.term != t || v.promised > t.epoch || !v.reaches(leader) {
		return
	}
	l := &learner{
		voter: v, heard: v.now,
		up:   stream{v.ensemble.link(v.id, leader.id), leader, leader.life, learnerThread + v.id},
		down: stream{v.ensemble.link(leader.id, v.id), v, v.life, peerThread},
	}
	v.promised, v.accepted, v.term, v.link, v.led = t.epoch, t.epoch, t, l, v.now
	v.log = slices.Clone(leader.log)
	if t.hasBegun {
		v.log = slices.Clone(t.committed)
	}
	v.zxid = v.lastLogged()
	if v.oneIn(2) { // a snapshot names the epoch, the difference between two logs does not
		v.zxid = max(v.zxid, t.epoch<<32)
	}
	t.learners = append(t.learners, l)
	for _, p := range t.proposed {
		l.down.send(func() { v.write(p) })
	}
	l.up.send(func() { t.acceptedBy(l) })
	waitLimit := v.tick + 4*v.delay + v.upTo([]time.Duration{v.tick, v.timeout}[v.rand.IntN(2)])
	v.every(v.tick/2, func() {
		if v.now-v.led > waitLimit {
			v.leave()
		}
	})
}

// write logs a proposal and then acknowledges it.
func (v *voter) write(p *proposal) {
	life := v.life
	v.writing = append(v.writing, p)
	v.disk.send(func() {
		v.on(logThread, life, func() {
			v.writing, v.log = v.writing[1:], append(v.log, p)
			v.ask(func(t *leaderTerm, _ *learner) { t.acknowledged(p, v.id) })
		})
	})
}

// apply makes a transaction visible. It answers the request with that number that waits
// here, whichever leader proposed the transaction.
func (v *voter) apply(p *proposal) {
	v.zxid = p.zxid
	if p.creates && v.link != nil {
		v.heard = p.timeout
	}
	if i := slices.IndexFunc(v.waiting, func(q *call) bool { return !q.done }); i >= 0 {
		if q := v.waiting[i]; q.op != OpSync && q.number == p.number {
			q.done, q.code = true, p.code
			v.flush()
		}
	}
	if p.ends {
		v.closeConnections()
	}
}

// report answers a ping of the leader. A request that comes at that moment may be
// missing in this report and the next.
func (v *voter) report() {
	heard := v.heard
	v.led, v.heard = v.now, 0
	if v.client.losesTouches {
		v.reported = v.now
	}
	v.ask(func(t *leaderTerm, l *learner) {
		l.heard = t.now
		if heard != 0 {
			t.touch(heard)
		}
	})
}
