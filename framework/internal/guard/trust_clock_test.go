package guard

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

const sessionLength = 9 * time.Second

// exchange is a request and its answer on one connection.
type exchange struct {
	sent, back time.Time
	byLeader   bool
}

// provable is the plainest form of the rule that trust implements. It returns when the
// handshake was sent, or the newest request that was answered a quarter of the timeout
// before the first of two round trips through the leader, one after the other.
func provable(handshake time.Time, log []exchange) time.Time {
	newest := handshake
	for i, first := range log {
		for _, second := range log[i+1:] {
			if !first.byLeader || !second.byLeader || second.sent.Before(first.back) {
				continue
			}
			for _, r := range log {
				if !r.back.After(first.sent.Add(-sessionLength/4)) && r.sent.After(newest) {
					newest = r.sent
				}
			}
		}
	}
	return newest
}

// Trust never claims more than can be proved, and not much less, whatever is answered
// when.
func TestTrustClaimsWhatCanBeProvedAndNoMore(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		now := time.Now()
		handshake := now
		var tr trust
		now = now.Add(50 * time.Millisecond)
		tr.begin(handshake, now, sessionLength)
		var log []exchange
		gap := 1 + random.IntN(800)
		for range 40 {
			now = now.Add(time.Duration(random.IntN(gap)) * time.Millisecond)
			x := exchange{now, now.Add(time.Duration(random.IntN(200)) * time.Millisecond), random.IntN(3) > 0}
			if random.IntN(2) == 0 { // else the next one is sent before this is answered
				now = x.back
			}
			log = append(log, x)
			tr.answer(x.sent, x.back, x.byLeader)
			claimed, proved := tr.until().Add(-trustWindow(sessionLength)), provable(handshake, log)
			if !assert.False(t, claimed.After(proved), "claims %v too much", claimed.Sub(proved)) {
				return
			}
			if !assert.Less(t, proved.Sub(claimed), 2*time.Second+sessionLength/24) {
				return
			}
		}
	}
}

func TestTrustOfASteadyExchange(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	var tr trust
	tr.begin(begun, begun, sessionLength)
	for i := range 100 {
		sent := begun.Add(time.Duration(i) * sessionLength / 12)
		tr.answer(sent, sent, true)
		if i > 12 {
			assert.Equal(t, sent.Add(-sessionLength/12-sessionLength/4+trustWindow(sessionLength)), tr.until())
		}
	}
}

// The server before may not have reported what it knew.
func TestTrustStartsAgainOnAnotherConnection(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	var tr trust
	tr.begin(at(0), at(0.1), sessionLength)
	tr.answer(at(4), at(4.1), false)
	tr.begin(at(5), at(5.1), sessionLength)
	want := at(5).Add(trustWindow(sessionLength))
	assert.Equal(t, want, tr.until())
	tr.answer(at(7), at(7.1), true)
	tr.answer(at(7.2), at(7.3), true)
	assert.Equal(t, want, tr.until(), "nothing on this connection is old enough")
}

func TestTrustLeavesTheServerASixthOfTheTimeout(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	for _, timeout := range []time.Duration{100 * time.Millisecond, 4*time.Second + 1, 40 * time.Second, time.Hour} {
		var tr trust
		tr.begin(begun, begun, timeout)
		assert.GreaterOrEqual(t, timeout-tr.until().Sub(begun), stopMargin(timeout))
		assert.GreaterOrEqual(t, 6*stopMargin(timeout)+6, timeout)
	}
}

// A leader that stood still may answer many requests at once before it pings its
// servers.
func TestTrustDoesNotCountRoundTripsInARow(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	at := func(s float64) time.Time { return begun.Add(time.Duration(s * float64(time.Second))) }
	var tr trust
	tr.begin(at(0), at(0), sessionLength)
	tr.answer(at(1), at(1), true)
	tr.answer(at(2), at(2), false)
	for s := 5.0; s < 5.374; s += 0.01 {
		tr.answer(at(s), at(s), true)
	}
	assert.Equal(t, begun, tr.proved, "only one of them counts")
	tr.answer(at(5.376), at(5.376), true)
	assert.Equal(t, at(2), tr.proved)
}

// Err must not depend on a goroutine that runs in time: a process that was stopped
// calls Err first when it goes on.
func TestErrLooksAtTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestGuard()
		assert.NoError(t, g.Err(), "before the first handshake there is nothing to trust or not")
		g.trust.begin(time.Now(), time.Now(), sessionLength)
		time.Sleep(trustWindow(sessionLength) - 1)
		assert.NoError(t, g.Err())
		time.Sleep(time.Nanosecond)
		assert.ErrorIs(t, g.Err(), ErrTrustExpired)
		g.trust.begin(time.Now(), time.Now(), sessionLength)
		assert.ErrorIs(t, g.Err(), ErrTrustExpired)
	})
}

// After a sleep of the machine an answer may come before any call has checked the
// clock. Still it was the deadline that ended the session, long ago.
func TestEndAfterTheDeadlineIsThatOfTrust(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]error{-1: ErrSessionExpired, 0: ErrTrustExpired} {
		synctest.Test(t, func(t *testing.T) {
			g := newTestGuard()
			g.trust.begin(time.Now(), time.Now(), sessionLength)
			time.Sleep(trustWindow(sessionLength) + late)
			g.End(ErrSessionExpired)
			assert.ErrorIs(t, g.Err(), want)
		})
	}
}
