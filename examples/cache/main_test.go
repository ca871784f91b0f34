package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/examples/internal/exampletest"
	"github.com/zkrecipes/zkrecipes/recipes/lease/leasetest"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const printed = `^a lock in each process only: 8 of 8 instances called the origin at each of 3 expiries
  \d+ reads of old rates while the origin was slow: none of 32 readers waited for it
one lock for all: 1 of 8 instances called the origin at each of 3 expiries
  \d+ reads of old rates while the origin was slow: none of 32 readers waited for it
  1 did when all started, as nobody had rates, and \d+ times one came late, looked again, and found fresh rates
the one that refreshes is cut off: its call of the origin ended with its lease, and another refreshed
the one that refreshes is paused before its write: another refreshed, and \d+ late write was refused
$`

func TestRun(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t, zktest.WithTick(brief/2))
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Regexp(t, printed, out.String())
	exampletest.RequireNoSessions(t, server)
	require.Empty(t, server.Children("/examples/cache"))
}

func TestOwnServer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, program.Start(t.Context(), nil, &out))
	require.Regexp(t, printed, out.String())
}

// What the example claims would be seen if it were not so.
func TestMistakesAreSeen(t *testing.T) {
	t.Parallel()
	server := zktest.NewServer(t, zktest.WithTick(brief/2))
	noLock := &cluster{servers: []string{server.Addr()}, sessionTimeout: calm}
	require.ErrorContains(t, noLock.play(t.Context(), func() error {
		return noLock.count(io.Discard, "no lock", 1, -1)
	}), "called 8 times")

	noTokens := &cluster{servers: []string{server.Addr()}, path: "/examples/cache/mistakes", sessionTimeout: brief}
	require.ErrorContains(t, noTokens.play(t.Context(), func() error {
		noTokens.shared.ignoreTokens = true
		return noTokens.expireWith(paused)
	}), "were overwritten with rates")
}

// An origin that fails is reported, and asked again, while readers have the old rates.
func TestOriginFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		errDown := errors.New("down")
		var failures, calls int
		r := &rates{
			shared: new(redis), lock: new(leasetest.Acquirer), expired: make(chan struct{}),
			failed: func(err error) { require.ErrorIs(t, err, errDown); failures++ },
			fetch: func(context.Context) (string, error) {
				if calls++; calls == 2 {
					return "", errDown
				}
				return "rates", nil
			},
		}
		done := make(chan error)
		go func() { done <- r.run(ctx, func() {}) }()
		synctest.Wait()
		for range 2 {
			time.Sleep(fresh + pause)
			got, err := r.get(ctx)
			require.NoError(t, err)
			require.Equal(t, "rates", got)
			synctest.Wait()
		}
		cancel()
		require.NoError(t, <-done)
		require.Equal(t, 3, calls)
		require.Equal(t, 1, failures)
	})
}

// Without rates an instance does not start.
func TestNoRates(t *testing.T) {
	t.Parallel()
	errDown := errors.New("down")
	r := &rates{
		shared: new(redis), lock: new(leasetest.Acquirer),
		fetch: func(context.Context) (string, error) { return "", errDown },
	}
	require.ErrorIs(t, r.run(t.Context(), func() { t.Error("ready") }), errDown)
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, program.Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
}
