package release

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a program gets that requires this tree, as the next release would have it: each
// module, examples/quickstart, which runs a server of zktest, and the command.
func TestThisTreeAsAUser(t *testing.T) {
	r := &repository{t: t, dir: t.TempDir()}
	r.git("init", "--quiet", "--initial-branch=main")
	r.copyThisTree()
	modules := r.modulesBelowContrib()
	require.NotEmpty(t, modules)
	const version = "v0.99.0"
	r.git("add", "--all")
	out, code := r.run("set-version", version)
	require.Zero(t, code, out)
	r.commit("Release")
	r.git("tag", version)
	for _, module := range modules {
		r.git("tag", module+"/"+version)
	}
	out, code = r.run("as-user", version)
	require.Zero(t, code, out)
	require.Contains(t, out, "holds the mutex, token")
	require.Contains(t, out, "zkrecipes "+version+", go")
}

// copyThisTree copies the files that git would commit, as they are now.
func (r *repository) copyThisTree() {
	r.t.Helper()
	list := exec.CommandContext(r.t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = "../.."
	names, err := list.Output()
	require.NoError(r.t, err)
	for _, name := range strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		from := "../../" + name
		info, err := os.Stat(from)
		if os.IsNotExist(err) {
			continue // it was removed, and that is not committed yet
		}
		require.NoError(r.t, err)
		text, err := os.ReadFile(from)
		require.NoError(r.t, err)
		to := filepath.Join(r.dir, name)
		require.NoError(r.t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(r.t, os.WriteFile(to, text, info.Mode().Perm()))
	}
}

// modulesBelowContrib are their folders, such as "contrib/cron".
func (r *repository) modulesBelowContrib() []string {
	r.t.Helper()
	files, err := filepath.Glob(r.dir + "/contrib/*/go.mod")
	require.NoError(r.t, err)
	var modules []string
	for _, file := range files {
		modules = append(modules, path.Join("contrib", filepath.Base(filepath.Dir(file))))
	}
	return modules
}
