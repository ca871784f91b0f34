//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// holdStripes starts as many runs as there are stripes, and returns them in the order
// of their stripes.
func holdStripes(t *testing.T, server *zktest.Server, n int, flags ...string) []*started {
	t.Helper()
	runs := make([]*started, n)
	for range n {
		p := hold(t, server, append([]string{"--stripes", fmt.Sprint(n)}, flags...)...)
		number := *p.event("acquired").Stripe
		require.Nil(t, runs[number], "each has another")
		runs[number] = p
	}
	return runs
}

// endPolitely ends a run that holds.
func endPolitely(t *testing.T, p *started) {
	t.Helper()
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
}

// waitersAt counts the clients at the stripes of testLock.
func waitersAt(server *zktest.Server, n int) (all int) {
	for i := range n {
		all += len(server.Children(fmt.Sprintf("%s/stripe-%04d", testLock, i)))
	}
	return all
}

func TestStripesLimitTheRunsAtATime(t *testing.T) {
	server := zktest.NewServer(t)
	runs := holdStripes(t, server, 3, "--label", "a job")
	next := start(t, server, flagsFor(command("environment", envLockStripe), "--lock", testLock, "--stripes", "3")...)
	waiting := next.event("waiting")
	require.Equal(t, 3, waiting.Ahead)
	require.Equal(t, lease.KindMutex, waiting.Kind)
	require.Equal(t, "a job", waiting.Holder.Who)
	require.Nil(t, waiting.Stripe)
	text := start(t, server, slices.Concat([]string{"run", "--lock", testLock, "--stripes", "3"}, command("exit", "0"))...)
	require.Regexp(t, `^zkrecipes: waiting for `+testLock+`: all 3 are held, [34] ahead; stripe 0 is held by a job \(.*\)$`, text.said(1)[0])
	until(t, "both wait", func() bool { return waitersAt(server, 3) >= 5 })
	require.Empty(t, next.lines, "the fourth must not run")

	endPolitely(t, runs[1])
	require.Equal(t, testLock, next.line())
	acquired := next.event("acquired")
	require.Equal(t, acquired.Token.String(), next.line())
	require.Equal(t, acquired.Session, next.line())
	require.Equal(t, "1", next.line(), "the stripe that was released")
	require.Equal(t, 0, next.end())
	require.Equal(t, 1, *next.event("released").Stripe)
	require.Equal(t, 0, text.end())
	require.Regexp(t, `^zkrecipes: acquired stripe 1 of `+testLock+` after .*, token \d+$`, text.said(2)[1])
	endPolitely(t, runs[0])
	endPolitely(t, runs[2])
	require.Zero(t, waitersAt(server, 3))
	require.Empty(t, server.Sessions())
}

// Of 4 stripes "h" has stripe 3, "d" stripe 1.
func TestRunsOfOneKeyExcludeEachOther(t *testing.T) {
	server := zktest.NewServer(t)
	h := hold(t, server, "--stripes", "4", "--key", "h", "--label", "first")
	require.Equal(t, 3, *h.event("acquired").Stripe)
	d := hold(t, server, "--stripes", "4", "--key", "d")
	require.Equal(t, 1, *d.event("acquired").Stripe)
	next := start(t, server, flagsFor(command("environment", envLockStripe), "--lock", testLock, "--stripes", "4", "--key", "h")...)
	waiting := next.event("waiting")
	require.Equal(t, 3, *waiting.Stripe)
	require.Equal(t, testLock, waiting.Lock)
	require.Equal(t, 1, waiting.Ahead)
	require.Equal(t, "first", waiting.Holder.Who)
	until(t, "it waits", func() bool { return waitersAt(server, 4) == 3 })
	text := start(t, server, slices.Concat([]string{"run", "--lock", testLock, "--stripes", "4", "--key", "h"}, command("exit", "0"))...)
	require.Regexp(t, `^zkrecipes: waiting for stripe 3 of `+testLock+`: 2 ahead, held by first \(.*\)$`, text.said(1)[0])
	endPolitely(t, h)
	for range 3 {
		next.line()
	}
	require.Equal(t, "3", next.line())
	require.Equal(t, 0, next.end())
	require.Equal(t, 0, text.end())
	require.Regexp(t, `^zkrecipes: acquired stripe 3 of `+testLock+` after .*, token \d+$`, text.said(2)[1])
	endPolitely(t, d)
}

func TestConflictOverStripes(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"--try", "--timeout 2s"} {
		server := zktest.NewServer(t)
		runs := holdStripes(t, server, 2, "--label", "a job")
		conflict := func(more ...string) event {
			args := slices.Concat(strings.Fields(flags), more, []string{"--lock", testLock, "--stripes", "2"})
			p := start(t, server, flagsFor(command("exit", "0"), args...)...)
			require.Equal(t, exitConflict, p.end())
			return p.event("failed")
		}
		failed := conflict()
		require.Equal(t, causeHeld, failed.Cause)
		require.Equal(t, 2, failed.Ahead)
		require.Equal(t, "a job", failed.Holder.Who)
		require.Nil(t, failed.Stripe)
		require.Contains(t, failed.Reason, testLock+": not acquired in time")
		require.Contains(t, failed.Reason, "2 ahead, held by a job")

		failed = conflict("--key", "d")
		require.Equal(t, 1, failed.Ahead)
		require.Equal(t, 1, *failed.Stripe)
		require.Contains(t, failed.Reason, testLock+"/stripe-0001: not acquired in time")
		require.Contains(t, failed.Reason, "1 ahead, held by a job")
		endPolitely(t, runs[0])
		endPolitely(t, runs[1])
		until(t, "no client is left", func() bool { return waitersAt(server, 2) == 0 })
	}
}

func TestTryTakesAStripeThatIsFree(t *testing.T) {
	server := zktest.NewServer(t)
	for free := range 3 {
		runs := holdStripes(t, server, 3)
		endPolitely(t, runs[free])
		p := start(t, server, flagsFor(command("exit", "5"), "--lock", testLock, "--stripes", "3", "--try")...)
		require.Equal(t, 5, p.end())
		require.Equal(t, free, *p.event("acquired").Stripe)
		for i, run := range runs {
			if i != free {
				endPolitely(t, run)
			}
		}
	}
}

func TestDisagreementOnTheStripes(t *testing.T) {
	server := zktest.NewServer(t)
	holder := hold(t, server, "--stripes", "3")
	for _, flags := range [][]string{nil, {"--try"}, {"--timeout", "10s"}, {"--key", "k"}, {"--key", "k", "--try"}} {
		p := start(t, server, flagsFor(command("exit", "0"), append(flags, "--lock", testLock, "--stripes", "5", "--conflict-exit-code", "9")...)...)
		require.Equal(t, exitUsage, p.end())
		failed := p.event("failed")
		require.Equal(t, causeUsage, failed.Cause)
		require.Contains(t, failed.Reason, "5 given, 3 stored: the stored number is removed when the path has been unused for about a minute; \"zkrecipes resize\" changes it")
	}
	// Each kind of recipe refuses the paths of the others.
	for _, flags := range []string{"", "--permits 3", "--shared"} {
		p := start(t, server, flagsFor(command("exit", "0"), append(strings.Fields(flags), "--lock", testLock)...)...)
		require.Equal(t, exitUsage, p.end(), flags)
		require.Equal(t, causeUsage, p.event("failed").Cause, flags)
	}
	endPolitely(t, holder)
}

func TestStripesWhereOthersHaveData(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	makeNode(t, client, testLock, framework.WorldACL(framework.PermAll)...)
	_, err := client.Set(t.Context(), testLock, []byte("settings"), framework.AnyVersion)
	require.NoError(t, err)
	for _, flags := range []string{"", "--try", "--key k"} {
		p := start(t, server, flagsFor(command("exit", "0"), append(strings.Fields(flags), "--lock", testLock, "--stripes", "3")...)...)
		require.Equal(t, exitUsage, p.end())
		failed := p.event("failed")
		require.Equal(t, causeUsage, failed.Cause)
		require.Contains(t, failed.Reason, lease.ErrForeignData.Error())
		require.Contains(t, failed.Reason, "settings")
	}
}

// One stripe is lost, or its release requested, and the others go on.
func TestRevocationAndLossOfAStripe(t *testing.T) {
	server := zktest.NewServer(t)
	other := hold(t, server, "--stripes", "2", "--key", "a")
	require.Equal(t, 0, *other.event("acquired").Stripe)
	text := []string{"run", "--lock", testLock, "--stripes", "2"}
	p := start(t, server, slices.Concat(text, command("polite"))...)
	require.Equal(t, "ready", p.line())
	code, _ := revoke(t, server, testLock+"/stripe-0001")
	require.Equal(t, 0, code)
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, 3, p.end())
	said := p.said(2)
	require.Contains(t, said[0], "revocation of stripe 1 of "+testLock+" requested: the command gets TERM, once, and keeps the stripe until")
	require.Contains(t, said[1], "and stripe 1 of "+testLock+" is released")

	p = start(t, server, slices.Concat(text, command("polite"))...)
	require.Equal(t, "ready", p.line())
	node := server.Children(testLock + "/stripe-0001")[0]
	require.NoError(t, connectClient(t, server).Delete(t.Context(), testLock+"/stripe-0001/"+node, framework.AnyVersion))
	require.Equal(t, "got terminated", p.line())
	require.Equal(t, exitLost, p.end())
	said = p.said(2)
	require.Contains(t, said[0], " stripe 1 of "+testLock+": ")
	require.Contains(t, said[1], "for the loss of the stripe")
	other.signal(syscall.SIGUSR1)
	require.Equal(t, "got user defined signal 1", other.line(), "nothing else")
	endPolitely(t, other)
}

func TestMaximumHoldTimeOfAStripe(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--key", "k"}} {
		server := zktest.NewServer(t)
		p := hold(t, server, append(flags, "--stripes", "2", "--max-hold", "5s", "--grace", "1s")...)
		require.Contains(t, p.event("lost").Reason, "maximum hold time")
		require.Equal(t, exitLost, p.end())
		require.Zero(t, waitersAt(server, 2))
	}
}

func TestStripesOfAncestors(t *testing.T) {
	const stripes = "run --lock /locks/test --stripes 2"
	for _, test := range []struct {
		levels []string
		says   string // "" if it may be nested
	}{
		{[]string{stripes, stripes}, ""},
		{[]string{stripes, stripes + " --try"}, ""},
		{[]string{stripes + " --key a", stripes + " --key d"}, ""}, // 0 and 1
		{[]string{stripes, stripes, stripes}, testLock + " is held by the zkrecipes run above this one"},
		{[]string{stripes, stripes, stripes + " --try"}, testLock + " is held by the zkrecipes run above this one"},
		{[]string{stripes + " --key a", stripes + " --key b"}, "stripe 0 of " + testLock + " is held by the zkrecipes run above this one"},
		{[]string{stripes, stripes, stripes + " --key d"}, "stripe 1 of " + testLock + " is held by the zkrecipes run above this one"},
	} {
		t.Run(strings.Join(test.levels, ", "), func(t *testing.T) {
			t.Parallel()
			p := start(t, zktest.NewServer(t), nested(test.levels...)...)
			if test.says == "" {
				require.Equal(t, 5, p.end())
				return
			}
			require.Equal(t, exitUsage, p.end(), "the levels above pass it on")
			require.Contains(t, p.event("failed").Reason, test.says)
		})
	}
}
