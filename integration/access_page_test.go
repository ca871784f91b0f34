package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/ensemble"
)

// The commands of docs/access.md make certificates, a server runs with the zoo.cfg of
// the page and these files, and the other commands of the page work with it, in the
// order of the page.
func TestCommandsOfTheAccessPage(t *testing.T) {
	page, _ := readPage(t, "../docs/access.md")
	binary, err := built()
	require.NoError(t, err)
	dir := t.TempDir()
	replaced := strings.NewReplacer()
	out := ""
	var server ensemble.Node
	for _, block := range page.Blocks {
		if block.Info == "ini" {
			server = serverOfThePage(t, dir, block.Text)
			// The page's server has a name, this one only an address.
			replaced = strings.NewReplacer(
				"zk1:2281", server.SecureAddr()+" --tls-server-name zk1",
				"zk1:2181", server.Addr(),
			)
		}
		if block.Info != "sh" {
			continue
		}
		sh := exec.CommandContext(within(t, limit), "sh", "-e", "-c", replaced.Replace(block.Text))
		sh.Dir = dir
		sh.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
		said, err := sh.CombinedOutput()
		require.NoError(t, err, "%s\n%s", block.Text, said)
		out += string(said)
	}
	require.NotNil(t, server, "the page has no zoo.cfg")
	assert.Equal(t, 2, strings.Count(out, "held\n"), "each run of the page")
	assert.Contains(t, out, "/locks/backup is free")
	logged(t, server, "CN=orders,O=shop")
}

// serverOfThePage starts a server with lines of zoo.cfg and the files in dir.
func serverOfThePage(t *testing.T, dir, lines string) ensemble.Node {
	t.Helper()
	for _, name := range []string{"zk1.pem", "ca.pem"} {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o644)) //nolint:gosec // a container's server is another user
	}
	config := map[string]string{}
	for line := range strings.Lines(strings.ReplaceAll(lines, "/etc/zookeeper", dir)) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		require.True(t, ok, line)
		if key != "secureClientPort" { // one that is free
			config[key] = value
		}
	}
	return ensemble.New(t, ensemble.Options{NoSync: true, TLSFolder: dir, Config: config}).Node(0)
}
