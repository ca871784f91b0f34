//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Servers grant what lies within their bounds.
func TestGrantedSessionTimeoutIsReported(t *testing.T) {
	server := zktest.NewServer(t, zktest.WithSessionTimeouts(time.Second, 10*time.Second))
	p := candidate(t, server, "polite", "--session-timeout", "15s")
	granted := p.event("timeout granted")
	require.InDelta(t, 10, granted.Timeout, 0)
	require.InDelta(t, 15, granted.Asked, 0)
	require.Equal(t, granted.Session, leads(t, p).Session)

	// It is not reported again for later sessions.
	require.True(t, server.ExpireSession(server.Sessions()[0].ID))
	require.Equal(t, "got terminated", p.line())
	leads(t, p)
	p.signal(syscall.SIGTERM)
	require.Equal(t, 3, p.end())
	for e := range p.events {
		require.NotEqual(t, "timeout granted", e.Event)
	}

	said := func(flags ...string) []string {
		p := start(t, server, slices.Concat([]string{"run", "--lock", testLock}, flags, command("exit", "0"))...)
		require.Equal(t, 0, p.end())
		for range p.events { // until all is read
		}
		return p.said(len(p.stderr))
	}
	require.Equal(t, []string{"zkrecipes: the servers grant a session timeout of 10s instead of 15s"}, said("--session-timeout", "15s"))
	require.Equal(t, []string{"zkrecipes: the servers grant a session timeout of 1s instead of 500ms"}, said("--session-timeout", "500ms"))
	require.Empty(t, said("--quiet"))
	require.Empty(t, said("--session-timeout", "10s"))
}

// A later session may be granted by a server that is configured otherwise.
func TestChangedSessionTimeoutIsReportedAgain(t *testing.T) {
	session := func(longest time.Duration) *framework.Session {
		return connectClient(t, zktest.NewServer(t, zktest.WithSessionTimeouts(time.Second, longest))).Session() // which asks for 30 s
	}
	var stderr bytes.Buffer
	j := &job{jobFlags: &jobFlags{connection: connection{sessionTimeout: 30 * time.Second}}, report: newReporter(&stderr, "/l", true, false)}
	for _, seconds := range []int{60, 20, 20, 10, 60, 60} {
		j.reportTimeout(session(time.Duration(seconds) * time.Second))
	}
	j.report.close()
	var timeouts []float64
	for in := json.NewDecoder(&stderr); in.More(); {
		var e event
		require.NoError(t, in.Decode(&e))
		require.Equal(t, "timeout granted", e.Event)
		require.InDelta(t, 30, e.Asked, 0)
		timeouts = append(timeouts, e.Timeout)
	}
	require.Equal(t, []float64{20, 10, 30}, timeouts)
}

// The message says it once, although the reason says it too.
func TestTextOfALostSession(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server)
	p := start(t, server, slices.Concat([]string{"run", "--lock", testLock}, command("exit", "0"))...)
	awaitQueueLength(t, server, 2)
	p.said(1)
	require.True(t, server.ExpireSession(server.Sessions()[1].ID), "the younger session waits")
	said := p.said(4)
	for i, want := range []string{
		`waiting for ` + testLock + `: 1 ahead, held by .`,
		`\d\d:\d\d:\d\d\.\d{3} connection broken: .`,
		`\d\d:\d\d:\d\d\.\d{3} session lost: expired by the server; trying again in a new session$`,
		`\d\d:\d\d:\d\d\.\d{3} connected again$`,
	} {
		require.Regexp(t, `^zkrecipes: `+want, said[i])
	}
}

func TestTextOfABrokenConnection(t *testing.T) {
	server := zktest.NewServer(t)
	p := start(t, server, slices.Concat([]string{"run", "--lock", testLock}, command("polite"))...)
	require.Equal(t, "ready", p.line())
	server.DropConnections("")
	said := p.said(2)
	require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} connection broken: .*; the command goes on while the lock is certain$`, said[0])
	require.Regexp(t, `^zkrecipes: \d\d:\d\d:\d\d\.\d{3} connected again$`, said[1])
}

func TestBecause(t *testing.T) {
	for why, want := range map[string]string{
		"session lost":                 "session lost",
		"session lost: expired":        "session lost: expired",
		"session lost its way":         "session lost: session lost its way",
		"no reason known":              "session lost: no reason known",
		"x: session lost: replaced":    "session lost: x: session lost: replaced",
		"session lostness: as it were": "session lost: session lostness: as it were",
	} {
		require.Equal(t, want, because("session lost", why))
	}
}

// Also while a lock is waited for, or held.
func TestSessionTimeoutOfALaterSessionIsReported(t *testing.T) {
	var at atomic.Pointer[zktest.Server]
	made := time.Now().UnixMilli()
	move := func(longest time.Duration) {
		// Servers that are made in one millisecond give sessions the same ids.
		until(t, "it is later", func() bool { return time.Now().UnixMilli() > made })
		at.Store(zktest.NewServer(t, zktest.WithSessionTimeouts(time.Second, longest)))
		made = time.Now().UnixMilli()
	}
	move(time.Minute)
	client, err := framework.Connect(t.Context(), framework.Config{
		Servers: []string{"anywhere:1"}, SessionTimeout: 30 * time.Second, Logger: slog.New(slog.DiscardHandler),
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", at.Load().Addr())
		},
	})
	require.NoError(t, err)
	stdout, stderr := io.Pipe()
	j := &job{jobFlags: &jobFlags{connection: connection{sessionTimeout: 30 * time.Second}}, report: newReporter(stderr, "/l", true, false), client: client}
	j.watcher.Go(j.reportConnection)
	events := json.NewDecoder(stdout)
	late := time.AfterFunc(eventTimeout, func() { stdout.CloseWithError(errors.New("it is not reported")) })
	defer late.Stop()
	for _, longest := range []time.Duration{20 * time.Second, 10 * time.Second} {
		before := at.Load()
		move(longest) // which does not know the session, so that another is created
		before.Close()
		for e := (event{}); e.Event != "timeout granted"; {
			require.NoError(t, events.Decode(&e))
			require.True(t, e.Event != "timeout granted" || e.Timeout == longest.Seconds(), "%+v", e)
		}
	}
	j.disconnect()
	stdout.Close()
	j.report.close()
}

// That of the first session is reported first of all, even for a short command.
func TestSessionTimeoutIsReportedBeforeTheWait(t *testing.T) {
	server := zktest.NewServer(t, zktest.WithSessionTimeouts(time.Second, 10*time.Second))
	var stderr bytes.Buffer
	f := &jobFlags{connection: connection{servers: server.Addr(), sessionTimeout: 15 * time.Second}}
	j := &job{jobFlags: f, report: newReporter(&stderr, "/l", true, false)}
	var err error
	j.cfg, _, err = f.config(nil)
	require.NoError(t, err)
	j.phase.Store(finished) // so that reportConnection says nothing
	require.NoError(t, j.connect(t.Context(), eventTimeout))
	j.disconnect()
	j.report.close()
	require.Contains(t, stderr.String(), `"session_timeout_seconds":10,"asked_seconds":15`)
}
