//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// A settled job is one whose command has ended, and which has released.
type settled struct {
	code int
	took time.Duration
	free time.Duration // after which the next client had the lock
	said []string      // lines
}

// events reads what was said with --json.
func (s settled) events(t *testing.T) (all []event) {
	t.Helper()
	for _, line := range s.said {
		var e event
		checkEvent(t, []byte(line))
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// capture has a job report to a buffer, and returns what ends that.
func capture(j *job, asJSON, quiet bool) (lines func() []string) {
	var out bytes.Buffer
	j.report = newReporter(&out, testLock, asJSON, quiet)
	return func() []string {
		j.report.close()
		return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
	}
}

// settling has a job with these flags hold the lock for a minute, and another one wait.
// Then the fault begins, at once the command ends with 3, or hold gets a signal, and
// all that follows is measured from there.
func settling(t *testing.T, w *conformance.World, j *job, end func() int, fault func(), flags ...string) (s settled) {
	t.Helper()
	next, f := virtual(t, w, "b", flags...)
	granted := make(chan time.Time, 1)
	go func() {
		if next.await(t.Context(), f.begin()) == nil {
			granted <- time.Now()
		}
	}()
	w.After(time.Minute)
	j.phase.Store(finished)
	begun := time.Now()
	fault()
	s.code = end()
	s.took = time.Since(begun)
	j.disconnect()
	s.free = (<-granted).Sub(begun)
	next.giveBack()
	next.disconnect()
	return s
}

// settleRun is settling of a "run".
func settleRun(t *testing.T, w *conformance.World, fault func(j *job), asJSON, quiet bool, flags ...string) settled {
	t.Helper()
	j, f := virtual(t, w, "a", flags...)
	require.NoError(t, j.await(t.Context(), f.begin()))
	lines := capture(j, asJSON, quiet)
	s := settling(t, w, j, func() int {
		code, again := j.finish(outcome{end: ending{code: 3}}, time.Minute, false)
		require.False(t, again)
		return code
	}, func() { fault(j) }, flags...)
	s.said = lines()
	return s
}

// settleHold is settling of a "hold".
func settleHold(t *testing.T, w *conformance.World, fault func(j *job), asJSON, quiet bool) settled {
	t.Helper()
	j := virtualHold(t, w)
	lines := capture(j, asJSON, quiet)
	s := settling(t, w, j, func() int { return j.endHold(outcome{signalled: true}) }, func() { fault(j) })
	s.said = lines()
	return s
}

// An outage is when no server answers to client a.
type outage struct {
	begin func(s *zktest.Server)
	end   func(s *zktest.Server)
}

var outages = map[string]outage{
	"closed": {
		func(s *zktest.Server) { s.RefuseConnections("a", true); s.DropConnections("a") },
		func(s *zktest.Server) { s.RefuseConnections("a", false) },
	},
	"cut off": {
		func(s *zktest.Server) { s.Partition("a", true) },
		func(s *zktest.Server) { s.Partition("a", false) },
	},
	"late": {
		func(s *zktest.Server) { s.Stall("a", true) },
		func(s *zktest.Server) { s.Stall("a", false) },
	},
	"frozen": {(*zktest.Server).Pause, (*zktest.Server).Resume},
}

const outageLasts = 2 * time.Second

// allOutages runs a test for each kind of outage, of "run" and of "hold". ends says
// whether it ends after outageLasts.
func allOutages(t *testing.T, ends bool, also func(j *job), test func(t *testing.T, s settled, confirmed, given int)) {
	t.Helper()
	for name, o := range outages {
		fault := func(w *conformance.World) func(*job) {
			return func(j *job) {
				o.begin(w.Server)
				if ends {
					time.AfterFunc(outageLasts, func() { o.end(w.Server) })
				}
				if name == "frozen" { // the other client needs it too
					time.AfterFunc(2*conformance.SessionTimeout, func() { o.end(w.Server) })
				}
				also(j)
			}
		}
		t.Run("run, "+name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				test(t, settleRun(t, w, fault(w), true, false), 3, 3)
			})
		})
		t.Run("hold, "+name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				test(t, settleHold(t, w, fault(w), true, false), 0, exitUnavailable)
			})
		})
	}
}

// When a server answers again, the lock is free at once, and not when the session has
// ended.
func TestServerThatAnswersAgainAfterTheCommand(t *testing.T) {
	allOutages(t, true, func(*job) {}, func(t *testing.T, s settled, confirmed, _ int) {
		require.Equal(t, confirmed, s.code)
		require.GreaterOrEqual(t, s.took, outageLasts)
		require.Less(t, s.took, outageLasts+time.Second)
		if !strings.Contains(t.Name(), "frozen") { // that concerns the next client, too
			require.Less(t, s.free, outageLasts+time.Second/2)
		}
		require.Less(t, s.free, conformance.SessionTimeout-time.Second)
		all := s.events(t)
		require.Len(t, all, 2)
		require.Equal(t, "releasing", all[0].Event)
		require.Equal(t, conformance.SessionTimeout-settleNotice, all[0].KeptUntil.Sub(all[0].Time), "it says so after a second")
		require.Equal(t, "released", all[1].Event)
		require.Empty(t, all[1].Reason)
		require.Equal(t, confirmed, *all[1].ExitCode)
		require.Equal(t, all[1].Command, all[0].Command)
	})
}

// When none does, it waits no longer than the session lives.
func TestNoServerAnswersAfterTheCommand(t *testing.T) {
	allOutages(t, false, func(*job) {}, func(t *testing.T, s settled, _, given int) {
		require.Equal(t, given, s.code)
		require.Equal(t, conformance.SessionTimeout, s.took)
		all := s.events(t)
		require.Len(t, all, 2)
		require.Equal(t, "releasing", all[0].Event)
		require.Equal(t, "released", all[1].Event)
		require.Equal(t, "no server has answered for 6s, the session timeout", all[1].Reason)
		require.Equal(t, given, *all[1].ExitCode)
	})
}

// A signal ends the wait, also one that came when it had just begun.
func TestSignalEndsTheWaitForTheRelease(t *testing.T) {
	for _, at := range []time.Duration{settleNotice / 2, settleNotice * 3 / 2} {
		t.Run(at.String(), func(t *testing.T) {
			signal := func(j *job) {
				j.signals <- syscall.SIGWINCH // ends nothing
				time.AfterFunc(at, func() { j.signals <- syscall.SIGINT })
			}
			allOutages(t, false, signal, func(t *testing.T, s settled, _, given int) {
				require.Equal(t, given, s.code)
				require.Equal(t, max(at, settleNotice), s.took)
				all := s.events(t)
				require.Equal(t, at > settleNotice, all[0].Event == "releasing")
				last := all[len(all)-1]
				require.Equal(t, "released", last.Event)
				require.Contains(t, last.Reason, "a signal to end came before a server has answered; the session ends at about ")
			})
		})
	}
}

// What it says as text, and with --quiet only if it was in vain.
func TestWaitForTheReleaseIsSaid(t *testing.T) {
	const (
		at     = `\d\d:\d\d:\d\d\.\d{3}`
		waits  = ` no server has confirmed the release yet: without that /locks/test is taken until about ` + at + `; a signal ends the wait$`
		vain   = `^zkrecipes: (` + at + ` )?/locks/test is not released yet, and will be free when the session has ended: no server has answered for 6s, the session timeout`
		after  = `^zkrecipes: ` + at
		ending = ` the command has ended \(exit code 3\), but`
	)
	for name, test := range map[string]struct {
		quiet, ends bool
		run, hold   []string
	}{
		"to no end":         {false, false, []string{after + ending + waits, vain + `$`}, []string{after + waits, vain + `; exit code 69$`}},
		"quiet, to no end":  {true, false, []string{vain + `$`}, []string{vain + `; exit code 69$`}},
		"to the end":        {false, true, []string{after + ending + waits}, []string{after + waits}},
		"quiet, to the end": {true, true, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(want []string, settle func(*testing.T, *conformance.World, func(*job)) settled) {
				conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
					s := settle(t, w, func(*job) {
						w.Server.Partition("a", true)
						if test.ends {
							time.AfterFunc(outageLasts, func() { w.Server.Partition("a", false) })
						}
					})
					require.Len(t, s.said, len(want), "%q", s.said)
					for i, line := range want {
						require.Regexp(t, line, s.said[i])
						require.LessOrEqual(t, len(s.said[i]), 200)
					}
				})
			}
			check(test.run, func(t *testing.T, w *conformance.World, fault func(*job)) settled {
				return settleRun(t, w, fault, false, test.quiet)
			})
			check(test.hold, func(t *testing.T, w *conformance.World, fault func(*job)) settled {
				return settleHold(t, w, fault, false, test.quiet)
			})
		})
	}
}

// With a server it asks for nothing more than the release, and signals that came
// meanwhile change nothing.
func TestNoWaitForTheReleaseWithAServer(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		var before int
		s := settleRun(t, w, func(j *job) {
			before = w.Server.Count(zktest.OpSync)
			j.signals <- syscall.SIGTERM
		}, true, false)
		require.Equal(t, 3, s.code)
		require.Less(t, s.took, 10*time.Millisecond)
		require.LessOrEqual(t, w.Server.Count(zktest.OpSync)-before, 1, "that of the next holder")
		all := s.events(t)
		require.Len(t, all, 1)
		require.Empty(t, all[0].Reason)
	})
}

// The client gives its session up long before the servers do, because work may rely on
// it. Then it closes it there, when that is safe.
func TestSessionThatIsGivenUpBeforeAServerAnswers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := settleRun(t, w, func(j *job) {
			outages["closed"].begin(w.Server)
			time.AfterFunc(conformance.SessionTimeout*3/4, func() {
				require.Error(t, j.session.Err())
				require.NotEmpty(t, w.Ephemerals(j.held.(*lease.Lease).Path()))
				outages["closed"].end(w.Server)
			})
		}, true, false)
		require.Equal(t, 3, s.code)
		require.Less(t, s.took, conformance.SessionTimeout*11/12)
		require.Less(t, s.free, conformance.SessionTimeout*11/12)
		require.Empty(t, s.events(t)[1].Reason)
	})
}

// Of several locks the first may be free already when the session is given up.
func TestSeveralLocksOfASessionThatIsGivenUp(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, f := virtual(t, w, "a", "--lock", "/locks/first")
		operator := w.Client("operator")
		require.NoError(t, j.await(t.Context(), f.begin()))
		w.After(time.Minute)
		outages["closed"].begin(w.Server)
		time.AfterFunc(conformance.SessionTimeout*3/4, func() {
			w.Remove(operator, j.held.(*lease.Lease).Path()) // as a delete does that was not answered
			outages["closed"].end(w.Server)
		})
		code, _ := j.finish(outcome{end: ending{code: 3}}, time.Second, false)
		require.Equal(t, 3, code)
		require.Error(t, j.session.Err())
		require.Empty(t, w.Ephemerals("/locks"))
		j.disconnect()
	})
}

// There is nothing to wait for when the servers have ended the session.
func TestSessionThatExpiresBeforeAServerAnswers(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := settleRun(t, w, func(j *job) {
			outages["closed"].begin(w.Server)
			time.AfterFunc(outageLasts, func() {
				w.Server.ExpireSession(j.session.ID())
				outages["closed"].end(w.Server)
			})
		}, true, false)
		require.Equal(t, 3, s.code)
		require.Less(t, s.took, outageLasts+time.Second)
		require.Empty(t, s.events(t)[1].Reason)
	})
}

// Servers that answer, but delete nothing, end it no later.
func TestReleaseThatIsNeverConfirmed(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		s := settleRun(t, w, func(*job) {
			w.Server.On(zktest.OpDelete, "").Client("a").Always().Cut()
		}, true, false)
		require.Equal(t, 3, s.code)
		require.Equal(t, conformance.SessionTimeout, s.took)
		require.NotEmpty(t, s.events(t)[1].Reason)
		require.Less(t, s.free, s.took+100*time.Millisecond, "the end of the session frees it")
	})
}

// The record for a lock-delay goes before the session ends: else the lock would stay
// closed.
func TestLockDelayAfterAWaitForTheRelease(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		for _, more := range []string{"--shared=false", "--lock=/locks/other"} {
			s := settleRun(t, w, func(*job) {
				outages["closed"].begin(w.Server)
				time.AfterFunc(outageLasts, func() {
					w.Server.On(zktest.OpDelete, testLock+"/lock-delay").Client("a").Nth(1).Before().Delay(time.Second / 2)
					outages["closed"].end(w.Server)
				})
			}, true, false, more, "--lock-delay", "1h")
			require.Equal(t, 3, s.code)
			require.Less(t, s.free, outageLasts+time.Second)
		}
	})
}

// While it goes on, and after a loss, it waits for nothing.
func TestNoWaitForTheRelease(t *testing.T) {
	for name, test := range map[string]struct {
		o    outcome
		more bool
		code int
	}{
		"elect goes on": {outcome{revoked: true}, true, 0},
		"lost":          {outcome{lost: true}, false, exitLost},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j, f := virtual(t, w, "a")
				require.NoError(t, j.await(t.Context(), f.begin()))
				outages["closed"].begin(w.Server)
				w.Settle()
				begun := time.Now()
				code, again := j.finish(test.o, time.Second, test.more)
				require.Equal(t, test.code, code)
				require.Equal(t, test.more, again)
				require.Equal(t, begun, time.Now())
				w.Heal()
				j.disconnect()
			})
		})
	}
}

// What is kept for --min-hold is released with the session, if a signal cuts that
// short; and that needs a server, too. Another signal ends the wait for it.
func TestWaitForTheReleaseAfterTheMinimumHoldTime(t *testing.T) {
	for name, test := range map[string]struct {
		signals []time.Duration
		comes   time.Duration
		ends    time.Duration
		reason  string
	}{
		"to the end":     {nil, 11 * time.Second, 11 * time.Second, ""},
		"a signal":       {[]time.Duration{9500 * time.Millisecond}, 11 * time.Second, 11 * time.Second, "a signal to end came before --min-hold was over"},
		"second signal":  {[]time.Duration{9500 * time.Millisecond, 10700 * time.Millisecond}, time.Hour, 10700 * time.Millisecond, "a signal to end came before a server has answered"},
		"servers answer": {[]time.Duration{9500 * time.Millisecond}, 0, 9500 * time.Millisecond, "a signal to end came before --min-hold was over"},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j, f := virtual(t, w, "a", "--min-hold", "10s")
				require.NoError(t, j.await(t.Context(), f.begin()))
				lines := capture(j, true, false)
				j.phase.Store(finished)
				begun := time.Now()
				for _, at := range test.signals {
					time.AfterFunc(at, func() { j.signals <- syscall.SIGTERM })
				}
				if test.comes > 0 {
					time.AfterFunc(9*time.Second, func() { outages["closed"].begin(w.Server) })
					time.AfterFunc(test.comes, func() { outages["closed"].end(w.Server) })
				}
				code, _ := j.finish(outcome{end: ending{code: 3}}, time.Second, false)
				require.Equal(t, 3, code)
				took := time.Since(begun)
				require.GreaterOrEqual(t, took, test.ends)
				require.Less(t, took, test.ends+time.Second)
				j.disconnect()
				if test.comes < time.Hour {
					require.Empty(t, w.Ephemerals(testLock))
				}
				s := settled{said: lines()}
				all := s.events(t)
				last := all[len(all)-1]
				require.Equal(t, "released", last.Event)
				require.True(t, strings.HasPrefix(last.Reason, test.reason) && (test.reason != "") == (last.Reason != ""), last.Reason)
				w.Heal()
			})
		})
	}
}

// The connection stands when --min-hold is over, but nothing is answered.
func TestSilenceAtTheEndOfTheMinimumHoldTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, f := virtual(t, w, "a", "--min-hold", "10s")
		require.NoError(t, j.await(t.Context(), f.begin()))
		lines := capture(j, true, false)
		j.phase.Store(finished)
		time.AfterFunc(9900*time.Millisecond, func() { outages["late"].begin(w.Server) })
		begun := time.Now()
		code, _ := j.finish(outcome{end: ending{code: 3}}, time.Second, false)
		require.Equal(t, 3, code)
		require.GreaterOrEqual(t, time.Since(begun), 9*time.Second+conformance.SessionTimeout)
		all := settled{said: lines()}.events(t)
		require.Equal(t, "no server has answered for 6s, the session timeout", all[len(all)-1].Reason)
		outages["late"].end(w.Server)
		j.disconnect()
	})
}

// While the rest of --min-hold passes no server answers. When the session is over,
// there is nothing left to wait for; and elect goes on after the rest, without a wait.
func TestNoWaitForTheReleaseAfterTheMinimumHoldTime(t *testing.T) {
	for name, test := range map[string]struct {
		minHold time.Duration
		more    bool
		least   time.Duration
	}{
		"the session ends": {time.Minute, false, conformance.SessionTimeout / 2},
		"elect goes on":    {conformance.SessionTimeout / 2, true, conformance.SessionTimeout / 2},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j, f := virtual(t, w, "a", "--min-hold", test.minHold.String())
				require.NoError(t, j.await(t.Context(), f.begin()))
				lines := capture(j, true, false)
				begun := time.Now()
				outages["closed"].begin(w.Server)
				_, again := j.finish(outcome{revoked: true}, time.Second, test.more)
				took := time.Since(begun)
				require.Equal(t, test.more, again)
				require.GreaterOrEqual(t, took, test.least)
				require.LessOrEqual(t, took, min(test.minHold, conformance.SessionTimeout))
				all := settled{said: lines()}.events(t)
				for _, e := range all {
					require.NotEqual(t, "releasing", e.Event)
				}
				require.Equal(t, test.more, all[len(all)-1].Reason == "", "if it ends, the servers may still have the session")
				w.Heal()
				j.disconnect()
			})
		})
	}
}
