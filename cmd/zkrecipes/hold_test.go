//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// startHold starts "hold" of testLock, unless the arguments name other paths.
func startHold(t *testing.T, server *zktest.Server, args ...string) *started {
	t.Helper()
	return start(t, server, append([]string{"hold", "--json"}, args...)...)
}

// holds waits until it says that it holds.
func holds(t *testing.T, p *started) (e event) {
	t.Helper()
	line := p.line()
	checkEvent(t, []byte(line))
	require.NoError(t, json.Unmarshal([]byte(line), &e))
	require.Equal(t, "acquired", e.Event)
	return e
}

// The line is there as soon as it holds, and each of the signals ends it.
func TestHoldUntilASignal(t *testing.T) {
	server := zktest.NewServer(t)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		p := start(t, server, "hold", testLock, "--label", "a script")
		var token, path string
		_, err := fmt.Sscan(p.line(), &token, &path)
		require.NoError(t, err)
		require.Equal(t, testLock, path)
		listed := listed(t, server, testLock)
		require.Equal(t, []string{"1 mutex held"}, states(listed))
		require.Equal(t, "a script", listed.Queue[0].Who)
		require.Equal(t, token, listed.Queue[0].Token.String())
		p.signal(syscall.SIGUSR1) // changes nothing
		p.signal(sig)
		require.Equal(t, 0, p.end(), sig)
		require.Empty(t, p.said(0))
		require.Empty(t, server.Children(testLock))
		require.Empty(t, server.Sessions())
	}
}

// What it prints with --json is the event of standard error.
func TestHoldInJSON(t *testing.T) {
	server := zktest.NewServer(t)
	p := startHold(t, server, "/b", "--shared", "/a")
	held := holds(t, p)
	require.Equal(t, []string{"/b", "/a"}, held.Locks)
	require.Len(t, held.Tokens, 2)
	require.Equal(t, "reader", held.Kind)
	reported := p.event("acquired")
	reported.Time, held.Time = time.Time{}, time.Time{}
	require.Equal(t, reported, held)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
	released := p.event("released")
	require.Equal(t, 0, *released.ExitCode)
	require.Empty(t, released.Command)
}

// The path is the last word, whatever is in it, and each path has a line.
func TestHoldNamesWhatItHolds(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, "hold", "/b c", "/a")
	require.Regexp(t, `^[1-9]\d* /b c$`, p.line())
	require.Regexp(t, `^[1-9]\d* /a$`, p.line())
	p.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
	for i := range 2 {
		p := start(t, server, "hold", "/s", "--stripes", "2")
		require.Regexp(t, fmt.Sprintf(`^[1-9]\d* %d /s$`, i), p.line())
	}
}

// A script under hold cannot be told to end, so a request takes nothing away from it.
func TestHoldGoesOnWhenItsReleaseIsRequested(t *testing.T) {
	server := zktest.NewServer(t)
	p, text := startHold(t, server, "/a"), start(t, server, "hold", "/b")
	holds(t, p)
	text.line()
	for _, path := range []string{"/a", "/b"} {
		code, _ := revoke(t, server, path)
		require.Equal(t, 0, code)
	}
	p.event("revoked")
	said := text.said(1)
	require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} revocation of /b requested: the lock is kept until hold gets a signal; end what needs it first$`, said[0])
	for _, path := range []string{"/a", "/b"} {
		require.Equal(t, exitConflict, start(t, server, "run", "--try", path, "--", "true").end())
	}
	p.signal(syscall.SIGTERM)
	text.signal(syscall.SIGTERM)
	require.Equal(t, 0, p.end())
	require.Equal(t, 0, *p.event("released").ExitCode)
	require.Equal(t, 0, text.end())
	require.Empty(t, slices.Concat(server.Children("/a"), server.Children("/b")))
}

func TestHoldSaysThatTheLockIsLost(t *testing.T) {
	server := zktest.NewServer(t)
	p, text := startHold(t, server, testLock), start(t, server, "hold", "/text")
	holds(t, p)
	text.line()
	deleteHolder(t, server, connectClient(t, server))
	require.Equal(t, exitLost, p.end())
	lost := p.event("lost")
	require.Contains(t, lost.Reason, "deleted by another client")
	require.False(t, lost.KillAt.After(*lost.TrustedUntil))
	require.Equal(t, exitLost, *p.event("stopped").ExitCode)
	for _, s := range server.Sessions() {
		server.ExpireSession(s.ID)
	}
	require.Equal(t, exitLost, text.end())
	require.Regexp(t, `lock /text: lease lost: .*; what relies on it must have ended by \d\d:\d\d:\d\d\.\d{3}; exit code 76$`, text.said(2)[1])
}

// Nobody knows that it is held if it cannot say so.
func TestHoldThatCannotSayThatItHolds(t *testing.T) {
	server := zktest.NewServer(t)
	out, in, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	dir := t.TempDir()
	errs, err := os.Create(dir + "/stderr")
	require.NoError(t, err)
	code := run([]string{"hold", testLock, "--servers", server.Addr()}, os.Stdin, in, errs, nil)
	require.NoError(t, in.Close())
	require.Equal(t, exitUnavailable, code)
	_, err = errs.Seek(0, io.SeekStart)
	require.NoError(t, err)
	said, err := io.ReadAll(errs)
	require.NoError(t, err)
	require.NoError(t, errs.Close())
	require.Equal(t, "zkrecipes: nothing is held: standard output: broken pipe\n", string(said))
	require.Empty(t, server.Children(testLock))
}

// The wait is that of "run".
func TestHoldWaitsAsRunDoes(t *testing.T) {
	server := zktest.NewServer(t)
	first := startHold(t, server, testLock, "--label", "first")
	holds(t, first)
	p := startHold(t, server, testLock, "--try", "--conflict-exit-code", "9")
	require.Equal(t, 9, p.end())
	require.Equal(t, "first", p.event("failed").Holder.Who)
	waits, next := startHold(t, server, testLock), startHold(t, server, testLock)
	awaitQueueLength(t, server, 3)
	waits.signal(syscall.SIGTERM)
	require.Equal(t, exitSignal+int(syscall.SIGTERM), waits.end())
	awaitQueueLength(t, server, 2)
	require.Empty(t, next.lines)
	first.signal(syscall.SIGTERM)
	require.Equal(t, 0, first.end())
	holds(t, next)
	p = start(t, server, "hold", testLock, "--try")
	require.Equal(t, exitConflict, p.end())
	require.Regexp(t, `^zkrecipes: nothing is held: `+testLock+`: not acquired in time, 1 ahead, held by hold `, p.said(1)[0])
}

// endProcess ends a "hold" in virtual time as its process would: nothing that is not
// closed can reach a server any more.
func (j *job) endProcess(w *conformance.World) {
	j.disconnect()
	w.Server.Partition("a", true)
	j.client.Close()
}

// virtualHold prepares a "hold" of testLock in virtual time, and acquires it.
func virtualHold(t *testing.T, w *conformance.World, flags ...string) *job {
	t.Helper()
	f, err := (&program{}).parseHold(append(flags, testLock))
	require.NoError(t, err)
	j := &job{program: &program{}, jobFlags: &f.jobFlags, newRecipe: f.newRecipe, cfg: conformance.Config(w.Server, "a"), signals: make(chan os.Signal, 1)}
	j.report = newReporter(io.Discard, testLock, false, false)
	t.Cleanup(j.report.close)
	require.NoError(t, j.await(t.Context(), f.begin()))
	return j
}

// If no server answers any more, it ends while the lock is still certain, also if
// nobody reads what it has printed.
func TestHoldEndsBeforeAnotherClientCanHold(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := virtualHold(t, w)
		granted := make(chan time.Time, 1)
		b, f := virtual(t, w, "b")
		go func() {
			if b.await(t.Context(), f.begin()) == nil {
				granted <- time.Now()
			}
		}()
		w.After(time.Minute)
		w.Server.Partition("a", true)
		o, err := j.keep(nil)
		ended := time.Now()
		require.NoError(t, err)
		require.True(t, o.lost)
		require.NoError(t, j.held.Err(), "the lock is still held")
		until := j.held.TrustedUntil()
		require.Equal(t, conformance.SessionTimeout/defaultGraceShare, until.Sub(ended))
		require.Equal(t, exitLost, j.endHold(o))
		require.Equal(t, ended, time.Now(), "the script learns it by the end")
		j.endProcess(w)
		require.Less(t, until, <-granted)
		b.giveBack()
		b.disconnect()
	})
}

// A signal that comes when the lock is lost already does not hide that.
func TestHoldThatWasLostBeforeTheSignal(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := virtualHold(t, w)
		defer j.endProcess(w)
		w.Server.ExpireSession(j.session.ID())
		<-j.session.Done()
		j.signals <- syscall.SIGTERM
		o, err := j.keep(nil)
		require.NoError(t, err)
		require.True(t, o.lost)
	})
}

// With --max-hold it ends the grace before that, which is for what relies on it: no
// other client can hold in that time.
func TestHoldForALimitedTime(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j := virtualHold(t, w, "--max-hold", "10m", "--grace", "1s")
		b, f := virtual(t, w, "b")
		granted := make(chan time.Time, 1)
		go func() {
			if b.await(t.Context(), f.begin()) == nil {
				granted <- time.Now()
			}
		}()
		o, err := j.keep(nil)
		require.NoError(t, err)
		require.True(t, o.lost)
		require.InDelta(t, (10*time.Minute - time.Second).Seconds(), time.Since(j.since).Seconds(), 0.1)
		until := j.held.TrustedUntil()
		require.Equal(t, exitLost, j.endHold(o))
		j.endProcess(w)
		require.Less(t, until, <-granted)
		b.giveBack()
		b.disconnect()
	})
}

// The exit code is 0 only if the release is confirmed.
func TestHoldWhoseReleaseIsNotConfirmed(t *testing.T) {
	for name, test := range map[string]struct {
		fault func(s *zktest.Server)
		code  int
	}{
		"no fault":   {func(*zktest.Server) {}, 0},
		"unknown":    {func(s *zktest.Server) { s.On(zktest.OpDelete, "").Client("a").Nth(1).Cut() }, 0},
		"refused":    {func(s *zktest.Server) { s.On(zktest.OpDelete, "").Client("a").Always().Fail(zktest.NoAuth) }, exitUnavailable},
		"no answers": {func(s *zktest.Server) { s.Partition("a", true) }, exitUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j := virtualHold(t, w)
				defer j.disconnect()
				w.Settle()
				test.fault(w.Server)
				j.signals <- syscall.SIGTERM
				o, err := j.keep(nil)
				require.NoError(t, err)
				require.False(t, o.lost)
				require.Equal(t, test.code, j.endHold(o))
				w.Heal()
			})
		})
	}
}

func TestUsageErrorsOfHold(t *testing.T) {
	for _, test := range []struct{ args, says string }{
		{"hold", "hold: no path: give that of a lock"},
		{"hold /", "hold: /: that needs a node of its own"},
		{"hold /l -- true", "hold: it runs no command"},
		{"hold /l true", `hold: "true" is no path, and hold runs no command`},
		{"hold l", "hold: invalid path \"l\": does not begin with a slash"},
		{"hold /l /m /l", "hold: the path /l is given twice"},
		{"hold /l", "no servers"},
		{"hold /l --grace 4s", "hold: --grace 4s is too long"},
		{"hold /l --max-hold 1s", "hold: --max-hold 1s leaves no time"},
		{"hold /l /m --permits 3", "hold: --permits with several paths"},
		{"hold /l --try --timeout 3s", "hold: --try and --timeout contradict"},
		{"hold /l --key k", "hold: --key without --stripes"},
		{"hold /l --min-hold 3s", "hold: there is no flag --min-hold"},
	} {
		env := []string{envServers + "=127.0.0.1:1"}
		if test.says == "no servers" {
			env = nil
		}
		code, _, stderr := invoke(t, env, strings.Fields(test.args)...)
		require.Equal(t, exitUsage, code, test.args)
		require.Contains(t, stderr, test.says)
	}
}
