package monitoring

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"go.uber.org/goleak"
)

// limit is how long an expected event may take.
const limit = 2 * time.Minute

// folder has the files that are tested; docs describes them.
const (
	folder = "../../monitoring"
	docs   = "../../docs/monitoring.md"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if commandDir != "" {
			_ = os.RemoveAll(commandDir)
		}
		os.Exit(code)
	}))
}

var commandDir string

// built is the command zkrecipes, built once.
var built = sync.OnceValues(func() (path string, err error) {
	if commandDir, err = os.MkdirTemp("", "zkrecipes-monitoring"); err != nil {
		return "", err
	}
	path = filepath.Join(commandDir, "zkrecipes")
	build := exec.Command("go", "build", "-o", path, "../../cmd/zkrecipes")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// tool returns the path of a program of Prometheus.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err, "install it: .ci/install-prometheus")
	return path
}

// promtool runs it, and returns what it prints and whether it succeeded.
func promtool(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(within(t, limit), tool(t, "promtool"), args...).CombinedOutput()
	return string(out), err
}

// start starts a program that ends with the test, or with the tests' own process. It
// returns what the program writes on standard output; stderr is logged if the test
// fails.
func start(t *testing.T, path string, args ...string) io.Reader {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, path, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		cancel()
		_ = command.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(path), &stderr)
		}
	})
	return stdout
}

// within returns a context for one step of a test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// await asks until the answer is good. Nothing notifies of what it is used for. Why it
// is not good yet is in the failure of the test.
func await(t *testing.T, what string, good func() (why string)) {
	t.Helper()
	for ctx := within(t, limit); ; {
		why := good()
		if why == "" {
			return
		}
		select {
		case <-ctx.Done():
			require.Fail(t, "waited in vain for "+what, why)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// get returns the body of a page.
func get(t *testing.T, url string) ([]byte, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(within(t, limit), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	request.Close = true // no idle connection stays
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, answer.Status, body)
	}
	return body, err
}

// connect returns a client that is closed when the test ends.
func connect(t *testing.T, addr string, observers ...framework.Observer) *framework.Client {
	t.Helper()
	client, err := framework.Connect(within(t, limit), framework.Config{
		Servers: []string{addr}, Observers: observers, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
