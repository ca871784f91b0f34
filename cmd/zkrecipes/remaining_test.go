//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// The lock protects all processes of a command, so it is kept until the last of them
// has ended; they are named once.
func TestRemainingProcessesKeepTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree().with("gzip"), testGrace)
		s.start()
		s.tree.end(ending{code: 4})
		for range 1000 {
			time.Sleep(testTrust / 2)
			s.lease.answered()
		}
		require.Empty(t, s.done, "not before all have ended")
		require.Empty(t, s.tree.got)
		s.tree.events <- processEvent{gone: true}
		require.Equal(t, outcome{end: ending{code: 4}}, <-s.done)
		require.Equal(t, 1, strings.Count(s.stderr.String(), "\n"), s.stderr.String())
		var e event
		require.NoError(t, json.Unmarshal(s.stderr.Bytes(), &e))
		require.Equal(t, "remaining", e.Event)
		require.Equal(t, "exit code 4", e.Command)
		require.Equal(t, []processName{{PID: 4711, Name: "gzip"}}, e.Processes)
	})
}

// A process that ends soon after the command is not worth a line.
func TestProcessesThatEndSoonAreNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree().with("gzip"), testGrace)
		s.start()
		s.tree.end(ending{})
		time.Sleep(remainingNotice - time.Millisecond)
		s.tree.events <- processEvent{gone: true}
		require.Equal(t, outcome{}, <-s.done)
		require.Empty(t, s.stderr.String())
	})
}

// Remaining processes are supervised as the command was.
func TestRemainingProcessesAreStoppedByALoss(t *testing.T) {
	for name, test := range map[string]struct {
		dies []syscall.Signal
		want []string
	}{
		"polite":   {[]syscall.Signal{syscall.SIGTERM}, []string{"terminated all at 7.5s"}},
		"stubborn": {nil, []string{"terminated all at 7.5s", "killed at 10s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := supervise(newFakeTree().with("gzip", test.dies...), testGrace)
				s.start()
				time.Sleep(time.Second)
				s.tree.end(ending{code: 4})
				require.Equal(t, outcome{end: ending{code: 4}, lost: true}, <-s.done)
				require.Equal(t, test.want, s.tree.got)
			})
		})
	}
}

// The command may pass a signal on to processes outside its group. When it has ended,
// it cannot any more.
func TestProcessesOutsideTheGroupGetTheSignalAfterTheCommand(t *testing.T) {
	for name, tell := range map[string]func(*supervision){
		"signal":     func(s *supervision) { s.signals <- syscall.SIGTERM },
		"revocation": func(s *supervision) { close(s.lease.revoked) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tree := newFakeTree(syscall.SIGTERM).with("worker", syscall.SIGTERM)
				tree.unseen = true
				s := supervise(tree, testGrace)
				s.start()
				tell(s)
				o := <-s.done
				require.Equal(t, ending{signal: syscall.SIGTERM}, o.end)
				require.False(t, o.lost)
				require.Equal(t, []string{"terminated at 0s", "terminated outside at 0s"}, s.tree.got)
			})
		})
	}
}

// A command that ends by itself does not end the others.
func TestCommandThatEndsDoesNotEndTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree().with("worker", syscall.SIGTERM), testGrace)
		s.start()
		s.signals <- syscall.SIGHUP // does not mean the end
		synctest.Wait()
		s.tree.end(ending{})
		synctest.Wait()
		require.Equal(t, []string{"hangup at 0s"}, s.tree.got)
		s.signals <- syscall.SIGUSR1
		synctest.Wait()
		require.Equal(t, "user defined signal 1 all at 0s", s.tree.got[1], "signals are theirs now")
		s.tree.events <- processEvent{gone: true}
		require.Equal(t, outcome{}, <-s.done)
	})
}

func TestKillAfter(t *testing.T) {
	for name, test := range map[string]struct {
		tree func() *fakeTree
		tell func(*supervision)
		want []string
	}{
		"signal": {func() *fakeTree { return newFakeTree() }, func(s *supervision) { s.signals <- syscall.SIGINT },
			[]string{"interrupt at 1s", "killed at 4s"}},
		"revocation": {func() *fakeTree { return newFakeTree() }, func(s *supervision) { close(s.lease.revoked) },
			[]string{"terminated at 1s", "killed at 4s"}},
		"remaining processes": {func() *fakeTree { return newFakeTree(syscall.SIGTERM).with("worker") }, func(s *supervision) { s.signals <- syscall.SIGTERM },
			[]string{"terminated at 1s", "terminated outside at 1s", "killed at 4s"}},
		"the first counts": {func() *fakeTree { return newFakeTree() }, func(s *supervision) {
			s.signals <- syscall.SIGINT
			time.Sleep(2 * time.Second)
			s.signals <- syscall.SIGTERM
		}, []string{"interrupt at 1s", "terminated at 3s", "killed at 4s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := supervise(test.tree(), testGrace)
				s.startWith(func(sup *supervisor) { sup.killAfter = 3 * time.Second })
				time.Sleep(time.Second)
				test.tell(s)
				o := <-s.done
				require.False(t, o.lost)
				require.Equal(t, test.want, s.tree.got)
				require.Contains(t, s.stderr.String(), `"event":"killed"`)
				require.Contains(t, s.stderr.String(), "got a signal to end 3s ago")
			})
		})
	}
}

func TestKillAfterIsNotUsedIfTheCommandEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree(syscall.SIGTERM), testGrace)
		s.startWith(func(sup *supervisor) { sup.killAfter = 3 * time.Second })
		s.signals <- syscall.SIGTERM
		require.Equal(t, outcome{end: ending{signal: syscall.SIGTERM}, signalled: true}, <-s.done)
		require.Equal(t, []string{"terminated at 0s"}, s.tree.got)
	})
}

// Without its guardian a command is out of control. Nothing is lost, but all processes
// must end.
func TestUnguardedCommandIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree().with("worker"), testGrace)
		s.start()
		time.Sleep(time.Second)
		s.tree.events <- processEvent{unguarded: true}
		require.Equal(t, outcome{end: ending{signal: syscall.SIGKILL}}, <-s.done)
		require.Equal(t, []string{"killed at 1s"}, s.tree.got)
		require.Contains(t, s.stderr.String(), errGuardianEnded.Error())
	})
}

func TestGuardianIsKilledWhileTheCommandIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := supervise(newFakeTree().with("worker"), testGrace)
		s.lease.cancel(lease.ErrLost)
		s.start()
		time.Sleep(time.Second)
		s.tree.events <- processEvent{unguarded: true}
		require.True(t, (<-s.done).lost)
		require.Equal(t, []string{"terminated all at 0s", "killed at 1s"}, s.tree.got, "and not after the grace")
	})
}

// Processes that may not be signalled can start some that may.
func TestKillIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tree := newFakeTree()
		clear(tree.dies)
		s := supervise(tree, 0)
		s.lease.cancel(lease.ErrLost)
		s.start()
		time.Sleep(10*killAgain + killAgain/2)
		synctest.Wait()
		require.Len(t, s.tree.got, 11)
		s.tree.events <- endedAlone(ending{})
		require.True(t, (<-s.done).lost)
	})
}

// A command that cannot be stopped must be watched.
func TestCommandThatCannotBeStoppedIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, terminal := supervise(newFakeTree(), testGrace), &fakeTerminal{refuse: fmt.Errorf("process 1 (x): %w", syscall.EPERM)}
		s.startWith(func(sup *supervisor) { sup.terminal = terminal })
		time.Sleep(time.Second)
		s.tree.events <- processEvent{stopped: syscall.SIGTSTP}
		require.True(t, (<-s.done).lost)
		require.Equal(t, testTrust-testGrace-time.Second, terminal.limit, "then the command would have to be stopped")
		require.Equal(t, []string{"terminated all at 7.5s", "killed at 10s"}, s.tree.got)
		require.Contains(t, s.stderr.String(), "process 1 (x): operation not permitted")
	})
}

// Remaining processes use the terminal too; only polling shows that they have stopped.
func TestTerminalOfRemainingProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, terminal := supervise(newFakeTree().with("less"), testGrace), &fakeTerminal{}
		s.startWith(func(sup *supervisor) { sup.terminal = terminal })
		s.tree.end(ending{})
		time.Sleep(remainingNotice + time.Millisecond)
		synctest.Wait()
		require.Equal(t, &fakeTerminal{reclaims: 1}, terminal, "if the group has ended")
		s.tree.mu.Lock()
		s.tree.others[0].stopped = true
		s.tree.mu.Unlock()
		time.Sleep(remainingPoll)
		synctest.Wait()
		require.Equal(t, &fakeTerminal{reclaims: 1, stops: 1, limit: testTrust - testGrace - remainingNotice - remainingPoll}, terminal)
		s.signals <- signalStop
		synctest.Wait()
		require.Equal(t, 2, terminal.stops, "not passed on: they might ignore it")
		require.Empty(t, s.tree.got)
		s.tree.events <- processEvent{gone: true}
		require.Equal(t, outcome{}, <-s.done)
	})
}

func TestJoinNames(t *testing.T) {
	var many []processName
	for i := range 7 {
		many = append(many, processName{PID: i, Name: "w"})
	}
	require.Equal(t, "w (0), w (1), w (2), w (3), w (4), and 2 more", joinNames(many))
	require.Equal(t, "w (0), w (1)", joinNames(many[:2]))
}
