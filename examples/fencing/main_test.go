package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const printed = `HTTP, no token: 2 of 2 writes accepted, 1 added, LOST
HTTP, the token with the write only: 2 of 2 writes accepted, 1 added, LOST
HTTP, the token with the read and the write: 1 of 2 writes accepted, 1 added
objects, no condition: 2 of 2 writes accepted, 1 added, LOST
objects, the token and If-Match: 1 of 2 writes accepted, 1 added
ZooKeeper, no check: 2 of 2 writes accepted, 1 added, LOST
ZooKeeper, held.Check() in the transaction: 1 of 2 writes accepted, 1 added
`

func TestRun(t *testing.T) {
	server := zktest.NewServer(t)
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Equal(t, printed, out.String())
	require.Empty(t, server.Sessions())
	require.Equal(t, []string{"lock"}, server.Children(folder))
}

// A check that does not check makes the program fail, and so does one that is not
// needed.
func TestMistakes(t *testing.T) {
	server := zktest.NewServer(t)
	connect := func() *framework.Client {
		client, err := framework.Connect(t.Context(), framework.Config{Servers: []string{server.Addr()}, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		t.Cleanup(func() { client.Close() })
		return client
	}
	one, other := connect(), connect()
	acts, end, err := allActs(t.Context(), one)
	require.NoError(t, err)
	defer end()
	for _, wrong := range acts {
		wrong.loses = !wrong.loses
		require.ErrorContains(t, wrong.play(t.Context(), one, other, io.Discard), "not as expected", wrong.how)
	}
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program.Start(t.Context(), []string{"--servers", "nonsense:port"}, io.Discard), "config.Servers")
}

func TestFence(t *testing.T) {
	var passed int
	fence := newFence(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed++
		_, _ = io.Copy(w, r.Body)
	}))
	for i, step := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"GET", "/a", "", "", 200},
		{"HEAD", "/a", "", "", 200},
		{"PUT", "/a", "", "x", 428},
		{"DELETE", "/a", "", "", 428},
		{"PUT", "/a", "seven", "x", 400},
		{"PUT", "/a", "0", "x", 400}, // of a lease on several locks
		{"PUT", "/a", "-1", "x", 400},
		{"PUT", "/a", "7", strings.Repeat("x", maxBody+1), 400},
		{"PUT", "/a", "6", "x", 200}, // what was refused has left no token
		{"GET", "/a", "7", "", 200},
		{"PUT", "/a", "6", "x", 412},
		{"GET", "/a", "6", "", 412},
		{"PUT", "/a", "7", "x", 200},
		{"PUT", "/b", "6", "x", 200}, // another resource
		{"GET", "/a", "", "", 200},
		{"PUT", "/a", "8589934592001", "x", 200}, // of the second leader of an ensemble
		{"PUT", "/a", "8589934592000", "x", 412},
	} {
		before, w := passed, httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), step.method, step.path, strings.NewReader(step.body))
		if step.token != "" {
			r.Header.Set(tokenHeader, step.token)
		}
		fence.ServeHTTP(w, r)
		require.Equal(t, step.want, w.Code, "step %d: %+v", i, step)
		require.Equal(t, step.want == 200, passed > before, "step %d", i)
		if step.want == 200 {
			require.Equal(t, step.body, w.Body.String(), "step %d", i)
		}
	}
}

// A request that has passed, and works, is not overtaken by one with a newer token.
func TestFenceLetsOneThroughAtATime(t *testing.T) {
	var fence *fence
	var written []string // by the handler, without a lock of its own
	fence = newFence(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if fence.mu.TryLock() {
			t.Error("another one could pass")
			fence.mu.Unlock()
			return
		}
		written = append(written, r.Header.Get(tokenHeader))
	}))
	var all sync.WaitGroup
	for token := range 50 {
		all.Go(func() {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/a", strings.NewReader("x"))
			r.Header.Set(tokenHeader, fmt.Sprintf("%02d", token))
			fence.ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	all.Wait()
	require.NotEmpty(t, written)
	require.IsIncreasing(t, written)
	require.Equal(t, "49", written[len(written)-1])
}

// Of holders that claim an object at the same time, in any order, only the newest one
// can change it.
func TestOnlyTheNewestClaimCounts(t *testing.T) {
	b, ctx := newMemory(), t.Context()
	const key, holders = "report", 16
	var claimed, all sync.WaitGroup
	claimed.Add(holders)
	var errs [holders]error
	for i := range holders {
		all.Go(func() {
			_, version, err := claim(ctx, b, key, lease.Token(i))
			claimed.Done()
			if claimed.Wait(); err == nil {
				_, err = replace(ctx, b, key, lease.Token(i), json.RawMessage("1"), version)
			}
			errs[i] = err
		})
	}
	all.Wait()
	for i, err := range errs {
		if i == holders-1 {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, errFenced, i)
		}
	}
	data, version, err := claim(ctx, b, key, holders)
	require.NoError(t, err)
	require.JSONEq(t, "1", string(data))
	for n := range 3 { // one holder may write more than once
		version, err = replace(ctx, b, key, holders, fmt.Append(nil, n), version)
		require.NoError(t, err)
	}
	_, _, err = claim(context.WithoutCancel(ctx), b, key, holders-1)
	require.ErrorIs(t, err, errFenced)
}

// After an answer that was lost, a holder claims again, with the same token, and looks.
// The request without an answer, which has been under way all the time, changes nothing
// any more, although the object has what it had before.
func TestClaimOutrunsARequestOfTheSameHolder(t *testing.T) {
	b, ctx := newMemory(), t.Context()
	const key, token = "report", 7
	_, version, err := claim(ctx, b, key, token)
	require.NoError(t, err)
	version, err = replace(ctx, b, key, token, json.RawMessage("1"), version)
	require.NoError(t, err)
	late := func() error {
		_, err := replace(ctx, b, key, token, json.RawMessage("2"), version)
		return err
	}
	data, again, err := claim(ctx, b, key, token)
	require.NoError(t, err)
	require.JSONEq(t, "1", string(data))
	require.ErrorIs(t, late(), errFenced)

	again, err = replace(ctx, b, key, token, json.RawMessage("3"), again)
	require.NoError(t, err)
	_, err = replace(ctx, b, key, token, json.RawMessage("1"), again) // as it was
	require.NoError(t, err)
	require.ErrorIs(t, late(), errFenced)
}
