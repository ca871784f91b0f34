package partition

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// start starts a contender until the test ends, by a command that runs it on a host if
// that is set. A goroutine adds its reports to the history. The function that it
// returns writes to the contender's standard input.
func (h *history) start(t *testing.T, who string, on []string, p plan) (tell func(what byte) error) {
	t.Helper()
	text, err := json.Marshal(p)
	require.NoError(t, err)
	line := append(slices.Clone(on), os.Args[0])
	cmd := exec.Command(line[0], line[1:]...) //nolint:gosec // this very binary
	cmd.Env = append(os.Environ(), contenderEnv+"="+string(text))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h.add(who, lines.Bytes())
		}
		err := cmd.Wait()
		h.gone(who, fmt.Errorf("%w: %s", err, complaints.String()))
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-done
	})
	return func(what byte) error {
		_, err := in.Write([]byte{what})
		return err
	}
}
