package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// At a terminal the holder is shown, and taken away when the token or the name of the
// lock is typed. Anything else changes nothing.
func TestForceIsConfirmedAtATerminal(t *testing.T) {
	for name, test := range map[string]struct {
		types func(held *lease.Lease) string
		taken bool
	}{
		"the token":         {func(held *lease.Lease) string { return held.Token().String() + "\n" }, true},
		"the lock":          {func(*lease.Lease) string { return "test\n" }, true},
		"another token":     {func(held *lease.Lease) string { return held.Token().String() + "1\n" }, false},
		"yes":               {func(*lease.Lease) string { return "y\n" }, false},
		"nothing":           {func(*lease.Lease) string { return "\n" }, false},
		"the end of file":   {func(*lease.Lease) string { return ctrlD }, false},
		"no end of line":    {func(*lease.Lease) string { return "test" + ctrlD + ctrlD }, false},
		"Ctrl-C":            {func(*lease.Lease) string { return "tes" + ctrlC }, false},
		"too much":          {func(*lease.Lease) string { return "test test\n" }, false},
		"the path":          {func(*lease.Lease) string { return testLock + "\n" }, false},
		"what was released": {func(held *lease.Lease) string { _ = held.Release(); return "test\n" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			m, err := mutex.New(connectClient(t, server), testLock, mutex.WithHolder("nightly"))
			require.NoError(t, err)
			held := acquired(t, m)
			s := startAtTerminal(t, server, "revoke", "--force", testLock)
			require.Contains(t, s.expect(testLock+" is held by "), "nightly (")
			s.expect("node _c_")
			require.Contains(t, s.expect("mutex, token "), held.Token().String()+", session 0x")
			for rest := ""; !strings.Contains(rest, "fencing tokens"); {
				rest = s.expect("")
				require.LessOrEqual(t, width(strings.TrimSpace(rest)), usualColumns, rest)
			}
			require.NoError(t, held.Err(), "not before it is confirmed")
			s.types(test.types(held))
			err = s.first.Wait()
			if test.taken {
				require.NoError(t, err)
				s.expect("taken away: ")
				lostTo(t, held)
				return
			}
			require.Error(t, err)
			if name != "Ctrl-C" {
				require.Equal(t, exitNoContender, s.first.ProcessState.ExitCode())
			}
			s.ended()
			if name != "what was released" {
				require.NoError(t, held.Confirm(t.Context()))
			}
		})
	}
}

// What is no terminal confirms nothing, whatever can be read from it.
func TestOnlyATerminalConfirms(t *testing.T) {
	_, program := openTerminal(t)
	defer program.Close()
	isTerminal := func(file *os.File) bool {
		_, _, is := windowOf(file)
		return is
	}
	require.True(t, isTerminal(program))
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.False(t, isTerminal(null))
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	require.False(t, isTerminal(read))
}
