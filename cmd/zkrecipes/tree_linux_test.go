package main

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// holdTree starts a run whose command has processes in other groups and sessions.
func holdTree(t *testing.T, server *zktest.Server, flags ...string) *started {
	t.Helper()
	p := start(t, server, flagsFor(command("tree"), append([]string{"--lock", testLock}, flags...)...)...)
	for range leaves {
		require.Equal(t, "leaf", p.line())
	}
	return p
}

// guardianOf returns the guardian of a command that runs.
func guardianOf(t *testing.T, p *started) int {
	t.Helper()
	all, err := allProcesses()
	require.NoError(t, err)
	for _, d := range descendantsOf(p.cmd.Process.Pid, all) {
		if d.name == guardianName {
			return d.pid
		}
	}
	require.Fail(t, "no guardian")
	return 0
}

// commandsOf returns the processes that the guardian watches.
func commandsOf(t *testing.T, p *started) []procStat {
	t.Helper()
	all, err := allProcesses()
	require.NoError(t, err)
	return slices.DeleteFunc(descendantsOf(guardianOf(t, p), all), procStat.ended)
}

// Whatever ends a run, no process is left: end makes sure that none has standard output
// any more.
func TestNoProcessIsLeft(t *testing.T) {
	signal := func(sig syscall.Signal) func(*testing.T, *started, *zktest.Server) {
		return func(_ *testing.T, p *started, _ *zktest.Server) { p.signal(sig) }
	}
	for name, test := range map[string]struct {
		flags []string
		ends  func(*testing.T, *started, *zktest.Server)
		code  int
	}{
		"loss": {[]string{"--grace", "100ms"}, func(t *testing.T, _ *started, server *zktest.Server) {
			require.True(t, server.ExpireSession(server.Sessions()[0].ID))
		}, exitLost},
		"zkrecipes is killed": {nil, signal(syscall.SIGKILL), -1},
		"the guardian is killed": {nil, func(t *testing.T, p *started, _ *zktest.Server) {
			require.NoError(t, syscall.Kill(guardianOf(t, p), syscall.SIGKILL))
		}, 128 + 9},
		"zkrecipes is killed, and the guardian is stopped": {nil, func(t *testing.T, p *started, _ *zktest.Server) {
			p.signal(syscall.SIGSTOP) // else it continues the guardian
			require.NoError(t, syscall.Kill(guardianOf(t, p), syscall.SIGSTOP))
			p.signal(syscall.SIGKILL)
		}, -1},
		"loss, and the guardian is stopped": {[]string{"--grace", "0"}, func(t *testing.T, p *started, server *zktest.Server) {
			require.NoError(t, syscall.Kill(guardianOf(t, p), syscall.SIGSTOP))
			require.True(t, server.ExpireSession(server.Sessions()[0].ID))
		}, exitLost},
		"INT":  {[]string{"--kill-after", "100ms"}, signal(syscall.SIGINT), 128 + 2},
		"TERM": {[]string{"--kill-after", "100ms"}, signal(syscall.SIGTERM), 128 + 15},
		"revocation": {[]string{"--kill-after", "100ms"}, func(t *testing.T, _ *started, server *zktest.Server) {
			code, _ := revoke(t, server, testLock)
			require.Zero(t, code)
		}, 128 + 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			p := holdTree(t, server, test.flags...)
			until(t, "the starters have ended", func() bool { return len(commandsOf(t, p)) == 1+leaves })
			test.ends(t, p, server)
			require.Equal(t, test.code, p.end())
		})
	}
}

// If both are killed at once, at least the command itself ends.
func TestCommandEndsIfBothAreKilled(t *testing.T) {
	p := hold(t, zktest.NewServer(t))
	guardian := guardianOf(t, p)
	p.signal(syscall.SIGSTOP) // so that it does not see the guardian die
	require.NoError(t, syscall.Kill(guardian, syscall.SIGSTOP))
	require.NoError(t, syscall.Kill(guardian, syscall.SIGKILL))
	p.signal(syscall.SIGKILL)
	require.Equal(t, -1, p.end())
}

// A stopped guardian could not report the end.
func TestStoppedGuardianIsContinued(t *testing.T) {
	p := hold(t, zktest.NewServer(t))
	require.NoError(t, syscall.Kill(guardianOf(t, p), syscall.SIGSTOP))
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
}

// No signal ends the guardian before the last process.
func TestGuardianIgnoresSignals(t *testing.T) {
	p := hold(t, zktest.NewServer(t))
	for _, sig := range []syscall.Signal{
		syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
	} {
		require.NoError(t, syscall.Kill(guardianOf(t, p), sig))
	}
	<-time.After(50 * time.Millisecond)
	p.signal(syscall.SIGTERM)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, 3, p.end())
}

// The lock is kept for processes that do not end at a signal.
func TestLockIsKeptUntilTheLastProcessEnds(t *testing.T) {
	server := zktest.NewServer(t)
	p := holdTree(t, server)
	p.signal(syscall.SIGTERM)
	e := p.event("remaining")
	require.Contains(t, e.Command, "signal 15")
	var deaf []procStat
	until(t, "those that ignore TERM are left: processes outside the group got it too", func() bool {
		deaf = commandsOf(t, p)
		return len(deaf) == 2
	})
	require.Len(t, server.Children(testLock), 1)
	for _, left := range deaf { // on a busy machine others are named, too, that are about to end
		require.True(t, slices.ContainsFunc(e.Processes, func(named processName) bool { return named.PID == left.pid }))
		require.NoError(t, syscall.Kill(left.pid, syscall.SIGKILL))
	}
	require.Equal(t, 128+15, p.end())
	require.Empty(t, server.Children(testLock))
}

// The leader of the group has ended, so another group may get its number: the group is
// not signalled by number.
func TestSignalsReachTheGroupOfAnEndedCommand(t *testing.T) {
	p := start(t, zktest.NewServer(t), flagsFor(command("starter", "leaf"), "--lock", testLock)...)
	require.Equal(t, "leaf", p.line())
	require.Len(t, p.event("remaining").Processes, 1)
	p.signal(syscall.SIGINT)
	require.Equal(t, 0, p.end(), "the command's own")
}

// Children from before our exec, and adopted ones, do not keep the lock; but we reap
// them when they have ended, because no other process does.
func TestOrphansAreReaped(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, slices.Concat([]string{asOrphaned}, flagsFor(command("polite"), "--lock", testLock))...)
	require.ElementsMatch(t, []string{"leaf", "ready"}, []string{p.line(), p.line()}, "one is of a child that zkrecipes has not started")
	own := func() []procStat {
		all, err := allProcesses()
		require.NoError(t, err)
		return slices.DeleteFunc(all, func(c procStat) bool { return c.parent != p.cmd.Process.Pid || c.name == guardianName })
	}
	until(t, "only what runs is there", func() bool { return len(own()) == 1 })
	foreign := own()[0]
	require.False(t, foreign.ended())
	require.Len(t, commandsOf(t, p), 1)
	require.NoError(t, syscall.Kill(guardianOf(t, p), syscall.SIGKILL))
	require.Equal(t, 128+9, *p.event("released").ExitCode)
	require.Equal(t, foreign.processID, identify(foreign.pid), "it was not ours to kill")
	require.NoError(t, syscall.Kill(foreign.pid, syscall.SIGKILL))
	require.Equal(t, 128+9, p.end())
}

// The command inherits open files as without zkrecipes.
func TestFilesAreInherited(t *testing.T) {
	server := zktest.NewServer(t)
	files := make([]*os.File, 12)
	for i := range files {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { r.Close() })
		_, err = w.WriteString("file " + strconv.Itoa(i+3))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		files[i] = r
	}
	for _, fd := range []int{3, 4, 9, 14} {
		cmd := exec.Command(os.Args[0], append([]string{"run", "--lock", testLock}, command("file", strconv.Itoa(fd))...)...)
		cmd.Env = append(os.Environ(), envProgram+"=1", envServers+"="+server.Addr())
		cmd.ExtraFiles = files
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, "file "+strconv.Itoa(fd)+" <nil>", strings.TrimSpace(string(out)))
	}
}

// One elect starts many commands, each with pipes and a guardian.
func TestTermsLeaveNoOpenFiles(t *testing.T) {
	server := zktest.NewServer(t)
	p := candidate(t, server, "polite")
	leads(t, p)
	open := func() int {
		files, err := os.ReadDir("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/fd")
		require.NoError(t, err)
		return len(files)
	}
	before := open()
	for range 5 {
		code, _ := revoke(t, server, testLock)
		require.Zero(t, code)
		require.Equal(t, "got terminated", p.line())
		leads(t, p)
	}
	require.LessOrEqual(t, open(), before+1)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
}

func TestArgumentsAreBytes(t *testing.T) {
	p := start(t, zktest.NewServer(t), flagsFor(command("arguments", "", "a b", "\xff\n", strings.Repeat("x", 60_000)), "--lock", testLock)...)
	require.Equal(t, `["" "a b" "\xff\n" "`+strings.Repeat("x", 60_000)+`"]`, p.line())
	require.Equal(t, 0, p.end())
}

// So is the name of a file.
func TestNameOfTheCommandIsBytes(t *testing.T) {
	name := t.TempDir() + "/\xff"
	require.NoError(t, os.Symlink(os.Args[0], name))
	p := start(t, zktest.NewServer(t), "run", "--lock", testLock, "--", name, asCommand, "exit", "7")
	require.Equal(t, 7, p.end())
}

func TestGuardianIsStartedByZkrecipesOnly(t *testing.T) {
	for _, args := range [][]string{nil, {"0", "x"}, {"0", "1"}} {
		cmd := exec.Command(os.Args[0])
		cmd.Args = append([]string{guardianName}, args...)
		out, err := cmd.CombinedOutput()
		require.ErrorContains(t, err, "exit status 64")
		require.Contains(t, string(out), "only zkrecipes can start it")
	}
}

func TestProcStat(t *testing.T) {
	p, err := readStat("self")
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), p.pid)
	require.Equal(t, os.Getppid(), p.parent)
	require.Equal(t, syscall.Getpgrp(), p.group)
	sid, _, errno := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	require.Zero(t, errno)
	require.EqualValues(t, sid, p.session, "0 in a PID namespace that the session's leader is not in")
	require.Positive(t, p.started)
	require.Equal(t, p.processID, identify(os.Getpid()))
	require.False(t, p.ended())
	_, err = readStat("no such process")
	require.ErrorIs(t, err, os.ErrNotExist)

	p, err = parseStat("12 (a) S (\n) b) Z 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1 20 21 22 23\n")
	require.NoError(t, err)
	require.Equal(t, procStat{processID: processID{12, 21}, name: "a) S (\n) b", state: 'Z', parent: 3, group: 4, session: 5, threads: 1}, p)
	require.True(t, p.ended())
	p.threads = 2
	require.False(t, p.ended(), "its first thread has ended, and others have not")
	for _, text := range []string{"", "12", "12 (a)", "x (a) S 1 2 3", "12 (a) S 3 4 5"} {
		_, err := parseStat(text)
		require.Error(t, err, text)
	}
}

func TestDescendants(t *testing.T) {
	all := []procStat{}
	for pid, parent := range map[int]int{1: 0, 2: 1, 3: 2, 4: 3, 5: 1, 6: 5, 7: 7, 8: 9, 9: 8} {
		all = append(all, procStat{processID: processID{pid: pid}, parent: parent})
	}
	numbers := func(root int) (pids []int) {
		for _, p := range descendantsOf(root, all) {
			pids = append(pids, p.pid)
		}
		slices.Sort(pids)
		return pids
	}
	require.Equal(t, []int{3, 4}, numbers(2))
	require.Equal(t, []int{2, 3, 4, 5, 6}, numbers(1))
	require.Empty(t, numbers(6))
	require.Equal(t, []int{8, 9}, numbers(8), "a circle has an end")
}

// Never another process with the same number.
func TestSignalIsForOneProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], asCommand, "leaf")
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	p, err := readStat(strconv.Itoa(cmd.Process.Pid))
	require.NoError(t, err)
	before := p
	before.started--
	require.NoError(t, before.signal(syscall.SIGKILL))
	tree := newTree(os.Getpid(), before.processID)
	require.False(t, tree.leaderExists())
	isOurs := func() bool {
		alive, err := tree.alive()
		require.NoError(t, err)
		return slices.ContainsFunc(alive, func(a procStat) bool { return a.processID == p.processID })
	}
	tree.moveTo(os.Getpid(), map[processID]bool{p.processID: true})
	require.False(t, isOurs())
	tree.moveTo(os.Getpid(), map[processID]bool{before.processID: true})
	require.True(t, isOurs(), "it was no part of the command")
	require.NoError(t, p.signal(syscall.SIGSTOP))
	until(t, "it is stopped", func() bool {
		now, err := readStat(strconv.Itoa(p.pid))
		return err == nil && now.state == 'T'
	})
}
