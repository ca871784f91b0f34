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
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// runOf is the run of a key of testLock, for another program.
func runOf(t *testing.T, server *zktest.Server, key string) *once.Run {
	t.Helper()
	job, err := once.New(connectClient(t, server), testLock, once.WithHolder("holder of "+key))
	require.NoError(t, err)
	return job.Key(key)
}

// takeRun makes another program hold a run.
func takeRun(t *testing.T, run *once.Run) *lease.Lease {
	t.Helper()
	held, err := run.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	return held
}

func TestListingOfAJob(t *testing.T) {
	server := zktest.NewServer(t)
	env := []string{envServers + "=" + server.Addr()}
	a, b := runOf(t, server, "a"), runOf(t, server, "b c")
	first, second := takeRun(t, a), takeRun(t, b)
	waiting, next := make(chan error), runOf(t, server, "a")
	go func() {
		_, err := next.Acquire(t.Context(), time.Minute)
		waiting <- err
	}()
	until(t, "it waits", func() bool { return len(server.Children(testLock+"/a.key")) == 2 })

	code, stdout, stderr := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code, stderr)
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, 5)
	require.Regexp(t, `^RUN +POS +STATE +KIND +WHO `, lines[0])
	require.Regexp(t, fmt.Sprintf(`^a +1 +held +mutex +holder.x20of.x20a .* %d$`, first.Token()), lines[1])
	require.Regexp(t, `^a +2 +waiting +mutex `, lines[2])
	require.Regexp(t, fmt.Sprintf(`^b.x20c +1 +held +mutex .* %d$`, second.Token()), lines[3])
	require.Equal(t, "runs that are recorded as finished: 0", lines[4])

	l := listed(t, server, testLock)
	require.Equal(t, &records{}, l.Job)
	require.Empty(t, l.Others)
	require.Nil(t, l.Stripes)
	require.Equal(t, []string{"1 mutex held", "2 mutex waiting", "1 mutex held"}, states(l))
	require.Equal(t, []string{"a", "a", "b c"}, []string{*l.Queue[0].Run, *l.Queue[1].Run, *l.Queue[2].Run})
	require.Nil(t, l.Queue[0].Stripe)
	one := listed(t, server, testLock+"/a.key")
	require.Equal(t, []string{"1 mutex held", "2 mutex waiting"}, states(one))
	require.Nil(t, one.Queue[0].Run, "there it is a mutex")

	require.NoError(t, a.Record(t.Context(), first))
	require.ErrorIs(t, <-waiting, once.ErrRecorded)
	require.NoError(t, first.Release())
	require.NoError(t, second.Release())
	code, stdout, _ = invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, testLock+" is free: no client holds it or waits for it\nruns that are recorded as finished: 1")
}

// Up to which moment records were removed, if that is a time.
func TestListingOfAJobThatWasSwept(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	makeNode(t, client, testLock+"/done", framework.WorldACL(framework.PermAll)...)
	_, err := client.Set(t.Context(), testLock+"/done", znode.Swept(time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)), framework.AnyVersion)
	require.NoError(t, err)
	env := []string{envServers + "=" + server.Addr()}
	code, stdout, _ := invoke(t, env, "ls", testLock)
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "\nruns that are recorded as finished: 0; older records than 2026-11-25T03:00:00Z were removed\n")
	code, stdout, _ = invoke(t, env, "ls", testLock, "--json")
	require.Equal(t, 0, code)
	require.JSONEq(t, `{"lock": "`+testLock+`", "exists": true, "queue": [], "left_out": 0, "semaphore": null, "stripes": null, "job": {"records": 0, "swept": "2026-11-25T03:00:00Z"}, "lock_delays": [], "others": []}`, stdout)

	_, err = client.Set(t.Context(), testLock+"/done", []byte("swept up to 9999-12-31T23:59:59-01:00"), framework.AnyVersion)
	require.NoError(t, err)
	require.Equal(t, &records{}, listed(t, server, testLock).Job)
}

func TestRevokeOfRuns(t *testing.T) {
	server := zktest.NewServer(t)
	a, b := takeRun(t, runOf(t, server, "a")), takeRun(t, runOf(t, server, "b"))
	code, stdout := revoke(t, server, testLock+"/b.key")
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(mutex, held): holder of b ")
	<-b.RevocationRequested()
	code, stdout = revoke(t, server, testLock, "--node", a.Token().String())
	require.Equal(t, 0, code)
	require.Contains(t, stdout, "(mutex, held, run a): holder of a ")
	<-a.RevocationRequested()

	code, stdout = revoke(t, server, testLock, "--json")
	require.Equal(t, 0, code)
	var requested revocation
	require.NoError(t, json.Unmarshal([]byte(stdout), &requested))
	require.Len(t, requested.Requested, 2)
	require.Equal(t, "a", *requested.Requested[0].Run)
	require.Equal(t, "b", *requested.Requested[1].Run)
	require.NoError(t, a.Release())
	require.NoError(t, b.Release())
	code, _ = revoke(t, server, testLock)
	require.Equal(t, exitNoContender, code)
}
