package main

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/zktest"
	"go.uber.org/goleak"
)

// TestMain makes the program of the test one of the processes, if it was started as
// one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--store") {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// Each tick is done once, although it is begun again after each act.
func TestCron(t *testing.T) {
	server := zktest.NewServer(t, zktest.WithTick(sessionTimeout/2))
	var out bytes.Buffer
	require.NoError(t, program([][]act{{kill, pause}, {killLate}}).Start(t.Context(), []string{"--servers", server.Addr()}, &out))
	require.Regexp(t, `^3 processes, 2 rounds in [0-9ms]+: 2 times killed, 1 times paused for longer than a session
\d+ ticks, \d+ starts: ([2-9]|\d\d+) ticks were begun more than once
0 ticks were not recorded, and 0 recorded twice
\d+ changes in the store, and \d+ in ZooKeeper: one for each tick
[1-9]\d* late writes of processes that had been paused were refused
$`, out.String())
	t.Log(out.String())
}

// The store makes the change of a tick once, and refuses old tokens of this tick, not
// those of others.
func TestStore(t *testing.T) {
	t.Parallel()
	s, tick := newStore(), time.Date(2026, 11, 26, 3, 0, 0, 0, time.UTC)
	require.NoError(t, s.begin(tick, 7))
	require.NoError(t, s.begin(tick, 9))
	require.ErrorContains(t, s.apply(tick, 7), "tick 03:00:00: token 7 is older than 9")
	require.Zero(t, s.changes)
	require.NoError(t, s.apply(tick, 9))
	require.NoError(t, s.apply(tick, 10))
	require.NoError(t, s.apply(tick.Add(time.Second), 8))
	require.Equal(t, 2, s.changes)
	require.Equal(t, 1, s.refused)
}

// What is wrong would be seen.
func TestCheck(t *testing.T) {
	t.Parallel()
	right := tally{ticks: 3, starts: 4, again: 1, recorded: 3, sum: 3, changes: 3, refused: 1}
	require.NoError(t, right.check())
	for _, spoil := range []func(*tally){
		func(t *tally) { t.recorded-- }, func(t *tally) { t.sum++ }, func(t *tally) { t.changes-- },
		func(t *tally) { t.again-- }, func(t *tally) { t.refused-- },
	} {
		wrong := right
		spoil(&wrong)
		require.Error(t, wrong.check())
	}
}

func TestNoServer(t *testing.T) {
	require.ErrorContains(t, program(plan).Start(t.Context(), []string{"--servers", "nonsense:port"}, &bytes.Buffer{}), "config.Servers")
	require.Error(t, program(plan).Start(t.Context(), []string{"--nonsense"}, &bytes.Buffer{}))
}
