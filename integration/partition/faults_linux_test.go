package partition

import (
	"testing"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
)

// The settings of the sample configuration allow sessions of 4 to 40 seconds. A leader
// that receives nothing from its followers steps down after about 10.
var shortSessions = []time.Duration{10 * time.Second, framework.DefaultSessionTimeout}

const longestSession = 40 * time.Second

// early is how long before the end of the holder's trust a frozen leader is resumed. It
// steps down a second later, if not before.
const early = 1200 * time.Millisecond

// The leader is cut off and the majority restarted: it elects a new leader within a
// second, long before the old leader notices.
func TestMajorityRestarted(t *testing.T) {
	withShortSessions(t, func(s *stage) { s.do(s.isolate, s.restartMajority) })
}

// A firewall drops all packets from and to the leader, and closes the connections of
// the others to it: they elect a new leader at once, without a restart.
func TestLeaderSilencedAndReset(t *testing.T) {
	withShortSessions(t, func(s *stage) { s.do(s.reset) })
}

// withShortSessions makes a fault happen when the holder's trust comes from requests of
// its client after the grant.
func withShortSessions(t *testing.T, strike func(s *stage)) {
	t.Helper()
	t.Parallel()
	for _, session := range shortSessions {
		t.Run(session.String(), func(t *testing.T) {
			inside(t, runs(t), func(t *testing.T) {
				s := newStage(t, session)
				s.awaitRenewal()
				struck := time.Now()
				strike(s)
				s.conclude(struck, atOnce)
			})
		})
	}
}

// The leader is frozen, and resumed when the others have elected another: it does not
// know yet that its term is over. The holder's lease began right before, so that its
// trust lasts longest.
func TestLeaderPaused(t *testing.T) {
	inside(t, runs(t), func(t *testing.T) {
		s := newStage(t, longestSession)
		s.do(s.pause, s.exclude)
		s.awaitLate(early)
		struck := time.Now()
		s.do(s.resume)
		s.conclude(struck, reattached)
	})
}

// The same, and cut off: the leader cannot even detect that the others have left it.
func TestLeaderCutOffAndPaused(t *testing.T) {
	inside(t, runs(t), func(t *testing.T) {
		s := newStage(t, longestSession)
		s.do(s.isolate, s.pause)
		s.awaitLate(early)
		struck := time.Now()
		s.do(s.resume)
		s.conclude(struck, reattached)
	})
}
