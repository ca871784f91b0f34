//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/recipes/striped"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// lockDelayOfTests is longer than any test takes.
const lockDelayOfTests = time.Hour

// endUnclean makes another program acquire, and end without a release.
func endUnclean(t *testing.T, server *zktest.Server, acquirer func(c *framework.Client) (lease.Acquirer, error)) {
	t.Helper()
	client := connectClient(t, server)
	a, err := acquirer(client)
	require.NoError(t, err)
	_, err = a.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	require.True(t, server.ExpireSession(client.Session().ID()))
	require.NoError(t, client.Close())
}

// aMutex is that of testLock with the lock-delay, for another program.
func aMutex(who string) func(c *framework.Client) (lease.Acquirer, error) {
	return func(c *framework.Client) (lease.Acquirer, error) {
		return mutex.New(c, testLock, mutex.WithHolder(who), mutex.WithLockDelay(lockDelayOfTests))
	}
}

func TestListingOfALockDelay(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	client := connectClient(t, server)
	m, err := aMutex("backup")(client)
	require.NoError(t, err)
	held, err := m.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	code, stdout, stderr := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^1 +held +mutex `, lines[1])
	require.Equal(t, "lock-delay: 1h0m0s (all who use it have to give the same)", lines[2])
	require.NoError(t, held.Release())
	code, stdout, _ = invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Equal(t, testLock+" is free: no client holds it or waits for it\n"+lines[2]+"\n", stdout)

	endUnclean(t, server, aMutex("backup"))
	node := server.Children(testLock + "/lock-delay")[0]
	code, stdout, _ = invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Regexp(t, "^"+testLock+" may be closed: no client holds it or waits for it, but holders have ended without a release\n"+
		regexp.QuoteMeta(lines[2])+"\n"+
		`backup \(.*, pid \d+, since 20.*Z\) has ended without a release \(mutex, node `+node+`\): closed until a client has waited for 1h0m0s\n$`, stdout)
	l := listed(t, server, testLock)
	require.True(t, l.Exists)
	require.Empty(t, l.Queue)
	require.Empty(t, l.Others)
	require.Len(t, l.Delays, 1)
	d := l.Delays[0]
	require.InDelta(t, 3600, d.Seconds, 0)
	require.Nil(t, d.Stripe)
	require.Nil(t, d.Run)
	require.Len(t, d.Ended, 1)
	require.Equal(t, "backup", d.Ended[0].Who)
	require.Equal(t, node, d.Ended[0].Node)
	require.Equal(t, lease.KindMutex, d.Ended[0].Kind)
	require.WithinDuration(t, time.Now(), d.Ended[0].Granted, eventTimeout)
	require.Nil(t, d.Ended[0].Seen)

	again, err := aMutex("next")(client)
	require.NoError(t, err)
	_, err = again.Acquire(t.Context(), 0)
	require.ErrorIs(t, err, lease.ErrLockDelay)
	seen := listed(t, server, testLock).Delays[0].Ended[0].Seen
	require.NotNil(t, seen)
	require.WithinDuration(t, time.Now(), *seen, eventTimeout)
	code, stdout, _ = invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	over := seen.Add(2*lockDelayOfTests + time.Second - time.Millisecond).Truncate(time.Second)
	require.Contains(t, stdout, ": closed until a client has waited for 1h0m0s or comes after "+over.Format(time.RFC3339)+"\n")

	code, _, stderr = invoke(t, env, "ls", testLock+"/lock-delay")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "give the path of that lock")
	code, _, _ = invoke(t, env, "revoke", testLock, "--all")
	require.Equal(t, exitNoContender, code, "a record is no contender")
	code, _, _ = invoke(t, env, "revoke", testLock+"/lock-delay", "--all")
	require.Equal(t, exitUsage, code)
}

// Each stripe and each run has its own.
func TestListingOfLockDelaysOfStripesAndRuns(t *testing.T) {
	for _, test := range []struct {
		of             func(c *framework.Client) (lease.Acquirer, error)
		stripe, says   string
		numbered, runs bool
	}{
		{of: func(c *framework.Client) (lease.Acquirer, error) {
			l, err := striped.New(c, testLock, 4, striped.WithHolder("me"), striped.WithLockDelay(lockDelayOfTests))
			return l.For("h"), err
		}, numbered: true, says: "4 of 4 stripes are free\nlock-delay: 1h0m0s (all who use it have to give the same)\nme (HOST) has ended without a release (mutex, stripe 3, node "},
		{of: func(c *framework.Client) (lease.Acquirer, error) {
			j, err := once.New(c, testLock, once.WithHolder("me"), once.WithLockDelay(lockDelayOfTests))
			return j.Key("a b"), err
		}, runs: true, says: "runs that are recorded as finished: 0\nlock-delay: 1h0m0s (all who use it have to give the same)\nme (HOST) has ended without a release (mutex, run a b, node "},
	} {
		server := zktest.NewServer(t)
		endUnclean(t, server, test.of)
		code, stdout, stderr := invoke(t, nil, "ls", testLock, "--servers", server.Addr())
		require.Equal(t, 0, code, stderr)
		require.Contains(t, regexp.MustCompile(`me \(.*, since .*Z\)`).ReplaceAllString(stdout, "me (HOST)"), test.says)
		d := listed(t, server, testLock).Delays
		require.Len(t, d, 1)
		if test.numbered {
			require.Equal(t, 3, *d[0].Stripe)
		} else {
			require.Equal(t, "a b", *d[0].Run)
		}
		require.Equal(t, test.numbered, d[0].Run == nil)
		require.Equal(t, test.runs, d[0].Stripe == nil)
	}
}

// What the records say is text of other clients, too.
func TestTextOfEndedHoldersIsEscaped(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	at := testLock + "/lock-delay"
	require.NoError(t, client.CreateParents(t.Context(), at))
	_, err := client.Create(t.Context(), at, []byte("15s"), framework.Persistent)
	require.NoError(t, err)
	holder, err := quote.JSON(lease.Holder{Who: hostile, Host: hostile, PID: 1}, "")
	require.NoError(t, err)
	for node, data := range map[string][]byte{"lock-0000000001": holder, hostileName: nil, "latch-0000000002": []byte(hostile)} {
		_, err := client.Create(t.Context(), at+"/"+node, data, framework.Persistent)
		require.NoError(t, err)
	}
	code, stdout, stderr := invoke(t, nil, "ls", testLock, "--servers", server.Addr())
	require.Equal(t, 0, code, stderr)
	requireLines(t, 5, stdout)
	require.Contains(t, stdout, "\na client that says nothing about itself has ended without a release (node "+quote.Cell(hostileName)+"): ")
	require.Contains(t, stdout, "\n"+quote.Line(lease.Holder{Who: hostile}.String())+" has ended without a release (leader, node latch-0000000002): ")
	code, stdout, _ = invoke(t, nil, "ls", testLock, "--json", "--servers", server.Addr())
	require.Equal(t, 0, code)
	requireHarmless(t, strings.ReplaceAll(stdout, "\n", ""))
	require.Len(t, listed(t, server, testLock).Delays[0].Ended, 3)
}
