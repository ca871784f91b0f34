//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// fullPipe returns the side of a pipe to write to, in which nothing has room.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	unread, in, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { unread.Close(); in.Close() })
	raw, err := in.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		require.NoError(t, syscall.SetNonblock(int(fd), true))
		for piece := make([]byte, 4096); err == nil; {
			_, err = syscall.Write(int(fd), piece)
		}
	}))
	require.ErrorIs(t, err, syscall.EAGAIN)
	return in
}

// A signal ends what prints until a signal also if nobody reads what it prints.
func TestSignalEndsWhatIsBlockedByItsOutput(t *testing.T) {
	for name, args := range map[string][]string{
		"ls --watch":     {"ls", testLock, "--watch"},
		"elect --listen": {"elect", "--listen", testLock},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := zktest.NewServer(t)
			p := exec.Command(os.Args[0], args...)
			p.Env = append(os.Environ(), envProgram+"=1", envServers+"="+server.Addr(), "GORACE=atexit_sleep_ms=0")
			p.Stdout = fullPipe(t)
			require.NoError(t, startUnignored(p))
			ended := make(chan error, 1)
			go func() { ended <- p.Wait() }()
			until(t, "it has something to print", func() bool { return server.Count(zktest.OpGetChildren)+server.Count(zktest.OpGetChildren2) > 0 })
			require.NoError(t, p.Process.Signal(syscall.SIGTERM))
			select {
			case err := <-ended:
				require.NoError(t, err)
			case <-time.After(eventTimeout):
				_ = p.Process.Kill()
				require.Fail(t, "it does not end")
			}
		})
	}
}
