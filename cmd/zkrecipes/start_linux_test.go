package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/recipes/lease"
)

// A guardian takes a while to start. If the lease ends meanwhile, the command must not
// start.
func TestLeaseThatEndsWhileTheGuardianStarts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(lease.ErrLost)
	mark := t.TempDir() + "/mark"
	streams := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}
	started, err := startProcess(ctx, os.Args[0], []string{os.Args[0], asCommand, "touch", mark}, os.Environ(), streams, false)
	require.Nil(t, started)
	require.ErrorIs(t, err, lease.ErrLost)
	require.Equal(t, exitLost, exitCode(err, exitConflict))
	require.NoFileExists(t, mark)
}

// When the lease has ended, the guardian gets no order, only the end of its pipe.
func TestNoOrderAfterTheEndOfTheLease(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(lease.ErrLost)
	for range 200 { // the end of the lease and the order are concurrent
		control, alive, err := os.Pipe()
		require.NoError(t, err)
		p := &process{control: alive}
		_, err = p.sendOrder(ctx, json.NewDecoder(strings.NewReader("{}")), order{})
		require.ErrorIs(t, err, lease.ErrLost)
		heard, err := io.ReadAll(control)
		require.NoError(t, err)
		require.Empty(t, heard)
		control.Close()
	}
}

// Until the command is known to run, the end of the lease closes the guardian's pipe,
// as our own end would. From then on the supervisor stops the command.
func TestLeaseThatEndsWhileTheCommandIsStarted(t *testing.T) {
	for _, lost := range []bool{true, false} {
		control, alive, err := os.Pipe()
		require.NoError(t, err)
		notices, tell, err := os.Pipe()
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		eof := make(chan error, 1)
		go func() { // the guardian
			out, in := json.NewEncoder(tell), bufio.NewReader(control)
			_ = out.Encode(notice{})
			_, err := in.ReadBytes('\n') // the order
			if err == nil && lost {
				cancel(lease.ErrLost)
				_, err = in.ReadByte()
			}
			eof <- err
			_ = out.Encode(notice{PID: 1})
		}()
		p := &process{control: alive}
		answer, err := p.sendOrder(ctx, json.NewDecoder(notices), order{Args: [][]byte{{'x'}}})
		cancel(lease.ErrLost)
		if lost {
			require.ErrorIs(t, err, lease.ErrLost)
			require.ErrorContains(t, <-eof, "EOF")
		} else {
			require.NoError(t, err)
			require.NoError(t, <-eof)
			_, err := alive.WriteString("still open")
			require.NoError(t, err)
		}
		require.Equal(t, 1, answer.PID)
		for _, f := range []*os.File{control, alive, notices, tell} {
			f.Close()
		}
	}
}
