//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// These tests run in virtual time. The session timeout is 15 s, so trust lasts 10 s
// after an answer, and the grace is 2.5 s.
const (
	testSession = 15 * time.Second
	testTrust   = 10 * time.Second
	testGrace   = 2500 * time.Millisecond
)

// fakeLease is a supervisedLease whose trust is moved forward by hand.
type fakeLease struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	revoked chan struct{}

	mu    sync.Mutex
	until time.Time
}

func newFakeLease() *fakeLease {
	l := &fakeLease{until: time.Now().Add(testTrust), revoked: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancelCause(context.Background())
	return l
}

func (l *fakeLease) Context() context.Context { return l.ctx }

func (l *fakeLease) RevocationRequested() <-chan struct{} { return l.revoked }

func (l *fakeLease) Err() error {
	if !time.Now().Before(l.TrustedUntil()) {
		l.cancel(lease.ErrLost)
	}
	return context.Cause(l.ctx)
}

func (l *fakeLease) TrustedUntil() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// answered moves the trust forward, as an answer does.
func (l *fakeLease) answered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(testTrust)
}

// fakeTree is a command and other processes; it records which signals they got when.
type fakeTree struct {
	start     time.Time
	events    chan processEvent
	dies      map[syscall.Signal]bool // signals that kill the command
	othersDie map[syscall.Signal]bool // signals that kill all others
	refuse    error

	mu     sync.Mutex
	got    []string
	ended  bool          // the command
	others []processName // than the command
	unseen bool          // the others are not in its process group
}

func newFakeTree(dies ...syscall.Signal) *fakeTree {
	t := &fakeTree{start: time.Now(), events: make(chan processEvent, 4), dies: map[syscall.Signal]bool{syscall.SIGKILL: true}, othersDie: map[syscall.Signal]bool{syscall.SIGKILL: true}}
	for _, sig := range dies {
		t.dies[sig] = true
	}
	return t
}

// with adds what the command has started, and what ends it.
func (t *fakeTree) with(name string, dies ...syscall.Signal) *fakeTree {
	t.others = append(t.others, processName{PID: 4711, Name: name})
	for _, sig := range dies {
		t.othersDie[sig] = true
	}
	return t
}

// endedAlone is the event of a command that has left no process running.
func endedAlone(end ending) processEvent { return processEvent{ended: true, gone: true, end: end} }

func (t *fakeTree) Events() <-chan processEvent { return t.events }

func (t *fakeTree) Signal(to part, sig syscall.Signal) error {
	name := map[part]string{commandGroup: "", outsideGroup: " outside", everything: " all"}[to]
	return t.signal(to, sig, fmt.Sprint(sig, name))
}

func (t *fakeTree) Kill() error { return t.signal(everything, syscall.SIGKILL, "killed") }

func (t *fakeTree) signal(to part, sig syscall.Signal, name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse != nil {
		return t.refuse
	}
	t.got = append(t.got, fmt.Sprintf("%s at %v", name, time.Since(t.start)))
	if hears := to == everything || (to == outsideGroup) == t.unseen; hears && t.othersDie[sig] {
		t.others = nil
	}
	switch {
	case !t.ended && to != outsideGroup && t.dies[sig]:
		t.ended = true
		t.events <- processEvent{ended: true, gone: len(t.others) == 0, end: ending{signal: sig}}
	case t.ended && len(t.others) == 0:
		t.events <- processEvent{gone: true}
	}
	return nil
}

// end lets the command end, but not the others.
func (t *fakeTree) end(end ending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.events <- processEvent{ended: true, gone: len(t.others) == 0, end: end}
}

func (t *fakeTree) Running() []processName {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.others)
}

// A supervision is a supervisor with all fakes around it.
type supervision struct {
	lease   *fakeLease
	tree    *fakeTree
	signals chan os.Signal
	stderr  bytes.Buffer
	grace   time.Duration
	done    chan outcome
}

func supervise(tree *fakeTree, grace time.Duration) *supervision {
	s := &supervision{lease: newFakeLease(), tree: tree, signals: make(chan os.Signal, 4), grace: grace, done: make(chan outcome, 1)}
	return s
}

func (s *supervision) start() { s.startWith(func(*supervisor) {}) }

func (s *supervision) startWith(change func(*supervisor)) {
	sup := &supervisor{
		lock: s.lease, tree: s.tree, signals: s.signals, grace: func() time.Duration { return s.grace },
		report: newReporter(&s.stderr, "/l", true, false),
	}
	change(sup)
	go func() {
		o := sup.run()
		sup.report.close()
		s.done <- o
	}()
}

func TestHealthyLeaseLeavesTheCommandAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.start()
		for range 1000 { // each answer comes just in time
			time.Sleep(testTrust - testGrace - time.Millisecond)
			s.lease.answered()
		}
		s.tree.events <- endedAlone(ending{code: 4})
		require.Equal(t, outcome{end: ending{code: 4}}, <-s.done)
		require.Empty(t, s.tree.got)
		require.Empty(t, s.stderr.String())
	})
}

func TestSilenceStopsTheCommandInTime(t *testing.T) {
	for _, test := range []struct {
		name  string
		tree  func() *fakeTree
		grace time.Duration
		want  []string
	}{
		{"polite", func() *fakeTree { return newFakeTree(syscall.SIGTERM) }, testGrace, []string{"terminated all at 7.5s"}},
		{"stubborn", func() *fakeTree { return newFakeTree() }, testGrace, []string{"terminated all at 7.5s", "killed at 10s"}},
		{"polite leader of stubborn others", func() *fakeTree {
			return newFakeTree(syscall.SIGTERM).with("worker")
		}, testGrace, []string{"terminated all at 7.5s", "killed at 10s"}},
		{"no grace", func() *fakeTree { return newFakeTree(syscall.SIGTERM) }, 0, []string{"killed at 10s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := supervise(test.tree(), test.grace)
				s.start()
				o := <-s.done
				require.True(t, o.lost)
				require.Equal(t, test.want, s.tree.got)
				require.LessOrEqual(t, time.Since(s.tree.start), testTrust)
				require.Contains(t, s.stderr.String(), `"event":"lost"`)
			})
		})
	}
}

// A new server may grant a shorter session timeout. Then everything is due earlier, and
// no event says so.
func TestShorterSessionTimeoutCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		var less atomic.Bool
		s.startWith(func(sup *supervisor) {
			sup.grace = func() time.Duration {
				if less.Load() {
					return time.Second
				}
				return testGrace
			}
		})
		time.Sleep(500 * time.Millisecond)
		s.lease.mu.Lock()
		s.lease.until = time.Now().Add(3 * time.Second)
		s.lease.mu.Unlock()
		less.Store(true)
		require.True(t, (<-s.done).lost)
		require.Equal(t, []string{"terminated all at 2.5s", "killed at 3.5s"}, s.tree.got)
	})
}

// An answer after TERM does not take TERM back.
func TestAnswerAfterTermChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.start()
		time.Sleep(8 * time.Second)
		s.lease.answered()
		require.True(t, (<-s.done).lost)
		require.Equal(t, []string{"terminated all at 7.5s", "killed at 10s"}, s.tree.got)
	})
}

func TestLossStopsTheCommandAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.start()
		time.Sleep(time.Second)
		s.lease.cancel(fmt.Errorf("%w: on purpose", lease.ErrLost))
		require.True(t, (<-s.done).lost)
		require.Equal(t, []string{"terminated all at 1s", "killed at 3.5s"}, s.tree.got)
		var e event
		require.NoError(t, json.Unmarshal(s.stderr.Bytes(), &e))
		require.Equal(t, "lost", e.Event)
		require.Equal(t, "/l", e.Lock)
		require.Contains(t, e.Reason, "on purpose")
		require.WithinDuration(t, s.tree.start.Add(3500*time.Millisecond), *e.KillAt, 0)
	})
}

// As after SIGSTOP: many things are due at once, and only KILL is right.
func TestPausedTooLong(t *testing.T) {
	for range 20 { // select is random
		synctest.Test(t, func(t *testing.T) {
			s := supervise(newFakeTree(syscall.SIGTERM), testGrace)
			s.signals <- syscall.SIGCONT
			s.lease.until = time.Now().Add(-time.Minute)
			s.start()
			require.True(t, (<-s.done).lost)
			require.Equal(t, []string{"killed at 0s"}, s.tree.got)
		})
	}
}

// The same, but only the wall clock went on: the lease is over, and TrustedUntil still
// lies ahead.
func TestMachineHasSlept(t *testing.T) {
	for _, ahead := range []time.Duration{testTrust, testGrace, testGrace / 2} {
		synctest.Test(t, func(t *testing.T) {
			s := supervise(newFakeTree(syscall.SIGTERM), testGrace)
			s.lease.until = time.Now().Add(ahead)
			s.lease.cancel(&lease.LossError{Reason: framework.ErrTrustExpired})
			s.start()
			require.True(t, (<-s.done).lost)
			require.Equal(t, []string{"killed at 0s"}, s.tree.got)
		})
	}
}

// The machine slept after the command had got TERM.
func TestMachineHasSleptWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.start()
		time.Sleep(8*time.Second + wakePoll/2)
		s.lease.cancel(&lease.LossError{Reason: framework.ErrTrustExpired})
		require.True(t, (<-s.done).lost)
		require.Equal(t, []string{"terminated all at 7.5s", "killed at 8.01s"}, s.tree.got)
	})
}

func TestEndedCommandIsNotStopped(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := supervise(newFakeTree(), testGrace)
			s.lease.cancel(lease.ErrLost)
			s.tree.events <- endedAlone(ending{code: 0})
			s.start()
			require.Equal(t, outcome{}, <-s.done)
			require.Empty(t, s.tree.got)
		})
	}
}

func TestSignalsAreForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(syscall.SIGTERM), testGrace)
		s.start()
		for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGCONT, syscall.SIGTERM} {
			s.signals <- sig
			synctest.Wait()
		}
		require.Equal(t, outcome{end: ending{signal: syscall.SIGTERM}, signalled: true}, <-s.done)
		require.Equal(t, []string{"hangup at 0s", "stopped at 0s", "continued at 0s", "terminated at 0s"}, s.tree.got)
	})
}

func TestCommandThatMayNotBeSignalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(), testGrace)
		s.tree.refuse = syscall.EPERM
		s.lease.cancel(lease.ErrLost)
		s.start()
		time.Sleep(time.Hour)
		s.tree.events <- endedAlone(ending{code: 0})
		require.True(t, (<-s.done).lost)
		require.Contains(t, s.stderr.String(), `"event":"unstoppable"`)
	})
}
