//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/internal/znode"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/once"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// deleteRunA deletes the node of the holder of that run.
func deleteRunA(t *testing.T, server *zktest.Server) {
	t.Helper()
	nodes := server.Children(testLock + "/a.key")
	require.Len(t, nodes, 1)
	require.NoError(t, connectClient(t, server).Delete(t.Context(), testLock+"/a.key/"+nodes[0], framework.AnyVersion))
}

// A command that ends with 0 because of a loss has not finished.
func TestLostRunIsNotRecorded(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, slices.Concat([]string{"run"}, runA, command("obedient"))...)
	require.Equal(t, "ready", p.line())
	p.signal(syscall.SIGUSR1)
	require.Equal(t, "got USR1", p.line(), "which shows that it is supervised")
	deleteRunA(t, server)
	require.Equal(t, exitLost, p.end())
	said := p.said(2)
	require.Contains(t, said[0], " run a of "+testLock+": ")
	require.Contains(t, said[1], "the command has ended: exit code 0; exit code 76, for the loss of the lock")
	requireUnrecorded(t, server)
}

// The loss is noticed only when the run is to be recorded.
func TestRunThatEndsWithoutTheLockIsNotRecorded(t *testing.T) {
	server := zktest.NewServer(t)
	p := holdRun(t, server, "reader")
	unnoticed := server.On(zktest.OpDelete, testLock+"/a.key/").OnEvent().DropReply()
	until(t, "the holder watches its node", func() bool { return server.Watches() > 0 })
	deleteRunA(t, server)
	<-unnoticed.Fired()
	require.NoError(t, p.stdin.Close())
	require.Equal(t, exitLost, p.end())
	e := p.event("unprotected")
	require.Equal(t, "exit code 0", e.Command)
	require.Contains(t, e.Reason, "lease lost")
	require.Equal(t, exitLost, *e.ExitCode)
	requireUnrecorded(t, server)
}

// A revocation is a request: the exit code says whether the command has finished.
func TestRevokedRunIsRecordedIfItEndsWithZero(t *testing.T) {
	for part, code := range map[string]int{"polite": 3, "obedient": 0} {
		t.Run(part, func(t *testing.T) {
			server := zktest.NewServer(t)
			p := holdRun(t, server, part)
			revoked, _ := revoke(t, server, testLock)
			require.Equal(t, 0, revoked)
			require.Equal(t, code, p.end())
			if code == 0 {
				requireRecorded(t, server)
			} else {
				requireUnrecorded(t, server)
			}
		})
	}
}

func TestMaximumHoldTimeOfARun(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	p := holdRun(t, server, "obedient", "--max-hold", "5s", "--grace", "2s")
	require.Contains(t, p.event("lost").Reason, "maximum hold time")
	require.Equal(t, exitLost, p.end())
	requireUnrecorded(t, server)
}

// What was done meanwhile to the records, while the command of a run was running.
func TestRecordsThatChangeWhileTheCommandRuns(t *testing.T) {
	const done = testLock + "/done"
	for _, test := range []struct {
		name   string
		change func(t *testing.T, c *framework.Client)
		event  string
		code   int
		says   string
	}{
		{"a record is made by hand", func(t *testing.T, c *framework.Client) {
			makeNode(t, c, done+"/2000-01-01T00:00:00Z.tick", framework.WorldACL(framework.PermAll)...)
		}, "released", 0, "recorded as finished"},
		{"the tick is forgotten", func(t *testing.T, c *framework.Client) {
			storeAt(t, c, done, znode.Swept(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)))
		}, "unrecorded", exitUsage, "older than the records that are kept"},
		{"records may not be made", func(t *testing.T, c *framework.Client) {
			storeAt(t, c, done, nil)
			_, err := c.SetACL(t.Context(), done, append(slices.Clone(ourACL), lookOnly...), framework.AnyVersion)
			require.NoError(t, err)
		}, "unrecorded", exitNoPerm, "not permitted"},
		{"another program has its data there", func(t *testing.T, c *framework.Client) {
			storeAt(t, c, done, []byte("settings"))
		}, "unrecorded", exitUsage, "settings"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := zktest.NewServer(t)
			client := connectClient(t, server)
			j, err := once.New(client, testLock)
			require.NoError(t, err)
			run := &recordedRun{Run: j.Tick(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))}
			code, e := finishAfter(t, client, run, func() { test.change(t, connectClient(t, server)) })
			require.Equal(t, test.event, e.Event)
			require.Equal(t, test.code, code)
			require.Equal(t, test.code, *e.ExitCode)
			require.Contains(t, e.Reason, test.says)
			require.Equal(t, "exit code 0", e.Command)
		})
	}
}

// storeAt stores data in a node that may be missing.
func storeAt(t *testing.T, c *framework.Client, path string, data []byte) {
	t.Helper()
	require.NoError(t, c.CreateParents(t.Context(), path+"/x"))
	_, err := c.Set(t.Context(), path, data, framework.AnyVersion)
	require.NoError(t, err)
}

// finishAfter finishes a run whose command has ended with 0, after a change, and
// returns the exit code and the event.
func finishAfter(t *testing.T, client *framework.Client, run *recordedRun, change func()) (code int, e event) {
	t.Helper()
	held, err := run.Acquire(t.Context(), time.Minute)
	require.NoError(t, err)
	change()
	var stderr bytes.Buffer
	j := &job{
		jobFlags: &jobFlags{paths: pathList{testLock}}, report: newReporter(&stderr, testLock, true, false),
		client: client, session: client.Session(), held: held, recipe: recipe{run: run},
	}
	code, _ = j.finish(outcome{}, time.Second, false)
	j.report.close()
	checkEvent(t, bytes.TrimSpace(stderr.Bytes()))
	require.NoError(t, json.Unmarshal(stderr.Bytes(), &e))
	return code, e
}

// A run whose tick is older than the records that are kept does not begin.
func TestForgottenTick(t *testing.T) {
	server := zktest.NewServer(t)
	client := connectClient(t, server)
	makeNode(t, client, testLock+"/done", framework.WorldACL(framework.PermAll)...)
	_, err := client.Set(t.Context(), testLock+"/done", znode.Swept(time.Now().Add(time.Hour)), framework.AnyVersion)
	require.NoError(t, err)
	p := start(t, server, flagsFor(command("touch", "/"), "--once", testLock, "--tick", "1s", "--conflict-exit-code", "9")...)
	require.Equal(t, exitUsage, p.end())
	failed := p.event("failed")
	require.Equal(t, causeUsage, failed.Cause)
	require.Contains(t, failed.Reason, "older than the records that are kept")
}

// What is recorded stays so, whatever happens to the lock then.
func TestLossAfterTheRecord(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		other := w.Client("other")
		j, f := virtual(t, w, "a", runA...)
		require.NoError(t, j.await(t.Context(), f.begin()))
		w.Server.On(zktest.OpDelete, testLock+"/a.key/").Client("a").Before().Delay(time.Second)
		time.AfterFunc(time.Second/2, func() { w.Remove(other, j.held.(*lease.Lease).Path()) })
		code, _ := j.finish(outcome{}, time.Second, false)
		require.Equal(t, 0, code)
		_, done := w.Server.Node(testLock + "/done/a.key")
		require.True(t, done)
		j.disconnect()
	})
}

// The connection is broken when the command ends, and comes back in time, or not.
func TestRunThatEndsWithoutAConnection(t *testing.T) {
	for name, comesBack := range map[string]bool{"it comes back": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				j, f := virtual(t, w, "a", runA...)
				require.NoError(t, j.await(t.Context(), f.begin()))
				until := j.held.TrustedUntil()
				w.Server.Partition("a", true)
				if comesBack {
					time.AfterFunc(conformance.SessionTimeout/4, func() { w.Server.Partition("a", false) })
				}
				code, _ := j.finish(outcome{end: ending{}}, time.Second, false)
				job, err := once.New(w.Client("b"), testLock)
				require.NoError(t, err)
				found, err := job.Key("a").Recorded(t.Context())
				require.NoError(t, err)
				if comesBack {
					require.Equal(t, 0, code)
					require.Equal(t, []lease.Token{found.Token}, j.held.Tokens())
				} else {
					require.Equal(t, exitLost, code)
					require.Nil(t, found)
					require.False(t, time.Now().Before(until))
				}
				w.Server.Partition("a", false)
				j.disconnect()
			})
		})
	}
}

// It is not known by whom if the record cannot be read.
func TestTextOfARecordThatSaysNothing(t *testing.T) {
	require.Empty(t, describeRecorder(lease.Holder{}))
	require.Equal(t, ", by me", describeRecorder(lease.Holder{Who: "me"}))
	require.Equal(t, ", at 2026-11-26T03:00:00Z", describeRecorder(lease.Holder{Since: time.Date(2026, 11, 26, 3, 0, 0, 5, time.UTC)}))
	server := zktest.NewServer(t)
	makeNode(t, connectClient(t, server), testLock+"/done/a.key", framework.WorldACL(framework.PermAll)...)
	require.Nil(t, requireRecorded(t, server).Holder)
	p := start(t, server, slices.Concat([]string{"run"}, runA, command("touch", "/"))...)
	require.Equal(t, 0, p.end())
	require.Equal(t, "zkrecipes: run a of "+testLock+" is recorded as finished: the command is not run again", p.said(1)[0])

	j := &job{report: newReporter(nil, testLock, false, true), recipe: recipe{run: &recordedRun{Run: new(once.Run)}}}
	defer j.report.close()
	require.Equal(t, 0, j.reportRecorded(errors.New("x")))
}
