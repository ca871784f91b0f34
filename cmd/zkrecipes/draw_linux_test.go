package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// A typescript keeps what was written to a terminal.
type typescript struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (s *typescript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.Write(p)
}

func (s *typescript) contains(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.written.String(), text)
}

// On a terminal one line shows the wait, with a clock; what comes next is in a new one.
func TestProgressAtATerminal(t *testing.T) {
	server := zktest.NewServer(t)
	first := hold(t, server, "--label", "first")
	user, program := openTerminal(t)
	p := exec.Command(os.Args[0], "run", "--lock", testLock, "--", os.Args[0], asCommand, "exit", "0")
	p.Env = append(os.Environ(), "TERM=xterm", envProgram+"=1", envServers+"="+server.Addr(), "GORACE=atexit_sleep_ms=0")
	p.Stdin, p.Stdout, p.Stderr = program, program, program
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, p.Start())
	program.Close()
	var s typescript
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 1024)
		for {
			n, err := user.Read(buf)
			_, _ = s.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	until(t, "two lines are drawn", func() bool {
		return s.contains("\rzkrecipes: waiting 0s, 1 ahead, held by first (") && s.contains("\rzkrecipes: waiting 1s, 1 ahead, held by first (")
	})
	first.signal(syscall.SIGTERM)
	require.NoError(t, p.Wait())
	<-read
	require.Regexp(t, `\x1b\[K\r\nzkrecipes: acquired `+testLock+` after \S+, token \d+\r\n$`, s.written.String())
	for line := range strings.SplitSeq(strings.ReplaceAll(s.written.String(), "\x1b[K", ""), "\r") {
		require.LessOrEqual(t, width(strings.TrimSpace(line)), 79)
	}
}
