package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/zktest"
)

// On a terminal one line shows the wait, with a clock; what comes next is in a new one.
func TestProgressAtATerminal(t *testing.T) {
	server := zktest.NewServer(t)
	first := hold(t, server, "--label", "first")
	user, program := openTerminal(t)
	p := exec.Command(os.Args[0], "run", "--lock", testLock, "--", os.Args[0], asCommand, "exit", "0")
	p.Env = append(os.Environ(), "TERM=xterm", envProgram+"=1", envServers+"="+server.Addr(), patientSession, "GORACE=atexit_sleep_ms=0")
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
	drawn := regexp.MustCompile(`\rzkrecipes: waiting (\d+)s, 1 ahead, held by first \(`)
	until(t, "the clock goes on", func() bool {
		lines := drawn.FindAllStringSubmatch(s.String(), -1)
		return len(lines) > 1 && lines[0][1] != lines[len(lines)-1][1]
	})
	first.signal(syscall.SIGTERM)
	require.NoError(t, p.Wait())
	<-read
	require.Regexp(t, `\x1b\[K\r\nzkrecipes: acquired `+testLock+` after \S+, token \d+\r\n$`, s.String())
	for line := range strings.SplitSeq(strings.ReplaceAll(s.String(), "\x1b[K", ""), "\r") {
		require.LessOrEqual(t, width(strings.TrimSpace(line)), 79)
	}
}
