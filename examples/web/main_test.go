package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// All requests are answered, and the metrics agree with the answers.
func TestWeb(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	t.Log(out.String())
	require.Regexp(t, `^at once 20 requests for one order, and 60 for one each
5 requests for an order that another program has locked, and one whose client hangs up
(zkrecipes_acquire_wait_seconds_(count|sum)\{outcome="(granted|timeout|canceled)",path="/examples/web/orders",recipe="mutex"\} [0-9.e-]+
)+zkrecipes_acquires_waiting\{path="/examples/web/orders",recipe="mutex"\} 0
zkrecipes_hold_seconds_count\{path="/examples/web/orders",recipe="mutex"\} \d+
zkrecipes_hold_seconds_sum\{path="/examples/web/orders",recipe="mutex"\} [0-9.e-]+
zkrecipes_holds\{path="/examples/web/orders",recipe="mutex"\} 0
zkrecipes_losses_total, of all reasons: 0
clients saw \d+ times 200, and \d+ times 503; [01] hung up; \d+ lines were added, by 1 at once to one order
$`, out.String())
	require.Empty(t, server.Sessions())
	for _, stripe := range server.Children(locksPath) {
		require.Empty(t, server.Children(locksPath+"/"+stripe))
	}
}

// It also has a server of its own.
func TestOwnServer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, program().Start(t.Context(), nil, &out))
	require.NotEmpty(t, out.String())
}

func TestNoServer(t *testing.T) {
	for _, more := range []string{"--work=1ms", "--listen=127.0.0.1:0"} {
		require.ErrorContains(t, program().Start(t.Context(), []string{"--servers", "nonsense:port", more}, &bytes.Buffer{}), "config.Servers")
	}
	require.Error(t, program().Start(t.Context(), []string{"--listen", "nonsense:port"}, &bytes.Buffer{}))
	require.Error(t, program().Start(t.Context(), []string{"--nonsense"}, &bytes.Buffer{}))
}

// What is wrong would be seen.
func TestAgree(t *testing.T) {
	t.Parallel()
	text := `# HELP zkrecipes_holds Holds.
zkrecipes_acquire_wait_seconds_count{outcome="granted",path="a"} 7
zkrecipes_acquire_wait_seconds_count{outcome="timeout",path="a"} 2
zkrecipes_acquire_wait_seconds_count{outcome="canceled",path="a"} 1
zkrecipes_hold_seconds_count{path="a"} 7
zkrecipes_holds{path="a"} 0
zkrecipes_losses_total{path="a",reason="closed"} 0
`
	require.NoError(t, parse(text).agree(&traffic{changed: 7, busy: 2, gone: 1}, 7))
	require.NoError(t, parse(text).agree(&traffic{changed: 7, busy: 3}, 7))
	require.Error(t, parse(text).agree(&traffic{changed: 7, busy: 2, gone: 1}, 6))
	for _, wrong := range []*traffic{{changed: 6, busy: 3, gone: 1}, {changed: 8, busy: 1, gone: 1}, {changed: 7, busy: 2}} {
		require.Error(t, parse(text).agree(wrong, 7))
	}
	for _, more := range []string{
		"zkrecipes_losses_total{} 1", "zkrecipes_release_failures_total{} 1", "zkrecipes_holds{} 1", "zkrecipes_acquires_waiting 1",
		`zkrecipes_acquire_wait_seconds_count{outcome="failed"} 1`,
	} {
		require.Error(t, parse(text+more).agree(&traffic{changed: 7, busy: 2, gone: 1}, 7), more)
	}
}

// Without the lock a line is missing. A write that comes too late changes nothing.
func TestDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(time.Second)
		for range 2 {
			go func() {
				_, err := db.add(t.Context(), "4711", "a line", 5)
				assert.NoError(t, err)
			}()
		}
		time.Sleep(time.Minute)
		lines, most := db.count()
		require.Equal(t, 1, lines)
		require.Equal(t, 2, most)
		_, err := db.add(t.Context(), "4711", "a line", 4)
		require.ErrorContains(t, err, "token 4 is older than 5")
		lines, _ = db.count()
		require.Equal(t, 1, lines)

		// The next holder has read, and not written yet.
		late := make(chan error, 1)
		go func() {
			_, err := db.add(t.Context(), "4711", "a line", 5)
			late <- err
		}()
		time.Sleep(time.Second / 2)
		_, err = db.add(t.Context(), "4711", "a line", 6)
		require.NoError(t, err)
		require.ErrorContains(t, <-late, "token 5 is older than 6")
		lines, _ = db.count()
		require.Equal(t, 2, lines)
	})
}
