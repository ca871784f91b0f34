//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// virtual prepares a "run" of testLock in virtual time.
func virtual(t *testing.T, w *conformance.World, name string, flags ...string) (*job, *runFlags) {
	t.Helper()
	p := &program{}
	if !slices.Contains(flags, "--once") {
		flags = append(flags, "--lock", testLock)
	}
	f, err := p.parseRun(slices.Concat(flags, []string{"--", "true"}))
	require.NoError(t, err)
	j := &job{program: p, jobFlags: &f.jobFlags, newRecipe: f.newRecipe, cfg: conformance.Config(w.Server, name), signals: make(chan os.Signal, 1)}
	j.report = newReporter(io.Discard, testLock, false, false)
	t.Cleanup(j.report.close)
	return j, f
}

// awaited runs the wait of a job to its end, and returns how long all that took, and
// how it failed.
func awaited(t *testing.T, j *job, f *runFlags) (took time.Duration, err error) {
	t.Helper()
	start := time.Now()
	err = j.await(t.Context(), f.begin())
	j.disconnect()
	return time.Since(start), err
}

func requireUnreachable(t *testing.T, err error) {
	t.Helper()
	cause, code := classify(err, exitConflict)
	require.Equal(t, causeUnreachable, cause, "%v", err)
	require.Equal(t, exitUnavailable, code)
}

func requireHeld(t *testing.T, err error) {
	t.Helper()
	cause, code := classify(err, exitConflict)
	require.Equal(t, causeHeld, cause, "%v", err)
	require.Equal(t, exitConflict, code)
}

// Whatever is wrong with the server, --try ends within two seconds.
func TestTryWithoutAServer(t *testing.T) {
	for name, breakDown := range map[string]func(*zktest.Server){
		"refuses":      func(s *zktest.Server) { s.RefuseConnections("", true) },
		"says nothing": func(s *zktest.Server) { s.Pause() },
		"is cut off":   func(s *zktest.Server) { s.Partition("", true) },
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				breakDown(w.Server)
				j, f := virtual(t, w, "a", "--try")
				took, err := awaited(t, j, f)
				requireUnreachable(t, err)
				require.LessOrEqual(t, took, 2*time.Second)
			})
		})
	}
}

// The same if the server stops answering in the middle, plus a second to close the
// session.
func TestTryWithAServerThatStopsAnswering(t *testing.T) {
	for _, test := range []struct {
		name string
		op   zktest.Op
		nth  int
	}{{"first look", zktest.OpGetChildren2, 1}, {"create", zktest.OpCreate, 1}, {"second look", zktest.OpGetChildren2, 2}} {
		t.Run(test.name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				require.NoError(t, w.Client("other").CreateParents(t.Context(), testLock+"/x"))
				silent := w.Server.On(test.op, testLock).Client("a").Nth(test.nth).Do(zktest.Mute)
				w.Server.On(zktest.OpConnect, "").Client("a").Nth(2).Always().Do(zktest.Mute)
				j, f := virtual(t, w, "a", "--try")
				took, err := awaited(t, j, f)
				<-silent.Fired()
				requireUnreachable(t, err)
				require.LessOrEqual(t, took, 3*time.Second)
			})
		})
	}
}

// After the answer that the lock is held, no other is needed.
func TestTryBehindAHolderOnAServerThatStopsAnswering(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		release := heldBy(t, w, "other")
		silent := w.Server.On(zktest.OpSync, testLock).Client("a").Do(zktest.Mute)
		w.Server.On(zktest.OpConnect, "").Client("a").Nth(2).Always().Do(zktest.Mute)
		j, f := virtual(t, w, "a", "--try")
		took, err := awaited(t, j, f)
		<-silent.Fired()
		requireHeld(t, err)
		require.LessOrEqual(t, took, 3*time.Second)
		release()
	})
}

// heldBy makes a client of that name hold testLock.
func heldBy(t *testing.T, w *conformance.World, name string) (release func()) {
	t.Helper()
	_, f := virtual(t, w, name)
	c, err := f.newRecipe(w.Client(name))
	require.NoError(t, err)
	acquired, err := c.acquire(t.Context(), time.Second)
	require.NoError(t, err)
	return func() { require.NoError(t, acquired.Release()) }
}

// The exit code says what was known at the end of the time, not before. If no server
// answers, to find out and to close the session takes a second each.
func TestTimeoutBehindAHolder(t *testing.T) {
	for _, test := range []struct {
		name    string
		timeout string
		silence bool
	}{
		{"which is there", "5s", false},
		{"until the server has fallen silent", "2500ms", true},
		{"until the connection is broken", "4s", true},
		{"until the session is lost", "30s", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				release := heldBy(t, w, "other")
				j, f := virtual(t, w, "a", "--timeout", test.timeout)
				if test.silence {
					time.AfterFunc(2*time.Second, func() { w.Server.Partition("a", true) })
				}
				took, err := awaited(t, j, f)
				timeout := (*lease.TimeoutError)(nil)
				require.ErrorAs(t, err, &timeout)
				if test.silence {
					requireUnreachable(t, err)
					require.ErrorContains(t, err, "no server answers, so it is not known whether "+testLock+" is free")
					require.NotContains(t, err.Error(), "not acquired in time")
				} else {
					requireHeld(t, err)
					require.ErrorContains(t, err, "not acquired in time")
					require.ErrorContains(t, err, "1 ahead, held by")
				}
				require.LessOrEqual(t, took, f.timeout.value+2*time.Second+100*time.Millisecond)
				require.GreaterOrEqual(t, took, f.timeout.value)
				release()
			})
		})
	}
}

// What a listing adds to an acquire that timed out.
func TestExplanationOfATimeout(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		someone := []lease.Contender{{Node: "n", Session: 1, Holder: lease.Holder{Who: "someone"}}}
		broken := errors.New("broken")
		for _, test := range []struct {
			name   string
			ahead  int
			try    bool
			seen   []lease.Contender
			failed error
			cause  string
			says   string
		}{
			{"no client seen, one there now", -1, false, someone, nil, causeHeld, "1 ahead, held by someone"},
			{"no client seen, none there now", -1, false, nil, nil, causeHeld, "by now it is empty"},
			{"no client seen, no answer now", -1, false, nil, errUnanswered, causeUnreachable, "not acquired"},
			{"no client seen, another error now", -1, false, nil, framework.ErrNoAuth, causeDenied, "not permitted"},
			{"a client seen, and still there", 1, false, someone, nil, causeHeld, "held by someone"},
			{"a client seen, none there now", 1, false, nil, nil, causeHeld, "released just now"},
			{"a client seen, no answer in time", 2, false, nil, errUnanswered, causeHeld, "2 ahead"},
			{"a client seen just now, no answer", 1, true, nil, errUnanswered, causeHeld, "1 ahead"},
			{"a client seen, another error now", 1, false, nil, broken, causeHeld, "1 ahead"},
		} {
			j := &job{jobFlags: &jobFlags{paths: pathList{testLock}}, client: w.Client("a"), recipe: recipe{
				path:       testLock,
				contenders: func(context.Context) ([]lease.Contender, error) { return test.seen, test.failed },
			}}
			err := j.explain(t.Context(), waitLimit{try: test.try}, &lease.TimeoutError{Path: testLock, Ahead: test.ahead})
			cause, _ := classify(err, exitConflict)
			require.Equal(t, test.cause, cause, test.name)
			require.ErrorContains(t, err, test.says, test.name)
			require.NoError(t, j.client.Close())
		}
	})
}

// mutedServer accepts connections and does not answer.
func mutedServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l.Addr().String()
}

// --timeout bounds every verb that asks a server.
func TestTimeoutOfEveryVerb(t *testing.T) {
	t.Parallel()
	env := []string{envServers + "=" + mutedServer(t)}
	for _, args := range []string{
		"run --lock /l --timeout 300ms --conflict-exit-code 0 -- " + os.Args[0],
		"elect --path /l --timeout 300ms -- " + os.Args[0],
		"ls --timeout 300ms /l",
		"ls /l --json --timeout=300ms",
		"revoke /l --timeout 300ms",
	} {
		start := time.Now()
		code, stdout, stderr := invoke(t, env, strings.Fields(args)...)
		require.Equal(t, exitUnavailable, code, "%s: %s", args, stderr)
		require.Less(t, time.Since(start), defaultConnectLimit/2, args)
		require.Contains(t, stderr, "within 300ms")
		require.Contains(t, stderr, "not connected to zookeeper")
		require.Empty(t, stdout)
	}
}

// Connecting and listing share one limit.
func TestTimeoutOfLsAndRevoke(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	for _, verb := range []string{"ls", "revoke"} {
		rule := server.On(zktest.OpSync, testLock).Do(zktest.Mute)
		code, _, stderr := invoke(t, []string{envServers + "=" + server.Addr()}, verb, testLock, "--timeout", "2s")
		require.Equal(t, exitUnavailable, code, stderr)
		require.Contains(t, stderr, "no answer within 2s")
		<-rule.Fired()
	}
}

// A candidate that does not lead in time gives up, and names the leader.
func TestTimeoutOfElect(t *testing.T) {
	server := zktest.NewServer(t)
	leads(t, candidate(t, server, "polite", "--id", "alpha"))
	p := candidate(t, server, "exit", "--timeout", "3s")
	require.Equal(t, exitConflict, p.end())
	failed := p.event("failed")
	require.Equal(t, causeHeld, failed.Cause)
	require.Equal(t, "alpha", failed.Holder.Who)
	require.Equal(t, exitConflict, *failed.ExitCode)
}

// A program can tell the failures apart without reading the text.
func TestCauseOfAFailure(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	hold(t, server)
	for _, test := range []struct {
		flags string
		cause string
		code  int
	}{
		{"--lock /locks/test --try", causeHeld, exitConflict},
		{"--lock /locks/test --timeout 3s", causeHeld, exitConflict},
		{"--lock /locks/test --try --servers 127.0.0.1:1", causeUnreachable, exitUnavailable},
		{"--lock /l --timeout 300ms --servers " + mutedServer(t), causeUnreachable, exitUnavailable},
		{"--lock /l --servers zk1:port", causeUsage, exitUsage},
	} {
		p := start(t, server, flagsFor(command("exit", "0"), strings.Fields(test.flags)...)...)
		require.Equal(t, test.code, p.end(), test.flags)
		failed := p.event("failed")
		require.Equal(t, test.cause, failed.Cause, test.flags)
		require.Equal(t, test.code, *failed.ExitCode, test.flags)
	}
}
