//go:build unix

package main

import (
	"bufio"
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
)

// Clients can use the printed address until the end.
func TestTestserverServesUntilASignal(t *testing.T) {
	out, in, err := os.Pipe()
	require.NoError(t, err)
	defer out.Close()
	p := &program{stdout: in, stderr: os.Stderr}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	served := make(chan error, 1)
	go func() { served <- p.serve(ctx, "127.0.0.1:0"); _ = in.Close() }()
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	client, err := framework.Connect(t.Context(), framework.Config{Servers: []string{lines.Text()}})
	require.NoError(t, err)
	_, err = client.Create(t.Context(), "/here", nil, framework.Persistent)
	require.NoError(t, err)
	require.NoError(t, client.Close())
	end()
	require.NoError(t, <-served)
}

func TestTestserverRefusesWhatItCannotListenOn(t *testing.T) {
	code, _, stderr := invoke(t, nil, "testserver", "--port", "70000")
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "port")
	code, _, stderr = invoke(t, nil, "testserver", "--host", "192.0.2.1", "--port", "1")
	require.Equal(t, exitUnavailable, code)
	require.Contains(t, stderr, "192.0.2.1:1")
}
