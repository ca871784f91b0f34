//go:build unix

package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// ephemerals are the nodes of all sessions.
func ephemerals(server *zktest.Server) (all []string) {
	for _, s := range server.Sessions() {
		all = append(all, s.Ephemeral...)
	}
	return all
}

// A command that ends sooner keeps the lock for the rest of the time.
func TestMinimumHoldTime(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	p := start(t, server, flagsFor(command("exit", "5"), "--lock", testLock, "--min-hold", "5s")...)
	acquired, keeping := p.event("acquired"), p.event("keeping")
	require.Equal(t, "exit code 5", keeping.Command)
	require.WithinDuration(t, acquired.Time.Add(5*time.Second), *keeping.KeptUntil, time.Second)
	require.Len(t, ephemerals(server), 1, "it is still held")
	require.Equal(t, []string{"1 mutex held"}, states(listed(t, server, testLock)))
	require.Equal(t, 5, p.end())
	released := p.event("released")
	require.False(t, released.Time.Before(*keeping.KeptUntil))
	require.Empty(t, released.Reason)
	require.Equal(t, 5, *released.ExitCode)
	require.Less(t, released.Held, 5.0, "how long the command ran")
	require.Empty(t, ephemerals(server))

	long := start(t, server, flagsFor(command("polite"), "--lock", testLock, "--min-hold", "10ms")...)
	require.Equal(t, "ready", long.line())
	for held := time.Now(); time.Since(held) < 20*time.Millisecond; {
		listed(t, server, testLock)
	}
	code, _ := revoke(t, server, testLock)
	require.Equal(t, 0, code)
	require.Equal(t, 3, long.end())
	for e := range long.events {
		require.NotEqual(t, "keeping", e.Event, "it was held for longer than that")
	}
}

// A signal to end does, and what is held is free at once.
func TestSignalDuringTheMinimumHoldTime(t *testing.T) {
	for _, test := range []struct {
		flags string
		sig   syscall.Signal
	}{
		{"--lock " + testLock, syscall.SIGTERM},
		{"--lock " + testLock + " --lock /locks/other", syscall.SIGINT},
		{"--lock " + testLock + " --shared --lock-delay 1h", syscall.SIGHUP},
		{"--lock " + testLock + " --permits 2", syscall.SIGQUIT},
		{"--lock " + testLock + " --permits 2 --lock-delay 1h", syscall.SIGTERM},
		{"--lock " + testLock + " --stripes 2 --lock-delay 1h", syscall.SIGTERM},
	} {
		t.Run(test.flags, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			flags := append(strings.Fields(test.flags), "--min-hold", "1h")
			p := start(t, server, flagsFor(command("exit", "5"), flags...)...)
			p.event("keeping")
			require.NotEmpty(t, ephemerals(server))
			p.signal(syscall.SIGUSR1) // ignored, because there is no command
			p.signal(test.sig)
			require.Equal(t, 5, p.end())
			released := p.event("released")
			require.Equal(t, "a signal to end came before --min-hold was over", released.Reason)
			require.Equal(t, 5, *released.ExitCode)
			require.Empty(t, ephemerals(server))
			free := start(t, server, flagsFor(command("exit", "0"), append(strings.Fields(test.flags), "--try")...)...)
			require.Equal(t, 0, free.end(), "with a lock-delay, too: it was released")
		})
	}
}

// If the signal has ended the command, there is nothing more to wait for.
func TestSignalBeforeTheMinimumHoldTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, verb := range [][]string{{"run", "--lock"}, {"elect", "--path"}} {
		server := zktest.NewServer(t)
		p := start(t, server, slices.Concat(verb, []string{testLock, "--min-hold", "1h"}, command("polite"))...)
		require.Equal(t, "ready", p.line())
		p.signal(syscall.SIGTERM)
		require.Equal(t, "got terminated", p.line())
		require.Equal(t, 3, p.end())
		require.Empty(t, ephemerals(server))
		said := p.said(map[string]int{"run": 1, "elect": 2}[verb[0]])
		require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} `+testLock+` is released, before --min-hold is over: a signal to end has come$`, said[len(said)-1])
	}
}

// Elect keeps the leadership, and then campaigns again, unless a signal comes.
func TestMinimumHoldTimeOfALeader(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{0, syscall.SIGTERM} {
		server := zktest.NewServer(t)
		minimum := map[bool]string{true: "8s", false: "1h"}[sig == 0]
		p := start(t, server, slices.Concat([]string{"elect", "--json", "--path", testLock, "--min-hold", minimum}, command("polite"))...)
		require.Equal(t, "ready", p.line())
		code, _ := revoke(t, server, testLock)
		require.Equal(t, 0, code)
		require.Equal(t, "got terminated", p.line())
		p.event("keeping")
		require.Len(t, ephemerals(server), 1)
		if sig != 0 {
			p.signal(sig)
			require.Equal(t, 3, p.end())
			require.Equal(t, 3, *p.event("released").ExitCode, "it does not go on")
			continue
		}
		require.Nil(t, p.event("released").ExitCode)
		p.event("campaigning")
		require.Equal(t, "ready", p.line())
		p.signal(syscall.SIGKILL)
	}
}

// The rest lasts as long as it has to, and no longer than the session.
func TestRestOfTheMinimumHoldTime(t *testing.T) {
	const minimum = 10 * time.Minute
	for name, test := range map[string]struct {
		ends  func(w *conformance.World, j *job) // what ends it before, after a minute; nil: nothing
		after time.Duration
	}{
		"to the end":                {nil, minimum},
		"until a signal":            {func(_ *conformance.World, j *job) { j.signals <- syscall.SIGTERM }, time.Minute},
		"until the session expires": {func(w *conformance.World, j *job) { w.Expire(j.client) }, time.Minute},
		"until the session is lost": {func(w *conformance.World, _ *job) { w.Server.Partition("a", true) }, time.Minute + conformance.SessionTimeout},
		"also of a lock whose node another client deletes": {func(w *conformance.World, j *job) {
			w.Remove(w.Known("other"), j.held.(*lease.Lease).Path())
		}, minimum},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				w.Client("other")
				j, f := virtual(t, w, "a", "--min-hold", minimum.String())
				require.NoError(t, j.await(t.Context(), f.begin()))
				begun := time.Now()
				if test.ends != nil {
					time.AfterFunc(time.Minute, func() { test.ends(w, j) })
				}
				code, again := j.finish(outcome{revoked: true}, 0, true)
				require.Equal(t, 0, code, "the lock was held until the command had ended")
				require.Equal(t, name != "until a signal", again)
				took := time.Since(begun)
				require.LessOrEqual(t, took, test.after+time.Second)
				require.GreaterOrEqual(t, took, test.after-conformance.SessionTimeout)
				if test.ends == nil {
					require.Equal(t, minimum, took.Round(time.Second))
					w.Settle()
					require.Empty(t, w.Server.Children(testLock), "it is free before the next campaign")
				}
				w.Server.Partition("a", false)
				j.disconnect()
			})
		})
	}
}

// What was granted and not used is free at once, however the wait has ended.
func TestNothingStaysHeldWithoutACommand(t *testing.T) {
	server := zktest.NewServer(t)
	file := t.TempDir() + "/garbage"
	require.NoError(t, os.WriteFile(file, []byte("garbage"), 0o700))
	for _, flags := range []string{"", "--shared", "--permits 1", "--stripes 1", "--lock /locks/other"} {
		all := append(strings.Fields(flags), "--lock", testLock, "--lock-delay", "1h")
		p := start(t, server, flagsFor([]string{"--", file}, append(all, "--min-hold", "1h")...)...)
		require.Equal(t, exitCannotRun, p.end())
		require.Empty(t, ephemerals(server))
		next := start(t, server, flagsFor(command("exit", "0"), append(all, "--try")...)...)
		require.Equal(t, 0, next.end(), "%s: %v", flags, server.Children(testLock+"/lock-delay"))
		require.NoError(t, connectClient(t, server).DeleteTree(t.Context(), testLock))
	}
}

// A signal comes when the lock has just been granted.
func TestSignalWithTheGrant(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		flags := []string{"--min-hold", "1h", "--lock-delay", "1h"}
		j, f := virtual(t, w, "a", flags...)
		acquire := j.newRecipe
		j.newRecipe = recipeAfter(acquire, func() { j.signals <- syscall.SIGTERM; w.Settle() })
		begun := time.Now()
		_, _, err := j.runOnce(f.begin(), false)
		cause, code := classify(err, exitConflict)
		require.Equal(t, causeSignal, cause, "%v", err)
		require.Equal(t, exitSignal+int(syscall.SIGTERM), code)
		j.disconnect()
		require.Less(t, time.Since(begun), time.Second)
		require.Empty(t, w.Server.Children(testLock+"/lock-delay"))
		next, f := virtual(t, w, "b", append(flags, "--try")...)
		require.NoError(t, next.await(t.Context(), f.begin()))
		next.giveBack()
		next.disconnect()
	})
}

// The same of one that is granted when the time of --try is over.
func TestGrantThatComesTooLate(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		j, f := virtual(t, w, "a", "--try", "--min-hold", "1h", "--lock-delay", "1h")
		j.newRecipe = recipeAfter(j.newRecipe, func() { <-time.After(tryLimit) })
		took, err := awaited(t, j, f)
		requireUnreachable(t, err)
		require.LessOrEqual(t, took, 3*time.Second)
		require.Empty(t, w.Server.Children(testLock+"/lock-delay"))
	})
}

// recipeAfter calls then when something was granted.
func recipeAfter(newRecipe func(*framework.Client) (recipe, error), then func()) func(*framework.Client) (recipe, error) {
	return func(client *framework.Client) (recipe, error) {
		c, err := newRecipe(client)
		acquire := c.acquire
		c.acquire = func(ctx context.Context, timeout time.Duration) (heldLease, error) {
			held, err := acquire(ctx, timeout)
			then()
			return held, err
		}
		return c, err
	}
}
