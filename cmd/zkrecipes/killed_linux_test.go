package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// Only Linux sends a signal at the death of a parent.
func TestKilledWrapperTakesTheCommandWithIt(t *testing.T) {
	p := start(t, zktest.NewServer(t), flagsFor(command("stubborn"), "--lock", testLock)...)
	require.Equal(t, "ready", p.line())
	p.signal(syscall.SIGKILL)
	require.Equal(t, -1, p.end(), "and nobody holds standard output any more")
}
