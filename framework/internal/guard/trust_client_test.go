package guard

import (
	"fmt"
	"slices"
	"time"
)

// A modelClient is the client of the model of terms. It behaves as guard and Session
// do.
type modelClient struct {
	*ensemble
	mistake
	trust, alone trust // alone counts A only: nothing relies on it

	waitLimit    time.Duration // how long it waits for an answer
	pause        time.Duration // between attempts to connect, at most
	checksClock  bool          // it looks at the clock
	endsLeases   bool          // leases end, and others begin
	losesTouches bool          // servers may forget to report a request
	wakeSpread   time.Duration // how long after one thread of a frozen server another wakes
	backlog      time.Duration // how long a leader may take to end a session that it found expired

	at                 *attachment
	isMade, isOver     bool
	isAttached         bool
	isSyncing, isAsked bool
	synced             time.Duration
	zxid               int64 // the greatest that was seen
	number             int32
	next               [3]func() // a fault for each of the moments below

	wrong    string
	sawStale bool
}

// Moments for faults: any, when a transaction is sent, and when it was answered.
const (
	soon = iota
	onSending
	onAnswer
)

// A mistake is one that the client makes, for tests of the model.
type mistake struct {
	withoutQ, handshakeVouches, syncVouches, withoutZxid, revives, sameNumber, newestTimeout, ignoresDoubt bool
}

const opCreateSession = -10

func newModelClient(seed uint64, m mistake) *modelClient {
	e := &ensemble{simulation: newSimulation(seed), timeout: 12 * time.Second}
	e.tick = e.timeout / time.Duration(2+e.rand.IntN(12))
	e.electionStep = []time.Duration{e.tick / 8, e.tick}[e.rand.IntN(2)]
	e.delay = []time.Duration{0, time.Millisecond, e.timeout / 100, e.timeout / 30}[e.rand.IntN(4)]
	for id := range []int{3, 3, 5}[e.rand.IntN(3)] {
		e.voters = append(e.voters, &voter{
			ensemble: e, id: id, grants: e.timeout,
			disk: &modelLink{model: &e.simulation, delay: e.delay / 2},
		})
	}
	c := &modelClient{
		ensemble: e, mistake: m,
		waitLimit:    []time.Duration{e.timeout / 4, e.timeout * 2 / 3, forever}[e.rand.IntN(3)],
		pause:        e.timeout / []time.Duration{24, 3}[e.rand.IntN(2)],
		wakeSpread:   []time.Duration{0, time.Millisecond, e.timeout / 100}[e.rand.IntN(3)],
		losesTouches: e.oneIn(2), checksClock: !e.oneIn(4), endsLeases: e.oneIn(2),
	}
	// A leader that has found the session expired accepts it until it comes to end it.
	if e.oneIn(2) {
		c.backlog = min(e.tick, e.timeout/4)
	}
	e.client = c
	return c
}

func (c *modelClient) self() int { return len(c.voters) }

func (c *modelClient) dial() {
	if c.isOver {
		return
	}
	v := c.voters[c.rand.IntN(len(c.voters))]
	a := &attachment{voter: v, up: c.link(c.self(), v.id), down: c.link(v.id, c.self()), sent: c.time(), isNew: !c.isMade}
	c.at = a
	zxid := c.zxid
	if c.withoutZxid {
		zxid = 0
	}
	a.up.send(func() {
		a.life = v.life
		v.on(clientThread, a.life, func() { v.connect(a, zxid) })
	})
	c.schedule(c.now+c.timeout/6, func() {
		if !c.isAttached {
			c.lost(a)
		}
	})
}

func (c *modelClient) lost(a *attachment) {
	if a == nil || c.at != a {
		return
	}
	c.at, c.isAttached, c.isSyncing, c.isAsked = nil, false, false, false
	c.isOver = c.isOver || (!c.isMade && a.timeout != 0) // the session that was made is not this client's
	c.schedule(c.now+c.upTo(c.pause), c.dial)
}

func (c *modelClient) established(a *attachment, ok bool) {
	if c.at != a || c.isAttached || c.isOver || !ok {
		c.isOver = c.isOver || (c.at == a && !ok)
		return
	}
	c.begin(a)
	first := !c.isMade
	c.isMade, c.isAttached = true, true
	switch {
	case first:
		c.request(OpCreate, c.grant)
	case c.trust.relied > 0 && !c.withoutQ:
		c.vouch(func() {})
	}
	c.sync()
	c.ping(a)
}

func (c *modelClient) ping(a *attachment) {
	c.schedule(c.now+c.timeout/3, func() {
		if c.at == a {
			c.request(OpPing, func() {})
			c.ping(a)
		}
	})
}

func (c *modelClient) request(op int32, then func()) {
	a := c.at
	if !c.isAttached || c.isOver {
		return
	}
	q := &call{op: op, on: a, sent: c.time(), then: then}
	if op != OpPing {
		c.number++
		q.number = c.number
	}
	if op == OpMulti {
		c.trigger(onSending)
		if c.sameNumber {
			q.number = xidVouch
		}
	}
	a.inFlight = append(a.inFlight, q)
	a.up.send(func() {
		a.voter.on(clientThread, a.life, func() { a.voter.receive(q) })
	})
}

func (c *modelClient) answered(q *call, zxid int64) {
	a := q.on
	if c.at != a || c.isOver {
		return
	}
	a.inFlight = slices.DeleteFunc(a.inFlight, func(other *call) bool { return other == q })
	c.zxid = max(c.zxid, zxid)
	c.sawStale = c.sawStale || q.isStale
	if q.code == codeExpired {
		c.isOver = true
		return
	}
	c.prove(q)
	if byQuorum[q.op] {
		c.trigger(onAnswer)
	}
	q.then()
}

func (c *modelClient) sync() {
	if !c.isSyncing {
		c.isSyncing, c.synced = true, c.now
		c.request(OpSync, func() { c.isSyncing = false })
	}
}

func (c *modelClient) vouch(then func()) {
	if !c.isAsked && c.isAttached {
		c.isAsked = true
		c.request(OpMulti, func() {
			c.isAsked = false
			then()
		})
	}
}

func (c *modelClient) supervise() {
	c.schedule(c.now+c.timeout/60, c.supervise)
	c.trigger(soon)
	now := c.time()
	c.isOver = c.isOver || (c.checksClock && c.trust.expired(now) != nil)
	if !c.isAttached || c.isOver {
		return
	}
	if inFlight := c.at.inFlight; len(inFlight) > 0 && now.Sub(inFlight[0].sent) >= c.waitLimit {
		c.lost(c.at)
		return
	}
	if c.now-c.synced >= c.timeout/12 {
		c.sync()
	}
	if wait, relied := c.trust.vouchIn(now); relied && wait <= 0 {
		c.vouch(func() {})
	}
}

// grant begins a lease, once the session is vouched for.
func (c *modelClient) grant() {
	now := c.time()
	c.trust.doubtful = c.trust.doubtful && !c.ignoresDoubt
	switch {
	case c.trust.relied > 0 || c.trust.expired(now) != nil:
	case c.withoutQ:
		c.trust.relied, c.trust.vouched = 1, now.Add(time.Hour)
	case c.trust.rely(now):
		if c.ended != 0 {
			c.wrong = "granted after the end"
		}
	case c.trust.isVouched(now):
		c.schedule(c.now+c.timeout/24, c.grant)
	default:
		c.vouch(c.grant)
	}
}

// actAtRandom does what a program may do with its session.
func (c *modelClient) actAtRandom() {
	c.schedule(c.now+c.timeout/4+c.upTo(c.timeout/2), c.actAtRandom)
	kind := c.rand.IntN(8)
	switch {
	case !c.isMade || c.isOver:
	case kind < 2:
		c.request(OpGetData, func() {})
	case kind < 4:
		c.lost(c.at)
	case c.endsLeases && c.trust.relied == 0:
		c.grant()
	case c.endsLeases && kind == 4:
		c.check()
		c.trust.leave(c.time())
	}
}

// begin and prove report to trust, and make the mistakes.
func (c *modelClient) begin(a *attachment) {
	for _, t := range []*trust{&c.trust, &c.alone} {
		t.begin(a.sent, c.time(), a.timeout)
	}
	if c.handshakeVouches {
		c.trust.committed(a.sent, c.time())
	}
	if c.newestTimeout {
		c.trust.timeout = a.timeout
	}
	if c.revives && c.trust.expired(c.time()) != nil {
		c.trust.reached, c.trust.proved = time.Time{}, a.sent
	}
}

func (c *modelClient) prove(q *call) {
	for _, t := range []*trust{&c.trust, &c.alone} {
		t.answer(q.sent, c.time(), byLeader(q.op))
		if byQuorum[q.op] || (c.syncVouches && q.op == OpSync) {
			t.committed(q.sent, c.time())
		}
	}
	if c.revives && byQuorum[q.op] && c.trust.expired(c.time()) != nil {
		c.trust.reached, c.trust.vouched = time.Time{}, q.sent
	}
}

// check fails the run if the servers ended the session too early while work relied on
// it.
func (c *modelClient) check() {
	if c.ended != 0 && c.trust.relied > 0 && c.endOf(&c.trust) > c.ended {
		c.wrong = fmt.Sprintf("expected no end before %v, ended at %v", c.endOf(&c.trust), c.ended)
	}
}

// endOf returns the time before which no server may end the session.
func (c *modelClient) endOf(t *trust) time.Duration {
	return t.until().Sub(c.start) + stopMargin(t.timeout)
}

func (c *modelClient) trigger(moment int) {
	if f := c.next[moment]; f != nil {
		c.next[moment] = nil
		c.schedule(c.now+c.upTo(2*c.delay), f)
	}
}
