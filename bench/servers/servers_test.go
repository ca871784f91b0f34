package servers

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A missing server is never skipped: the error says how to get it.
func TestMissingServer(t *testing.T) {
	_, err := find("no-such-server", "such-a-package")
	require.ErrorContains(t, err, "no-such-server is not installed")
	require.ErrorContains(t, err, "apt-get install --no-install-recommends such-a-package")
	_, err = Start(t.Context(), "oracle", "")
	require.Error(t, err)
}

func TestCPU(t *testing.T) {
	before := CPU(os.Getpid())
	for start := time.Now(); time.Since(start) < 20*time.Millisecond; {
	}
	assert.Greater(t, CPU(os.Getpid()), before)
	assert.Zero(t, CPU(1<<22+1), "no process has such a number")
	assert.False(t, (&Server{pid: 1<<22 + 1}).Alive())
	assert.True(t, At("").Alive())
}
