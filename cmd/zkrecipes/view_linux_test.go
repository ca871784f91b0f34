package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// At a terminal a watch draws on another screen, with colours, says when it gets no
// answer, and leaves the shell's screen as it was.
func TestWatchAtATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	server := zktest.NewServer(t)
	holder := hold(t, server, "--label", "nightly")
	s := startAtTerminal(t, server, "ls", testLock, "--watch", "--interval", "20ms")
	require.Contains(t, s.expect(otherScreen), testLock+", every 20ms, last look ")
	require.Contains(t, s.expect("\x1b[32mheld\x1b[0m"), "nightly")
	server.Pause()
	require.Contains(t, s.expect("\x1b[31mno answer since "), ": what follows was true then\x1b[0m")
	require.Contains(t, s.expect("held"), "nightly")
	server.Resume()
	s.expect(", last look ")
	holder.signal(syscall.SIGTERM)
	s.expect(testLock + " is free")
	s.types(ctrlC)
	last := ""
	for line := range s.lines {
		last = line
	}
	require.True(t, strings.HasSuffix(last, shellScreen), "%q", last)
	require.NoError(t, s.first.Wait())
}

// Colours are for terminals that have them, and for people who want them.
func TestColoursAtATerminal(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server)
	for _, test := range []struct{ term, noColor, want string }{
		{"xterm", "", "\x1b[32mheld\x1b[0m"}, {"xterm", "1", " held "}, {"dumb", "", " held "}, {"", "", " held "},
	} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColor)
		s := startAtTerminal(t, server, "ls", testLock)
		s.expect("POS  STATE")
		line := <-s.lines
		require.Contains(t, line, test.want)
		require.NoError(t, s.first.Wait())
		s.ended()
	}
}
