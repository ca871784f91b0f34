package guard

import (
	"container/heap"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/extent"
)

// The model of terms: what doc.go argues about Q, and about A and Q together, for a
// client (trust_client_test.go) of an ensemble (trust_ensemble_test.go,
// trust_reign_test.go) in which servers freeze, restart and are cut off, and leaders
// are elected. Deposed leaders go on until they notice.
//
// It must always hold that while work relies on the session no leader ends it earlier
// than the stop margin after the trust deadline, and that nothing begins to rely on the
// session after its end.

// run runs the model, with one to four faults, each at one of the moments.
func (c *modelClient) run(fault func()) {
	c.elect()
	c.schedule(c.timeout/2, c.dial)
	c.supervise()
	c.actAtRandom()
	for range 1 + c.rand.IntN(4) {
		c.schedule(c.timeout/2+c.upTo(5*c.timeout), func() {
			c.next[c.rand.IntN(len(c.next))] = fault
		})
	}
	for c.now < 8*c.timeout && (c.ended == 0 || c.now < c.ended+c.timeout) {
		ev := heap.Pop(&c.events).(modelEvent)
		c.now = ev.at
		ev.do()
	}
	c.check()
}

// randomFault makes one of the faults happen.
func (c *modelClient) randomFault() {
	v := c.leader()
	if c.oneIn(3) {
		v = c.voters[c.rand.IntN(len(c.voters))]
	}
	switch c.rand.IntN(8) {
	case 0, 1:
		v.freeze(c.upTo(3 * c.timeout))
		if c.oneIn(3) {
			c.schedule(v.awake[peerThread], func() { v.freeze(c.upTo(c.timeout)) })
		}
	case 2:
		v.on(peerThread, v.life, v.leave)
	case 3:
		c.depose(v, c.oneIn(2))
	case 4:
		c.move()
	case 5:
		c.moveAndReturn()
	case 6:
		c.lateAcknowledgements()
	default:
		c.partition(1<<v.id | uint(c.rand.IntN(1<<len(c.voters))))
	}
}

// leader returns the leader of the client's server, or else any server.
func (c *modelClient) leader() *voter {
	v := c.voters[c.rand.IntN(len(c.voters))]
	if c.at != nil {
		v = c.at.voter
	}
	if v.term != nil {
		v = v.term.leader
	}
	return v
}

// depose makes a quorum leave a leader. Their last messages may arrive late, and the
// client may be unable to reach them.
func (c *modelClient) depose(v *voter, isHidden bool) {
	if v.term != nil {
		v.term.waitLimit += c.upTo(3 * c.timeout)
	}
	held, hidden := c.upTo([]time.Duration{c.timeout / 2, 3 * c.timeout}[c.rand.IntN(2)]), c.upTo(3*c.timeout)
	others := slices.DeleteFunc(c.rand.Perm(len(c.voters)), func(i int) bool { return i == v.id })
	for _, i := range others[:len(c.voters)/2+1] {
		w := c.voters[i]
		c.cut(i, v.id, held)
		if isHidden {
			c.cut(c.self(), i, hidden)
		}
		c.schedule(c.now+c.delay+c.upTo(c.electionStep), func() { w.on(peerThread, w.life, w.leave) })
	}
}

// lateAcknowledgements makes a quorum acknowledge a transaction, but its leader learn
// of that late.
func (c *modelClient) lateAcknowledgements() {
	c.next[onSending] = func() { c.depose(c.leader(), true) }
}

// moveAndReturn moves the client to the new leader for two transactions, and back.
func (c *modelClient) moveAndReturn() {
	c.depose(c.leader(), false)
	c.schedule(c.now+c.tick, func() {
		c.next[onAnswer] = func() { c.next[onAnswer] = c.move }
	})
}

// move moves the client away from a server that restarts and so reports no more. The
// client may be unable to reach the followers of the newest leader.
func (c *modelClient) move() {
	hidden := c.upTo(3 * c.timeout)
	if c.oneIn(4) {
		hidden = 0
	}
	for i, w := range c.voters {
		if w.term != nil && w.term.epoch == c.begun {
			c.cut(c.self(), i, hidden)
		}
	}
	if a := c.at; a != nil {
		a.voter.on(peerThread, a.voter.life, a.voter.leave)
		c.lost(a)
	}
}

// partition cuts some voters off from the others, in one direction or both. The client
// may be on either side.
func (c *modelClient) partition(some uint) {
	length := []time.Duration{c.upTo(c.timeout / 4), c.upTo(2 * c.timeout), forever}[c.rand.IntN(3)]
	some |= uint(c.rand.IntN(2)) << c.self()
	in, out := !c.oneIn(3), !c.oneIn(3)
	for i := range c.self() + 1 {
		for j := range c.self() + 1 {
			from, to := some>>i&1, some>>j&1
			if (out && from > to) || (in && from < to) {
				c.cut(i, j, length)
			}
		}
	}
}

// nearExpiry leaves a client that nothing relies on with a deposed leader for so long
// that the next leader finds its session expired. At that moment the client may attach
// there.
func (c *modelClient) nearExpiry() {
	c.endsLeases, c.backlog = true, min(c.tick, c.timeout/4)
	if c.trust.relied > 0 {
		c.trust.leave(c.time())
	}
	v, hidden := c.leader(), c.timeout+c.upTo(2*c.tick)
	c.depose(v, false)
	for i, w := range c.voters {
		if w != v {
			c.cut(c.self(), i, hidden)
		}
	}
	c.schedule(c.now+hidden, func() { c.lost(c.at) })
}

// seedsOf is how many seeds of so many are run: with the race detector, which has
// nothing to find in one goroutine, a tenth.
func seedsOf(all int) int {
	if extent.Race {
		return all / 10
	}
	return all
}

func TestNothingBeginsToRelyOnASessionThatIsBeingEnded(t *testing.T) {
	t.Parallel()
	seeds, ended := seedsOf(1500), 0
	for seed := range uint64(seeds) {
		c := newModelClient(seed, mistake{})
		c.run(c.nearExpiry)
		require.Empty(t, c.wrong, "seed %d", seed)
		if c.ended != 0 {
			ended++
		}
	}
	require.Greater(t, ended, seeds/3)
}

func TestNoLeaderEndsASessionThatIsReliedOn(t *testing.T) {
	t.Parallel()
	var ended, stale, saved int
	seeds := seedsOf(3000)
	for seed := range uint64(seeds) {
		c := newModelClient(seed, mistake{})
		c.run(c.randomFault)
		require.Empty(t, c.wrong, "seed %d", seed)
		if c.sawStale {
			stale++
		}
		if c.ended == 0 || c.trust.relied == 0 {
			continue
		}
		ended++
		if c.endOf(&c.alone) > c.ended {
			saved++
		}
	}
	t.Logf("%d sessions ended while relied on, A alone would have been wrong for %d; deposed leaders answered in %d runs", ended, saved, stale)
	require.Greater(t, ended, seeds/3, "sessions must end, or the model proves nothing")
	require.Greater(t, saved, seeds/60, "and sometimes Q must be what saves them")
	require.Greater(t, stale, seeds/20, "deposed leaders must answer")
}

// The model catches each of these mistakes, and not the same run without the mistake.
// Some need thousands of seeds.
func TestModelOfTermsCatches(t *testing.T) {
	t.Parallel()
	if extent.Race {
		return // see seedsOf
	}
	for name, tc := range map[string]struct {
		mistake mistake
		fault   func(*modelClient)
	}{
		"a deadline without Q":                  {mistake{withoutQ: true}, (*modelClient).randomFault},
		"a handshake that vouches":              {mistake{handshakeVouches: true}, (*modelClient).randomFault},
		"a sync that vouches":                   {mistake{syncVouches: true}, (*modelClient).randomFault},
		"a return to an earlier leader":         {mistake{withoutZxid: true}, (*modelClient).moveAndReturn},
		"a deadline that is revived":            {mistake{revives: true}, (*modelClient).randomFault},
		"a number that is used twice":           {mistake{sameNumber: true}, (*modelClient).lateAcknowledgements},
		"a timeout that is longer than another": {mistake{newestTimeout: true}, (*modelClient).randomFault},
		"a grant close to the expiry":           {mistake{ignoresDoubt: true}, (*modelClient).nearExpiry},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(seed uint64, m mistake) *modelClient {
				c := newModelClient(seed, m)
				if tc.mistake.newestTimeout {
					c.voters[0].grants = max(2*c.tick, c.timeout*2/3)
				}
				c.run(func() { tc.fault(c) })
				return c
			}
			for seed := range uint64(3000) {
				if c := run(seed, tc.mistake); c.wrong != "" {
					t.Logf("seed %d: %s", seed, c.wrong)
					assert.Empty(t, run(seed, mistake{}).wrong, "seed %d without the mistake", seed)
					return
				}
			}
			t.Error("it was not caught")
		})
	}
}

// A seed that fails must fail again.
func TestModelOfTermsRepeats(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		c, again := newModelClient(seed, mistake{}), newModelClient(seed, mistake{})
		c.run(c.randomFault)
		again.run(again.randomFault)
		assert.Equal(t, c.seq, again.seq)
		assert.Equal(t, c.endOf(&c.trust), again.endOf(&again.trust))
	}
}
