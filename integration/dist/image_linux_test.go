package dist

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// load loads the image and returns its name.
func load(t *testing.T) string {
	t.Helper()
	docker(t, "load", "--quiet", "--input", built(t, "_image_"+runtime.GOARCH+".tar"))
	return "zkrecipes:" + version(t)
}

// server starts an in-memory server in the image, with a network of its own in which
// the others join. So no port is published.
func server(t *testing.T, image string) (network string) {
	t.Helper()
	container := start(t, "--network", "none", image, "testserver")
	logged(t, container, "127.0.0.1:2181")
	return "container:" + container
}

// lockedIn starts a shell's script under a lock, in an image like a user's own.
func lockedIn(t *testing.T, image, network, text string) (container string) {
	t.Helper()
	container = inDebian(t, image, network, "run", "/locks/x", "--", "bash", "-c", text)
	logged(t, container, "ready")
	return container
}

// inDebian starts zkrecipes under the init in Debian, with the two files of the image.
func inDebian(t *testing.T, image, network string, args ...string) (container string) {
	t.Helper()
	source := create(t, image)
	container = create(t, append([]string{"--network", network, "--entrypoint", "/usr/bin/tini", debian(t), "--", "zkrecipes"}, args...)...)
	into := t.TempDir()
	for _, file := range []string{"tini", "zkrecipes"} {
		docker(t, "cp", source+":/usr/bin/"+file, filepath.Join(into, file))
		docker(t, "cp", filepath.Join(into, file), container+":/usr/bin/"+file)
	}
	docker(t, "start", container)
	return container
}

// free takes the lock at once, which fails if it is held.
func free(t *testing.T, image, network string) {
	t.Helper()
	docker(t, "run", "--rm", "--env", servers, "--network", network, image, "run", "--try", "/locks/x", "--", "zkrecipes", "version")
}

func TestImage(t *testing.T) {
	image := load(t)
	require.True(t, strings.HasPrefix(docker(t, "run", "--rm", "--network", "none", image, "version"), "zkrecipes v"+version(t)+", commit "))
	require.Contains(t, docker(t, "run", "--rm", "--network", "none", image), "usage: zkrecipes")
	config := docker(t, "image", "inspect", "--format", `{{.Architecture}} {{.Config.User}} {{index .Config.Labels "org.opencontainers.image.version"}}`, image)
	require.Equal(t, runtime.GOARCH+" 65532:65532 "+version(t), config)

	network := server(t, image)
	exporter := start(t, "--network", network, "--read-only", image, "exporter", "/locks")
	free(t, image, network)
	getter := start(t, "--network", network, debian(t), "sleep", "infinity")
	require.Eventually(t, func() bool {
		out, _ := exec.Command("docker", "exec", getter, "bash", "-c", // #nosec G204
			`exec 3<>/dev/tcp/127.0.0.1/10141; printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3; cat <&3`).Output()
		return strings.Contains(string(out), "\nzkrecipes_")
	}, limit, tick, "the exporter answers")
	docker(t, "kill", "--signal", "TERM", exporter)
	require.Equal(t, "0", docker(t, "wait", exporter))
}

// A stop of the container reaches the command, and the lock is free when it has ended.
func TestStopOfTheContainerEndsTheCommandAndReleases(t *testing.T) {
	image := load(t)
	network := server(t, image)
	container := lockedIn(t, image, network, `trap 'echo ending; exit 3' TERM; echo ready; while :; do sleep 0.01; done`)
	docker(t, "kill", "--signal", "TERM", container)
	require.Equal(t, "3", docker(t, "wait", container))
	require.Contains(t, docker(t, "logs", container), "ending")
	free(t, image, network)
}

// If zkrecipes is killed in the container, that ends, and no command goes on.
func TestKillOfTheCommandInTheContainerEndsIt(t *testing.T) {
	image := load(t)
	network := server(t, image)
	container := lockedIn(t, image, network, `trap '' TERM; echo ready; while :; do sleep 0.01; done`)
	pid := script(t, container, `grep -lx zkrecipes /proc/[0-9]*/comm 2>/dev/null | cut -d / -f 3 || true`)
	require.Regexp(t, `^\d+$`, pid)
	// The container may end before the kill has, which then ends with it and fails: it is
	// the container that shows whether the kill was sent.
	_ = exec.Command("docker", "exec", container, "bash", "-c", "kill -KILL "+pid).Run() // #nosec G204
	require.Equal(t, "137", docker(t, "wait", container))
}

// Under the init as well, what "docker exec" leaves is reaped.
func TestInitReapsOrphans(t *testing.T) {
	image := load(t)
	container := inDebian(t, image, "none", "testserver")
	logged(t, container, "127.0.0.1:2181")
	script(t, container, `mkfifo /tmp/end; (bash -c 'read </tmp/end' & echo $! >/tmp/orphan); [ -e /proc/$(cat /tmp/orphan) ] && echo >/tmp/end`)
	require.Eventually(t, func() bool {
		return exec.Command("docker", "exec", container, "bash", "-c", `[ ! -e /proc/$(cat /tmp/orphan) ]`).Run() == nil // #nosec G204
	}, limit, tick, "the orphan is reaped")
}
