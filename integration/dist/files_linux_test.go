package dist

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// folder is where the files are.
const folder = "../../bin/dist"

// servers is where the in-memory server listens, in the network of its container.
const servers = "ZKRECIPES_SERVERS=127.0.0.1:2181"

// limit is how long an expected event may take, and commandLimit a command of the
// container engine, which may have to load an image.
const (
	limit        = time.Minute
	tick         = 50 * time.Millisecond // between two looks
	commandLimit = 3 * time.Minute
)

// built returns the only file of a release with this ending.
func built(t *testing.T, ending string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "zkrecipes_*"+ending))
	require.NoError(t, err)
	require.Len(t, files, 1, "files *%s in bin/dist: run make dist", ending)
	return files[0]
}

// version is the version of the files.
func version(t *testing.T) string {
	t.Helper()
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(built(t, ".cdx.json")), "zkrecipes_"), ".cdx.json")
}

// docker runs a command of the container engine and returns its output, without the
// space around it. It does not wait for ever, so that the containers are removed also
// if one does not end.
func docker(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "docker %s: %s%s", strings.Join(args, " "), &stdout, &stderr)
	return strings.TrimSpace(stdout.String())
}

// debian is an image with dpkg and bash.
func debian(t *testing.T) string {
	t.Helper()
	if image := os.Getenv("ZKRECIPES_DEBIAN"); image != "" {
		return image
	}
	return "debian:bookworm"
}

// create makes a container that is removed after the test, and not yet started.
func create(t *testing.T, args ...string) (container string) {
	t.Helper()
	container = docker(t, append([]string{"create", "--pull", "never", "--env", servers}, args...)...)
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := exec.Command("docker", "logs", container).CombinedOutput() // #nosec G204
			t.Logf("%v wrote:\n%s", args, log)
		}
		docker(t, "rm", "--force", "--volumes", container)
	})
	return container
}

// start makes a container and starts it.
func start(t *testing.T, args ...string) (container string) {
	t.Helper()
	container = create(t, args...)
	docker(t, "start", container)
	return container
}

// script runs a script of bash in a container and returns what it prints.
func script(t *testing.T, container, text string) string {
	t.Helper()
	return docker(t, "exec", container, "bash", "-euo", "pipefail", "-c", text)
}

// logged waits until a container has printed a text.
func logged(t *testing.T, container, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		out, err := exec.Command("docker", "logs", container).CombinedOutput() // #nosec G204
		return err == nil && bytes.Contains(out, []byte(text))
	}, limit, tick, "it prints %q", text)
}
