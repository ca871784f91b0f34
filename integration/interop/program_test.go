package interop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program is a process that runs another client. It is killed when the test ends. It
// ends by itself at the end of its input, and so also with the test binary.
type program struct {
	cmd    *exec.Cmd
	input  io.WriteCloser
	output *bufio.Scanner
	errors bytes.Buffer // to be read after end
	end    func() error // waits for the process; further calls return the same
}

// start starts a program. With merged its two outputs are one.
func start(t *testing.T, merged bool, command string, arguments ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	cmd := exec.CommandContext(ctx, command, arguments...) //nolint:gosec // the command is the test's own
	p := &program{cmd: cmd}
	var err error
	p.input, err = cmd.StdinPipe()
	require.NoError(t, err)
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	p.output = bufio.NewScanner(output)
	if merged {
		cmd.Stderr = cmd.Stdout
	} else {
		cmd.Stderr = &p.errors
	}
	require.NoError(t, cmd.Start())
	p.end = sync.OnceValue(cmd.Wait)
	t.Cleanup(func() {
		cancel()
		_ = p.end()
	})
	return p
}

// line returns the next line of output.
func (p *program) line(t *testing.T) string {
	t.Helper()
	if !p.output.Scan() {
		err := errors.Join(p.output.Err(), p.end())
		require.Fail(t, "the program has ended", "%v\n%s", err, p.errors.String())
	}
	return p.output.Text()
}

// rest returns the remaining lines of output when the program has ended.
func (p *program) rest() ([]string, error) {
	var lines []string
	for p.output.Scan() {
		lines = append(lines, p.output.Text())
	}
	if err := errors.Join(p.output.Err(), p.end()); err != nil {
		return lines, fmt.Errorf("%w\n%s", err, p.errors.String())
	}
	return lines, nil
}

// requireRest is rest for programs that succeed.
func (p *program) requireRest(t *testing.T) []string {
	t.Helper()
	lines, err := p.rest()
	require.NoError(t, err)
	return lines
}
