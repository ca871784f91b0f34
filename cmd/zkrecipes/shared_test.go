//go:build unix

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Both kinds of exclusive runs exclude readers, and each other.
func TestSharedAndExclusiveRunsExcludeEachOther(t *testing.T) {
	for name, exclusive := range map[string][]string{"mutex": nil, "writer": {"--write"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			first, second := hold(t, server, "--shared", "--label", "reader"), hold(t, server, "--shared")
			require.Equal(t, lease.KindReader, first.event("acquired").Kind)

			writer := start(t, server, flagsFor(command("polite"), append(exclusive, "--lock", testLock)...)...)
			waiting := writer.event("waiting")
			require.Equal(t, name, waiting.Kind)
			require.Equal(t, 2, waiting.Ahead)
			require.Equal(t, "reader", waiting.Holder.Who)
			until(t, "the writer is in the queue", func() bool { return len(server.Children(testLock)) == 3 })
			third := start(t, server, flagsFor(command("polite"), "--shared", "--lock", testLock)...)
			third.event("waiting")
			until(t, "the third reader is in the queue", func() bool { return len(server.Children(testLock)) == 4 })

			for _, reader := range []*started{first, second} {
				require.Empty(t, writer.lines, "the writer must not run beside a reader")
				reader.signal(syscall.SIGTERM)
				require.Equal(t, "got terminated", reader.line())
				require.Equal(t, 3, reader.end())
			}
			require.Equal(t, "ready", writer.line())
			require.Empty(t, third.lines, "a reader must not run beside a writer")
			writer.signal(syscall.SIGTERM)
			require.Equal(t, "ready", third.line())
			require.Equal(t, 3, writer.end())
			third.signal(syscall.SIGTERM)
			require.Equal(t, 3, third.end())
		})
	}
}

func TestTryShared(t *testing.T) {
	server := zktest.NewServer(t)
	reader := hold(t, server, "--shared")
	for _, test := range []struct {
		flags []string
		code  int
	}{{[]string{"--shared"}, 7}, {nil, exitConflict}, {[]string{"--write"}, exitConflict}} {
		p := start(t, server, flagsFor(command("exit", "7"), append(test.flags, "--lock", testLock, "--try")...)...)
		require.Equal(t, test.code, p.end(), test.flags)
	}
	// Readers do not wait for readers, so there is no such message.
	p := start(t, server, flagsFor(command("exit", "7"), "--lock", testLock, "--shared")...)
	require.Equal(t, 7, p.end())
	for e := range p.events {
		require.NotEqual(t, "waiting", e.Event)
	}
	reader.signal(syscall.SIGTERM)
	require.Equal(t, 3, reader.end())
}

func TestListingOfReadersAndWriters(t *testing.T) {
	server := zktest.NewServer(t)
	hold(t, server, "--shared")
	hold(t, server, "--shared")
	start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--write")...)
	until(t, "the writer is in the queue", func() bool { return len(server.Children(testLock)) == 3 })
	start(t, server, flagsFor(command("exit", "0"), "--lock", testLock, "--shared")...)
	until(t, "the reader is in the queue", func() bool { return len(server.Children(testLock)) == 4 })
	require.Equal(t, []string{"1 reader held", "2 reader held", "3 writer waiting", "4 reader waiting"}, states(listed(t, server, testLock)))
}

// A command that takes longer than --max-hold gets TERM before that, so that it is dead
// when the next can begin.
func TestMaximumHoldTime(t *testing.T) {
	t.Parallel()
	for part, ends := range map[string]string{"polite": "exit code 3", "stubborn": "killed by signal 9 (killed)"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			p := start(t, server, flagsFor(command(part), "--lock", testLock, "--max-hold", "5s", "--grace", "1s")...)
			require.Equal(t, "ready", p.line())
			require.Contains(t, p.event("lost").Reason, "maximum hold time")
			require.Equal(t, ends, p.event("stopped").Command)
			require.Equal(t, exitLost, p.end())
			require.Empty(t, server.Children(testLock))
		})
	}
}
