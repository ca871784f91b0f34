//go:build unix

package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// TERM once, no KILL, however long the command takes.
func TestRevokedCommandIsNotKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.start()
		time.Sleep(time.Second)
		close(s.lease.revoked)
		for range 1000 {
			time.Sleep(testTrust / 2)
			s.lease.answered()
		}
		s.tree.events <- endedAlone(ending{code: 4})
		require.Equal(t, outcome{end: ending{code: 4}, revoked: true}, <-s.done)
		require.Equal(t, []string{"terminated at 1s"}, s.tree.got)
		require.Equal(t, 1, strings.Count(s.stderr.String(), `"event":"revoked"`))
	})
}

// A loss kills the command, even after a request for revocation.
func TestRevokedCommandIsStoppedByALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		close(s.lease.revoked)
		s.start()
		require.Equal(t, outcome{end: ending{signal: syscall.SIGKILL}, lost: true, revoked: true}, <-s.done)
		require.Equal(t, []string{"terminated at 0s", "terminated all at 7.5s", "killed at 10s"}, s.tree.got)
	})
}

func TestRevokedAfterTheCommandHasEnded(t *testing.T) {
	for range 20 { // select is random
		synctest.Test(t, func(t *testing.T) {
			s := supervise(newFakeTree(), testGrace)
			close(s.lease.revoked)
			s.tree.events <- endedAlone(ending{code: 0})
			s.start()
			require.Equal(t, outcome{}, <-s.done)
			require.Empty(t, s.tree.got)
		})
	}
}

// A fakeTerminal counts its calls.
type fakeTerminal struct {
	stops, resumes, reclaims int
	refuse                   error
	limit                    time.Duration
}

func (f *fakeTerminal) commandStopped(_ syscall.Signal, limit time.Duration) error {
	f.limit = limit
	f.stops++
	return f.refuse
}

func (f *fakeTerminal) resume()  { f.resumes++ }
func (f *fakeTerminal) reclaim() { f.reclaims++ }
func (f *fakeTerminal) close()   {}

// Several triggers at once, and none is overlooked.
func TestStoppedRevokedAndSignalled(t *testing.T) {
	for range 20 { // select is random
		synctest.Test(t, func(t *testing.T) {
			s, terminal := supervise(newFakeTree(), testGrace), &fakeTerminal{}
			close(s.lease.revoked)
			s.tree.events <- processEvent{stopped: syscall.SIGTTIN}
			s.signals <- syscall.SIGUSR1
			s.startWith(func(sup *supervisor) { sup.terminal = terminal })
			time.Sleep(time.Second)
			s.tree.events <- endedAlone(ending{code: 0})
			require.Equal(t, outcome{revoked: true}, <-s.done)
			require.ElementsMatch(t, []string{"terminated at 0s", "user defined signal 1 at 0s"}, s.tree.got)
			require.Equal(t, 1, terminal.stops)
			require.Zero(t, terminal.reclaims+terminal.resumes)
		})
	}
}

func TestRevokeIsNotPassedOn(t *testing.T) {
	for name, change := range map[string]func(*supervisor, *fakeTree){
		"ignored":       func(s *supervisor, _ *fakeTree) { s.ignoreRevoke = true },
		"not permitted": func(_ *supervisor, g *fakeTree) { g.refuse = syscall.EPERM },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := supervise(newFakeTree(), testGrace)
				close(s.lease.revoked)
				s.startWith(func(sup *supervisor) { change(sup, s.tree) })
				time.Sleep(time.Second)
				s.tree.events <- endedAlone(ending{code: 0})
				require.Equal(t, outcome{}, <-s.done, "it was not told to end")
				require.Empty(t, s.tree.got)
				require.Contains(t, s.stderr.String(), `"event":"revoked"`)
			})
		})
	}
}

// The reason is the time limit, not the servers.
func TestEndOfTheMaximumHoldTimeIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.startWith(func(sup *supervisor) {
			sup.sessionTrust = func() time.Time { return time.Now().Add(testTrust) }
		})
		require.True(t, (<-s.done).lost)
		require.Equal(t, []string{"terminated all at 7.5s", "killed at 10s"}, s.tree.got)
		var e event
		require.NoError(t, json.Unmarshal(s.stderr.Bytes(), &e))
		require.Contains(t, e.Reason, "maximum hold time")
		require.NotContains(t, e.Reason, "answered")
	})
}

// A signal that ends an election counts, whatever is due at the same time: it is
// recorded, or left to the wait for the next term.
func TestSignalBesideTheEndOfATerm(t *testing.T) {
	for name, ends := range map[string]func(*supervision){
		"the command has ended": func(s *supervision) { s.tree.events <- endedAlone(ending{code: 0}) },
		"the lease is lost":     func(s *supervision) { s.lease.cancel(lease.ErrLost) },
		"awoken too late":       func(s *supervision) { s.lease.until = time.Now().Add(-time.Minute) },
	} {
		for range 20 { // select is random
			synctest.Test(t, func(t *testing.T) {
				s := supervise(newFakeTree(), testGrace)
				s.signals <- syscall.SIGTERM
				ends(s)
				s.start()
				o := <-s.done
				require.NotEqual(t, o.signalled, len(s.signals) > 0, "%s: %+v", name, o)
			})
		}
	}
}
