//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/inspect"
	"github.com/zkrecipes/zkrecipes/recipes/leader"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/semaphore"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// shown returns what "show" prints of a path, as text and as JSON.
func shown(t *testing.T, server *zktest.Server, path string, flags ...string) (text string, s showing) {
	t.Helper()
	env := []string{envServers + "=" + server.Addr()}
	code, text, stderr := invoke(t, env, append([]string{"show", path}, flags...)...)
	require.Equal(t, 0, code, stderr)
	code, stdout, stderr := invoke(t, env, append([]string{"show", path, "--json"}, flags...)...)
	require.Equal(t, 0, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	for line := range strings.Lines(text) {
		requireHarmless(t, strings.TrimSuffix(line, "\n"))
	}
	return text, s
}

// locked makes another program hold a mutex, and returns the lease.
func locked(t *testing.T, server *zktest.Server, path, who string, opts ...mutex.Option) *lease.Lease {
	t.Helper()
	m, err := mutex.New(connectClient(t, server), path, append(opts, mutex.WithHolder(who))...)
	require.NoError(t, err)
	held, err := m.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	return held
}

func TestShowWhoHoldsAndWhoWaits(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	outer, err := mutex.New(client, "/locks/outer", mutex.WithHolder("nested"))
	require.NoError(t, err)
	other, err := outer.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	m, err := mutex.New(client, testLock, mutex.WithHolder("nested"))
	require.NoError(t, err)
	held, err := m.Acquire(other.Context(), time.Minute)
	require.NoError(t, err)
	for i := range shownAtOnce + 3 {
		_, err := client.Create(t.Context(), fmt.Sprintf("%s/lock-%010d", testLock, 100+i), nil, framework.Ephemeral)
		require.NoError(t, err)
	}

	text, s := shown(t, server, testLock)
	require.Regexp(t, `^`+testLock+`: held, 13 waiting\n\nholder \(mutex\): nested, on .*, process \d+\n  joined +20.*Z \(\d+s ago\)\n  granted +not known: `, text)
	require.Contains(t, text, "\n  token      "+held.Token().String()+"\n")
	require.Contains(t, text, "\n  holds also "+other.Path()+"\n")
	require.NotContains(t, text, "revocation")
	require.Contains(t, text, "\nand 3 more (--all)\n")
	require.Contains(t, text, "\nnext:\n  see it change:        zkrecipes ls --watch "+testLock+"\n  request its release:  zkrecipes revoke "+testLock+"\n")
	require.Equal(t, stateInUse, s.State)
	require.Len(t, s.Holders, 1)
	require.Equal(t, []string{other.Path()}, s.Holders[0].Holds)
	require.Nil(t, s.Holders[0].Granted, "the znodes do not say when a mutex was granted")
	require.Nil(t, s.Holders[0].Revoked)
	require.Len(t, s.Waiting, shownAtOnce)
	require.Equal(t, 2, s.Waiting[0].Position)
	require.Equal(t, 3, s.WaitingLeftOut)

	require.NoError(t, lease.RequestRevocation(t.Context(), client, held.Path()))
	require.NoError(t, lease.RequestRevocation(t.Context(), client, testLock+"/lock-0000000101"))
	text, s = shown(t, server, testLock, "--all")
	require.Contains(t, text, "\n  revocation requested 20")
	require.Contains(t, text, "\n3, a client without a name: revocation requested 20")
	require.NotContains(t, text, "--all")
	require.WithinDuration(t, time.Now(), *s.Holders[0].Revoked, eventTimeout)
	require.Nil(t, s.Waiting[0].Revoked)
	require.NotNil(t, s.Waiting[1].Revoked)
	require.Len(t, s.Waiting, shownAtOnce+3)
	require.Zero(t, s.WaitingLeftOut)
	require.Equal(t, "nested", s.Holders[0].Who, "the request has not hidden who it is")
}

// When something was granted is shown where a server knows it, and nowhere else.
func TestShowSinceWhen(t *testing.T) {
	server := zktest.NewServer(t)
	server.SetClock(-3 * time.Hour)
	first := locked(t, server, "/locks/a", "first", mutex.WithLockDelay(lockDelayOfTests))
	second, err := mutex.New(connectClient(t, server), "/locks/a", mutex.WithLockDelay(lockDelayOfTests))
	require.NoError(t, err)
	next := make(chan error)
	go func() {
		_, err := second.Acquire(t.Context(), time.Minute)
		next <- err
	}()
	until(t, "it waits", func() bool { return len(server.Children("/locks/a")) == 3 })
	server.SetClock(-2 * time.Hour)
	require.NoError(t, first.Release())
	require.NoError(t, <-next)
	text, s := shown(t, server, "/locks/a")
	require.WithinDuration(t, time.Now().Add(-3*time.Hour), s.Holders[0].Since, eventTimeout)
	require.WithinDuration(t, time.Now().Add(-2*time.Hour), *s.Holders[0].Granted, eventTimeout)
	require.Regexp(t, `\n  joined     20.*Z \(3h0m ago\)\n  granted    20.*Z \(2h0m ago\)\n`, text)
	require.Contains(t, text, "\nlock-delay: 1h0m0s ")

	permits, err := semaphore.New(connectClient(t, server), "/locks/permits", 2)
	require.NoError(t, err)
	_, err = permits.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	java := connectClient(t, server)
	_, err = java.Create(t.Context(), "/locks/permits/leases/_c_x-lease-0000000007", []byte("10.0.0.1"), framework.Ephemeral)
	require.NoError(t, err)
	text, s = shown(t, server, "/locks/permits")
	require.WithinDuration(t, time.Now().Add(-2*time.Hour), *s.Holders[0].Granted, eventTimeout)
	require.Nil(t, s.Holders[1].Granted)
	require.NotContains(t, text, "joined")
	require.Regexp(t, `\n  granted    after 20.*Z \(2h0m ago\): Java`, text)
	require.Contains(t, text, "\n0 of 2 permits are free\n")

	election, err := leader.New(connectClient(t, server), "/elections/web", leader.WithID("db1"))
	require.NoError(t, err)
	_, err = election.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	text, s = shown(t, server, "/elections/web")
	require.Contains(t, text, "\nleader: db1\n")
	require.Nil(t, s.Holders[0].Granted)
}

func TestShowOfAFreeLock(t *testing.T) {
	server := zktest.NewServer(t)
	text, s := shown(t, server, testLock)
	require.Equal(t, testLock+" is free: there is no such node (servers remove it some time after its last use)\n", text)
	require.Equal(t, stateFree, s.State)
	_, stdout, _ := invoke(t, []string{envServers + "=" + server.Addr()}, "show", testLock, "--json")
	require.JSONEq(t, `{"lock": "`+testLock+`", "exists": false, "state": "free", "holders": [], "holders_left_out": 0, "waiting": [], "waiting_left_out": 0,
		"semaphore": null, "stripes": null, "job": null, "lock_delays": [], "others": []}`, stdout)
	endUnclean(t, server, aMutex("backup"))
	text, s = shown(t, server, testLock)
	require.Equal(t, stateClosed, s.State)
	require.Contains(t, text, " may be closed: ")
	require.Contains(t, text, "backup (")
}

// A node that goes between the survey and the reads is shown as it was; another failure
// is no answer.
func TestShowOfALockThatChanges(t *testing.T) {
	server := zktest.NewServer(t)
	client, node := connectClient(t, server), testLock+"/lock-0000000001"
	require.NoError(t, client.CreateParents(t.Context(), testLock+"/lock-delay/x"))
	_, err := client.Set(t.Context(), testLock+"/lock-delay", []byte("1h0m0s"), framework.AnyVersion)
	require.NoError(t, err)
	_, err = client.Create(t.Context(), node, []byte(`{"who":"going"}`), framework.Ephemeral)
	require.NoError(t, err)
	env := []string{envServers + "=" + server.Addr()}
	server.On(zktest.OpGetData, node).Nth(2).Fail(zktest.NoNode)
	code, stdout, stderr := invoke(t, env, "show", testLock)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "going")
	for _, refuse := range []*zktest.Rule{
		server.On(zktest.OpGetData, node).Nth(2),
		server.On(zktest.OpExists, testLock+"/lock-delay/"),
	} {
		refuse.Fail(zktest.NoAuth)
		code, stdout, stderr = invoke(t, env, "show", testLock)
		require.Equal(t, exitNoPerm, code, stderr)
		require.Empty(t, stdout)
	}
}

// Text of other clients is escaped here, too, and a terminal of 80 columns is enough.
func TestShowEscapesAndFits(t *testing.T) {
	server := populate(t)
	text, s := shown(t, server, testLock)
	require.Contains(t, text, "\nleader: ")
	require.Equal(t, hostile, s.Holders[0].Who)
	server = zktest.NewServer(t)
	locked(t, server, "/locks/backup-of-the-database", "nightly-backup")
	text, _ = shown(t, server, "/locks/backup-of-the-database")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, width(strings.TrimSuffix(line, "\n")), usualColumns, line)
	}
	s.Holders[0].State = inspect.Held
	s.listing = &listing{}
	coloured := s.text(asTable, page{columns: usualColumns, colour: true})
	require.Equal(t, s.text(asTable, page{columns: usualColumns}), withoutColours(coloured))
}
