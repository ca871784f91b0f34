package guard

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A model of the argument in doc.go: a client, the follower it is attached to, and the
// leader, which alone expires sessions. Links keep the order and have random delays. At
// random moments one direction between follower and leader stalls or is cut, for a
// while or for good. The follower answers pings by itself.
//
// It must always hold that the leader expires the session no earlier than the stop
// margin after the trust deadline.

type modelEvent struct {
	at  time.Duration
	seq int
	do  func()
}

type modelEvents []modelEvent

func (q modelEvents) Len() int { return len(q) }
func (q modelEvents) Less(i, j int) bool {
	return q[i].at < q[j].at || (q[i].at == q[j].at && q[i].seq < q[j].seq)
}
func (q modelEvents) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *modelEvents) Push(x any)   { *q = append(*q, x.(modelEvent)) }
func (q *modelEvents) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}

// A simulation is a time that jumps from event to event.
type simulation struct {
	rand   *rand.Rand
	now    time.Duration
	events modelEvents
	seq    int
	start  time.Time
}

func newSimulation(seed uint64) simulation {
	return simulation{rand: rand.New(rand.NewPCG(seed, 1)), start: time.Now()}
}

func (s *simulation) schedule(at time.Duration, f func()) {
	s.seq++
	heap.Push(&s.events, modelEvent{at, s.seq, f})
}

func (s *simulation) time() time.Time { return s.start.Add(s.now) }

// A modelLink delivers in order, and nothing until open.
type modelLink struct {
	model *simulation
	delay time.Duration // the longest
	last  time.Duration // when the newest message is delivered; none overtakes it
	open  func(now time.Duration) (at time.Duration, ok bool)
}

func (l *modelLink) send(f func()) {
	at := l.model.now + time.Duration(l.model.rand.Int64N(int64(l.delay)+1))
	if l.open != nil {
		opened, ok := l.open(at)
		if !ok {
			return // cut for good, also for later messages
		}
		at = opened
	}
	l.last = max(l.last, at)
	l.model.schedule(l.last, f)
}

type model struct {
	simulation
	timeout time.Duration
	tick    time.Duration
	trust   trust

	up, down, toLeader, toFollower *modelLink

	heard   bool          // the follower got a request since its last report
	touched time.Duration // the leader was last told of the session
	expired time.Duration // when the leader expired it; 0 if it did not
}

// disturbance closes a link from some moment on, for a while or for good.
func (m *model) disturbance() func(time.Duration) (time.Duration, bool) {
	from := time.Duration(m.rand.Int64N(int64(3 * m.timeout)))
	length := time.Duration(m.rand.Int64N(int64(2 * m.timeout)))
	forGood := m.rand.IntN(2) == 0
	return func(at time.Duration) (time.Duration, bool) {
		switch {
		case at < from:
			return at, true
		case forGood:
			return 0, false
		}
		return max(at, from+length), true
	}
}

func newModel(seed uint64) *model {
	m := &model{simulation: newSimulation(seed), timeout: 12 * time.Second}
	m.tick = m.timeout / time.Duration(2+m.rand.IntN(12))
	delay := []time.Duration{0, time.Millisecond, 50 * time.Millisecond, m.tick, m.timeout / 3}[m.rand.IntN(5)]
	link := func() *modelLink { return &modelLink{model: &m.simulation, delay: delay} }
	m.up, m.down, m.toLeader, m.toFollower = link(), link(), link(), link()
	for _, l := range []*modelLink{m.toLeader, m.toFollower, m.up, m.down} {
		if m.rand.IntN(3) == 0 {
			l.open = m.disturbance()
		}
	}
	return m
}

// request sends a request of the client, answered by the leader or the follower.
func (m *model) request(byLeader bool, answered func()) {
	sent := m.time()
	back := func() {
		m.down.send(func() {
			m.trust.answer(sent, m.time(), byLeader)
			answered()
		})
	}
	m.up.send(func() {
		m.heard = true
		if !byLeader {
			back()
			return
		}
		m.toLeader.send(func() { m.toFollower.send(back) })
	})
}

func (m *model) run(length time.Duration) {
	// The handshake reached the leader when it was sent, at the earliest.
	m.trust.begin(m.time(), m.time(), m.timeout)
	m.repeat(m.timeout/3, func() { m.request(false, func() {}) })
	underWay := false
	m.repeat(m.timeout/12, func() {
		if !underWay {
			underWay = true
			m.request(true, func() { underWay = false })
		}
	})
	m.repeat(m.tick/2, func() {
		m.toFollower.send(func() {
			if heard := m.heard; heard {
				m.heard = false
				m.toLeader.send(func() { m.touched = m.now })
			}
		})
	})
	for len(m.events) > 0 && m.now < length && m.expired == 0 {
		ev := heap.Pop(&m.events).(modelEvent)
		if ev.at >= m.touched+m.timeout {
			m.expired = m.touched + m.timeout
			return
		}
		m.now = ev.at
		ev.do()
	}
}

func (m *model) repeat(period time.Duration, f func()) {
	var again func()
	at := time.Duration(m.rand.Int64N(int64(period)))
	again = func() {
		f()
		at += period
		m.schedule(at, again)
	}
	m.schedule(at, again)
}

func TestLeaderNeverExpiresATrustedSession(t *testing.T) {
	expiries := 0
	for seed := range uint64(4000) {
		m := newModel(seed)
		m.run(8 * m.timeout)
		if m.expired == 0 {
			continue
		}
		expiries++
		until := m.trust.until().Sub(m.start)
		require.LessOrEqual(t, until+stopMargin(m.timeout), m.expired, "seed %d: trusted until %v, expired at %v", seed, until, m.expired)
	}
	require.Greater(t, expiries, 1000, "the model must expire sessions, or it proves nothing")
}

// With links that work, the deadline stays far enough away to survive a short break.
func TestHealthySessionIsTrustedForThreeTenthsOfTheTimeout(t *testing.T) {
	for seed := range uint64(200) {
		m := newModel(seed)
		for _, l := range []*modelLink{m.up, m.down, m.toLeader, m.toFollower} {
			l.open, l.delay = nil, time.Millisecond
		}
		m.schedule(0, func() {})
		closest := m.timeout
		m.repeat(m.timeout/100, func() { closest = min(closest, m.trust.until().Sub(m.time())) })
		m.run(8 * m.timeout)
		require.Zero(t, m.expired, "seed %d", seed)
		require.GreaterOrEqual(t, closest, m.timeout*3/10, "seed %d", seed)
	}
}

// The model would catch a deadline that counts the answers of any server.
func TestModelCatchesADeadlineThatCountsPings(t *testing.T) {
	for seed := range uint64(4000) {
		m := newModel(seed)
		var newest time.Duration
		answered := m.down
		m.repeat(m.timeout/3, func() {
			sent := m.now
			m.up.send(func() { answered.send(func() { newest = max(newest, sent) }) })
		})
		m.run(8 * m.timeout)
		if m.expired != 0 && newest+m.timeout*2/3 > m.expired {
			return
		}
	}
	t.Fatal("no run in which pings were answered by a server that had lost its leader")
}
